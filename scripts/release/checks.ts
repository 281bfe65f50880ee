/**
 * Checks that a commit can be released: all changes are committed, the changelog has a dated entry
 * for the version, and all files name the same version of Keelson.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Manifest = {
  readonly name: string
  readonly version: string
  readonly repository: { readonly url: string }
}

export function readManifest(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
}

/**
 * Files that name the version. The first capture group of a pattern is the version. A required
 * pattern must match at least once. Files are paths or globs; missing files are skipped.
 */
const versionPatterns: readonly {
  readonly files: string
  readonly pattern: RegExp
  readonly isRequired: boolean
}[] = [
  { files: 'package-lock.json', pattern: /^\{\n {2}"name": "[^"]+",\n {2}"version": "([^"]+)"/g },
  {
    files: 'package-lock.json',
    pattern: /"packages": \{\n {4}"": \{\n {6}"name": "[^"]+",\n {6}"version": "([^"]+)"/g,
  },
  { files: 'clients/python/pyproject.toml', pattern: /^version = "([^"]+)"/gm },
  { files: 'clients/go/version.go', pattern: /^const Version = "([^"]+)"/gm },
  { files: 'deploy/**/Chart.yaml', pattern: /^(?:version|appVersion): "?([^"\s]+)/gm },
]
  .map((row) => ({ ...row, isRequired: true }))
  .concat(
    ['deploy/**/*.yaml', 'docs/**/*.md', 'examples/**/*.ts', 'README.md'].map((files) => ({
      files,
      // Matches image tags, such as `localhost/keelson:0.1.0`, and tags of the GitHub Action.
      pattern: /\/keelson(?::|@v)(\d[\w.-]*)/g,
      isRequired: false,
    })),
  )

/** Returns the reasons why the commit cannot be released, each with advice. */
export function releaseFaults(root: string): string[] {
  const { version } = readManifest(root)
  return [...workTreeFaults(root), ...changelogFaults(root, version), ...versionFaults(root)]
}

function workTreeFaults(root: string): string[] {
  const changed = git(root, ['status', '--porcelain']).split('\n').slice(0, -1)
  if (changed.length === 0) return []
  const shown = changed.slice(0, 5).map((row) => row.slice(3))
  const others = changed.length > shown.length ? ` and ${changed.length - shown.length} more` : ''
  return [`the work tree has changes: commit or remove ${shown.join(', ')}${others}`]
}

function changelogFaults(root: string, version: string): string[] {
  const section = changelogSection(root, version)
  if (section === undefined)
    return [
      `CHANGELOG.md has no section for ${version}: run node scripts/changelog.ts --release ${version} --date YYYY-MM-DD`,
    ]
  if (!/^\d{4}-\d{2}-\d{2}$/.test(section.date))
    return [
      `CHANGELOG.md has ${version} as "${section.date}": write "## ${version} (YYYY-MM-DD)" with the date of the release`,
    ]
  return []
}

/** Returns the text in parentheses in the heading of a version, and the text below that heading. */
export function changelogSection(
  root: string,
  version: string,
): { readonly date: string; readonly notes: string } | undefined {
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m)
  const section = sections.find((text) => text.split(/\s/, 1)[0] === version)
  if (section === undefined) return undefined
  const end = section.indexOf('\n')
  const date = /\((.*)\)/.exec(section.slice(0, end))?.[1] ?? 'without a date'
  return { date, notes: `${section.slice(end).trim()}\n` }
}

/** Returns a line for each file that names a version other than that in package.json. */
export function versionFaults(root: string): string[] {
  const { version } = readManifest(root)
  return versionPatterns.flatMap(({ files, pattern, isRequired }) =>
    globSync(files, { cwd: root }).flatMap((file) => {
      const versions = [...readFileSync(join(root, file), 'utf8').matchAll(pattern)]
      if (versions.length === 0 && isRequired) return [`${file} does not name a version`]
      const others = new Set(versions.map(([, one = '']) => one).filter((one) => one !== version))
      return [...others].map(
        (other) => `${file} has the version ${other}, but package.json has ${version}`,
      )
    }),
  )
}

/** Writes the version of package.json to all files that name it. Returns the changed files. */
export function setVersion(root: string): string[] {
  const { version } = readManifest(root)
  return versionPatterns.flatMap(({ files, pattern }) =>
    globSync(files, { cwd: root }).filter((file) => {
      const before = readFileSync(join(root, file), 'utf8')
      const after = before.replaceAll(pattern, (match, old: string) => {
        const at = match.lastIndexOf(old)
        return `${match.slice(0, at)}${version}${match.slice(at + old.length)}`
      })
      if (after !== before) writeFileSync(join(root, file), after)
      return after !== before
    }),
  )
}

/**
 * Returns the reasons why a commit cannot be published. The tag is required because `gh` creates
 * the release from it.
 */
export function tagFaults(root: string, version: string): string[] {
  const tags = git(root, ['tag', '--points-at', 'HEAD']).split('\n')
  return tags.includes(`v${version}`)
    ? []
    : [`the commit has no tag v${version}: run git tag v${version}`]
}

export function hasFile(root: string, path: string): boolean {
  return existsSync(join(root, path))
}

function git(root: string, args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' })
}

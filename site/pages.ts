/**
 * Defines which Markdown files of the repository are pages of the site, and where links lead. The
 * same files are read on GitHub, so their links are relative paths of the repository.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'

export const root = join(import.meta.dirname, '..')

export const manifest: {
  readonly version: string
  readonly description: string
  readonly homepage: string
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Address of the repository, which has the files that are not pages. */
export const repository: string = manifest.homepage.replace(/#.*$/, '')

/** Pages outside `docs/`. README.md is the home page. */
const outsideDocs: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
  'CHANGELOG.md': 'changelog.md',
}

/** Patterns of the files that are not pages: VitePress would make a page of each Markdown file. */
export const notPages: readonly string[] = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'docs')
  .map(({ name }) => `${name}/**`)

/**
 * Returns the path of a page on the site, such as `decisions/index.md`. Returns undefined if the
 * file is not a page.
 */
export function pageOf(file: string): string | undefined {
  if (file === 'docs/README.md') return 'chapters.md'
  if (file.startsWith('docs/') && file.endsWith('.md'))
    return file.slice('docs/'.length).replace(/(^|\/)README\.md$/, '$1index.md')
  return Object.hasOwn(outsideDocs, file) ? outsideDocs[file] : undefined
}

/**
 * Returns the link of the site for a link in a file. Links to files that are not pages lead to the
 * repository. A link to a missing file is an error.
 */
export function siteLink(file: string, link: string): string {
  if (/^(?:[a-z]+:|#)/i.test(link)) return link
  const [path = '', anchor] = link.split('#')
  const target = posix.join(posix.dirname(file), decodeURIComponent(path)).replace(/\/$/, '')
  if (!existsSync(join(root, target))) throw new Error(`${file}: ${link} does not exist`)
  const isFolder = statSync(join(root, target)).isDirectory()
  const page = pageOf(isFolder ? posix.join(target, 'README.md') : target)
  const hash = anchor === undefined ? '' : `#${anchor}`
  return page === undefined
    ? `${repository}/${isFolder ? 'tree' : 'blob'}/main/${target}${hash}`
    : `/${page}${hash}`
}

/** Returns the anchor of a heading, formed as on GitHub. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')

/** Reads a file of the repository. */
export const readText = (file: string): string => readFileSync(join(root, file), 'utf8')

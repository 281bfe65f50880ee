/** Tests how a release is prepared, on a copy of the files that the release script reads. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { publishCommands, shellText } from '../../../scripts/release/commands.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const dir = mkdtempSync(join(tmpdir(), 'keelson-release-'))
after(() => rmSync(dir, { recursive: true }))
const copy = join(dir, 'checkout')
const { version }: { readonly version: string } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], {
    cwd: copy,
    encoding: 'utf8',
  })

function replace(file: string, pattern: string | RegExp, by: string): void {
  const text = readFileSync(join(copy, file), 'utf8')
  const replaced = text.replace(pattern, by)
  assert.notEqual(replaced, text, file)
  writeFileSync(join(copy, file), replaced)
}

const release = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(copy, 'scripts', 'release.ts'), ...args],
    { cwd: copy, encoding: 'utf8' },
  )
  return { status, stdout, stderr }
}

before(() => {
  for (const name of [
    '.gitignore',
    'package.json',
    'package-lock.json',
    'CHANGELOG.md',
    'README.md',
    'clients',
    'deploy',
    'docs',
    'scripts',
    'src',
  ])
    cpSync(join(root, name), join(copy, name), { recursive: true })
  replace('CHANGELOG.md', new RegExp(`^## ${version} \\(.*\\)$`, 'm'), `## ${version} (2027-01-31)`)
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'all')
})
beforeEach(() => {
  git('reset', '--quiet', '--hard')
})

test('a dry run writes release notes, digests and artifacts that are quick to build, and prints the publishing commands', () => {
  const { status, stdout, stderr } = release('--dry-run')
  assert.deepEqual([status, stderr], [0, ''])
  const folder = join(copy, '.cache', 'release')
  assert.deepEqual(readdirSync(folder).toSorted(), [
    'SHA256SUMS',
    `keelson-${version}.cdx.json`,
    'release-notes.md',
  ])
  const checked = execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: folder })
  assert.equal(checked.toString(), `keelson-${version}.cdx.json: OK\n`)
  const notes = readFileSync(join(folder, 'release-notes.md'), 'utf8')
  assert.match(notes, /^### Added$/m)
  assert.doesNotMatch(notes, /^## /m)
  assert.match(stdout, new RegExp(`^skipped +\\S*/keelson-${version}\\.tgz$`, 'm'))
  assert.match(stdout, /^ {2}npm publish \S+\.tgz --provenance --access public$/m)
  assert.match(stdout, new RegExp(`^  gh release create v${version} --repo keelson/keelson `, 'm'))
})

test('a release is rejected if there are uncommitted changes', () => {
  writeFileSync(join(copy, 'new-file'), '')
  const { status, stderr } = release('--dry-run')
  rmSync(join(copy, 'new-file'))
  assert.equal(status, 1)
  assert.equal(
    stderr,
    `release: ${version} cannot be released:\nthe work tree has changes: commit or remove new-file\n`,
  )
})

test('a release is rejected if the changelog has no dated entry for the version', () => {
  replace('CHANGELOG.md', '(2027-01-31)', '(not released yet)')
  assert.match(release('--dry-run').stderr, /has .* as "not released yet": write "## .*"/)
  replace('CHANGELOG.md', /^## .*$/m, '## 99.0.0 (2027-01-31)')
  assert.match(release('--dry-run').stderr, /^CHANGELOG\.md has no section for /m)
})

test('a release is rejected if a file names another version', () => {
  replace('package.json', `"version": "${version}"`, '"version": "99.1.0"')
  const { stderr } = release('--dry-run')
  for (const file of ['package-lock.json', 'deploy/kube-apiserver.yaml'])
    assert.ok(
      stderr.includes(`\n${file} has the version ${version}, but package.json has 99.1.0\n`),
      stderr,
    )
})

const setVersion = (...args: string[]) =>
  spawnSync(process.execPath, [join(copy, 'scripts', 'set-version.ts'), ...args], {
    encoding: 'utf8',
  })

test('a script sets the version in all files that name it', () => {
  replace('package.json', `"version": "${version}"`, '"version": "99.1.0"')
  const { status, stderr } = setVersion('--check')
  assert.equal(status, 1)
  for (const file of ['clients/go/version.go', 'clients/python/pyproject.toml']) {
    const fault = `${file} has the version ${version}, but package.json has 99.1.0`
    assert.ok(stderr.includes(`${fault}: run node scripts/set-version.ts\n`), stderr)
  }
  assert.match(setVersion().stdout, /^changed clients\/go\/version\.go$/m)
  assert.deepEqual([setVersion('--check').status, setVersion().stdout], [0, ''])
})

test('only a commit with the tag of the version can be published', () => {
  const { status, stderr } = release('--publish')
  assert.equal(status, 1)
  assert.match(stderr, new RegExp(`the commit has no tag v${version}: run git tag v${version}`))
})

test('a release folder with other files is not overwritten', () => {
  const { status, stderr } = release('--dry-run', 'docs')
  assert.equal(status, 1)
  assert.match(stderr, /docs contains files: choose an empty folder, or use --keep$/m)
})

const publish = (of: string, names: readonly string[]): string[] => {
  const manifest = { name: 'keelson', version: of, repository: { url: 'git@github.com:a/b.git' } }
  const artifacts = names.map((name) => ({
    kind: name.includes('image') ? ('image' as const) : ('package' as const),
    file: `/out/${name}`,
  }))
  return publishCommands({ root, folder: '/out', manifest }, artifacts).map(shellText)
}

test('the images of all architectures are published under one tag', () => {
  const archives = [
    'keelson-1.0.0-image-linux-x64.tar.gz',
    'keelson-1.0.0-image-linux-arm64.tar.gz',
  ]
  const commands = publish('1.0.0', archives)
  assert.ok(
    commands.includes(
      'docker buildx imagetools create --tag ghcr.io/a/b:1.0.0 --tag ghcr.io/a/b:latest ghcr.io/a/b:1.0.0-amd64 ghcr.io/a/b:1.0.0-arm64',
    ),
    commands.join('\n'),
  )
})

test('a prerelease does not become the latest version', () => {
  const commands = publish('1.0.0-rc.1', [
    'keelson-1.0.0-rc.1.tgz',
    'keelson-image-linux-x64.tar.gz',
  ])
  assert.match(commands[0] ?? '', / --tag next$/)
  assert.ok(commands.every((command) => !command.includes('latest')))
  assert.match(commands.at(-1) ?? '', / --prerelease /)
})

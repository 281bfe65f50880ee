/**
 * Tests that all files contain the same address of the repository as `repository` in package.json.
 * The address must not change, because it is also the path of the Go module.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { repositoryOf } from '../../../scripts/release/commands.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const manifest: {
  readonly repository: { readonly url: string }
  readonly homepage: string
  readonly bugs: string
  readonly name: string
} = JSON.parse(read('package.json'))
const repo = repositoryOf(manifest.repository.url)
const [owner = '', name = ''] = repo.split('/')
const address = `https://github.com/${repo}`

test('package.json and the Go module have the same repository address', () => {
  assert.equal(manifest.repository.url, `git+${address}.git`)
  assert.equal(manifest.bugs, `${address}/issues`)
  assert.match(
    read('clients/go/go.mod'),
    new RegExp(`^module github\\.com/${repo}/clients/go$`, 'm'),
  )
})

test('no file contains another address of the repository, its images or its owner', () => {
  const pattern = `(github\\.com[/:]|ghcr\\.io/)[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+`
  const list = ['grep', '-I', '--untracked', '-o', '-E', pattern, '--', '.', ':!*.sum']
  const addresses = execFileSync('git', list, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  })
    .split('\n')
    .map((line) => /^([^:]+):(?:github\.com[/:]|(ghcr\.io)\/)([^/]+)\/(.+)$/.exec(line) ?? [])
    .filter(([, , , of = '', to = '']) => of === owner || to.replace(/\.git$/, '') === name)
    .map(([, file = '', registry, of = '', to = '']) => ({ file, registry, of, to }))
  assert.ok(addresses.some(({ file }) => file === 'package.json'))
  const others = addresses.filter(
    ({ registry, of, to }) =>
      of !== owner ||
      (to.replace(/\.git$/, '') !== name && !(registry !== undefined && to === 'charts')),
  )
  assert.deepEqual(others, [])
})

test('the pages that explain how to report a vulnerability link to the private report form of the repository', () => {
  const form = `${address}/security/advisories/new`
  for (const file of ['SECURITY.md', '.github/ISSUE_TEMPLATE/config.yml'])
    assert.ok(read(file).includes(form), file)
})

test('the systemd unit and CODEOWNERS refer to this repository and its owner', () => {
  const page = `${address}/blob/main/docs/operate.md`
  assert.match(read('deploy/keelson.service'), new RegExp(`^Documentation=${page}$`, 'm'))
  const owners = read('.github/CODEOWNERS').match(/@\S+/g) ?? []
  assert.ok(owners.length > 0)
  for (const one of owners) assert.ok(one.startsWith(`@${owner}/`), one)
})

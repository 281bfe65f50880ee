/**
 * Tests that all files have the same address of the repository: `repository` in package.json. The
 * path of the Go module is the reason that the address is fixed.
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

test('package.json has the address of the Go module', () => {
  assert.equal(manifest.repository.url, `git+${address}.git`)
  assert.equal(manifest.bugs, `${address}/issues`)
  assert.match(
    read('clients/go/go.mod'),
    new RegExp(`^module github\\.com/${repo}/clients/go$`, 'm'),
  )
})

test('no file has another address of the repository, its images or its owner', () => {
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

test('vulnerabilities are reported in the private form of the repository', () => {
  const form = `${address}/security/advisories/new`
  for (const file of ['SECURITY.md', '.github/ISSUE_TEMPLATE/config.yml'])
    assert.ok(read(file).includes(form), file)
})

test('the service and the owners of the code are those of the repository', () => {
  assert.match(read('deploy/keelson.service'), new RegExp(`^Documentation=${address}$`, 'm'))
  const owners = read('.github/CODEOWNERS').match(/@\S+/g) ?? []
  assert.ok(owners.length > 0)
  for (const one of owners) assert.ok(one.startsWith(`@${owner}/`), one)
})

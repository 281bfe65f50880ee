import assert from 'node:assert/strict'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { parseYaml } from '../codec/yaml-parse.ts'
import { addContext, removeContext } from './kubeconfig-merge.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-merge-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const own = (name: string, port: number): Buffer =>
  Buffer.from(`apiVersion: v1
kind: Config
current-context: ${name}
clusters: [{name: ${name}, cluster: {server: 'https://127.0.0.1:${port}'}}]
users: [{name: ${name}-admin, user: {token: t}}]
contexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}-admin}}]
`)

const existing = `apiVersion: v1
kind: Config
preferences: {colors: true}
current-context: work
clusters:
- name: work
  cluster: {server: https://work.example.com, certificate-authority-data: QUJD}
- name: keelson
  cluster: {server: https://127.0.0.1:1}
users:
- name: work
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: get-token, args: ["--port", "0123"], env: null}
contexts:
- name: work
  context: {cluster: work, user: work, namespace: "1e3"}
extensions:
- name: theirs
  extension: {deep: [1, 2.5, "yes"]}
`

const read = (path: string) => JSON.parse(JSON.stringify(parseYaml(readFileSync(path)).value))

test('what others wrote stays, a context of the same name is replaced, and all of it goes again', async () => {
  const path = join(dir, 'config')
  writeFileSync(path, existing, { mode: 0o640 })
  const before = read(path)
  assert.equal(await addContext(path, 'keelson', own('keelson', 7000)), 'work')
  const merged = read(path)
  assert.equal(merged['current-context'], 'keelson')
  assert.deepEqual(merged.clusters, [
    before.clusters[0],
    { name: 'keelson', cluster: { server: 'https://127.0.0.1:7000' } },
  ])
  for (const field of ['preferences', 'extensions', 'apiVersion', 'kind'])
    assert.deepEqual(merged[field], before[field])
  assert.deepEqual(merged.users[0], before.users[0])
  assert.deepEqual(merged.contexts[0], before.contexts[0])
  assert.equal(statSync(path).mode & 0o777, 0o640)
  assert.deepEqual(readdirSync(dir), ['config'])
  await removeContext(path, 'keelson', 'work')
  assert.deepEqual(read(path), { ...before, clusters: [before.clusters[0]] })
})

test('a current context that somebody chose meanwhile stays', async () => {
  const path = join(dir, 'config')
  writeFileSync(path, existing)
  await addContext(path, 'a', own('a', 1))
  await addContext(path, 'b', own('b', 2))
  await removeContext(path, 'a', 'work')
  assert.equal(read(path)['current-context'], 'b')
  assert.deepEqual(
    read(path).contexts.map(({ name }: { name: string }) => name),
    ['work', 'b'],
  )
})

test('without a file there is one afterwards, for this user alone', async () => {
  const path = join(dir, 'sub', 'config')
  assert.equal(await addContext(path, 'keelson', own('keelson', 7000)), '')
  assert.equal(read(path)['current-context'], 'keelson')
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('a link stays a link', async () => {
  const path = join(dir, 'config')
  mkdirSync(join(dir, 'real'))
  writeFileSync(join(dir, 'real', 'file'), existing)
  symlinkSync(join(dir, 'real', 'file'), path)
  await addContext(path, 'keelson', own('keelson', 7000))
  assert.ok(lstatSync(path).isSymbolicLink())
  assert.equal(read(join(dir, 'real', 'file'))['current-context'], 'keelson')
})

for (const [what, text] of Object.entries({
  'is no YAML': 'a: [',
  'is no map': '- a\n',
  'has a key twice': 'kind: Config\nkind: Config\n',
  'has a map where a list must be': 'clusters: {a: b}\n',
})) {
  test(`a file that ${what} is left as it is`, async () => {
    const path = join(dir, 'config')
    writeFileSync(path, text)
    await assert.rejects(
      addContext(path, 'keelson', own('keelson', 7000)),
      /cannot be merged with .* left as it is: mend it, or/,
    )
    assert.equal(readFileSync(path, 'utf8'), text)
    assert.ok(!existsSync(`${path}.lock`))
  })
}

test('two at once both come to be in it', async () => {
  const path = join(dir, 'config')
  writeFileSync(path, existing)
  await Promise.all(['a', 'b', 'c'].map((name, at) => addContext(path, name, own(name, at + 1))))
  const names: string[] = read(path).contexts.map(({ name }: { name: string }) => name)
  assert.deepEqual(names.toSorted(), ['a', 'b', 'c', 'work'])
})

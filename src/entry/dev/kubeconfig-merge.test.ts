import assert from 'node:assert/strict'
import fs, {
  chmodSync,
  chownSync,
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
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { createKubeconfig, type Kubeconfig } from '../../api/kubeconfig.ts'
import { parseYaml } from '../../objects/codec/yaml-parse.ts'
import { type Certificate, createAuthority, issue } from '../../lib/x509/certificates.ts'
import { addContext, removeContext } from './kubeconfig-merge.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-merge-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Returns the kubeconfig of a `keelson dev` server with its own certificates. */
function createOwn(name: string, port: number): Kubeconfig {
  const authority = createAuthority('keelson-dev', Date.now())
  return createKubeconfig({
    url: `https://127.0.0.1:${port}`,
    name,
    certificateAuthority: authority.certificatePem,
    login: { name: `${name}-admin`, certificate: clientOf(authority) },
  })
}

const clientOf = (authority: Certificate): Certificate =>
  issue(authority, { commonName: 'admin', usage: 'client', hosts: [], nowMs: Date.now() })

/** Adds a context to a file that already contains another context. */
async function addOwn(): Promise<{ readonly path: string; readonly own: Kubeconfig }> {
  const path = join(dir, 'config')
  writeFileSync(path, existing)
  const own = createOwn('keelson', 7000)
  await addContext(path, own, '/data')
  return { path, own }
}

/** Returns the same kubeconfig with another port, as after a restart of the server. */
const movedTo = (own: Kubeconfig, port: number): Kubeconfig => ({
  ...own,
  clusters: own.clusters.map(({ name, cluster }) => ({
    name,
    cluster: { ...cluster, server: `https://127.0.0.1:${port}` },
  })),
})

const existing = `apiVersion: v1
kind: Config
preferences: {colors: true}
current-context: work
clusters:
- name: work
  cluster: {server: https://work.example.com, certificate-authority-data: QUJD}
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

type NamedEntry = { readonly name: string }
const namesIn = (list: readonly NamedEntry[]): string[] => list.map(({ name }) => name)

test('a kubeconfig keeps the entries of other programs, and the entries of keelson dev are removed when the server stops', async () => {
  const path = join(dir, 'config')
  writeFileSync(path, existing, { mode: 0o640 })
  const before = read(path)
  const own = createOwn('keelson', 7000)
  await addContext(path, own, '/data')
  const merged = read(path)
  assert.equal(merged['current-context'], 'keelson')
  assert.deepEqual(merged.clusters, [before.clusters[0], ...own.clusters])
  for (const field of ['preferences', 'extensions', 'apiVersion', 'kind'])
    assert.deepEqual(merged[field], before[field])
  assert.deepEqual(merged.users[0], before.users[0])
  assert.deepEqual(merged.contexts[0], before.contexts[0])
  assert.equal(statSync(path).mode & 0o777, 0o640)
  assert.deepEqual(readdirSync(dir), ['config'])
  await removeContext(path, own)
  assert.deepEqual(read(path), before)
})

test('an existing context of keelson dev is replaced, but keeps the namespace that the user chose', async () => {
  const { path, own } = await addOwn()
  const chosen = read(path)
  chosen.contexts[1].context.namespace = 'team'
  writeFileSync(path, JSON.stringify(chosen))
  await addContext(path, movedTo(own, 7001), '/data')
  const merged = read(path)
  assert.deepEqual(namesIn(merged.contexts), ['work', 'keelson'])
  assert.equal(merged.clusters[1].cluster.server, 'https://127.0.0.1:7001')
  assert.equal(merged.contexts[1].context.namespace, 'team')
  await removeContext(path, own)
  assert.equal(read(path)['current-context'], 'work')
})

const theirs = createOwn('work', 1)
for (const [what, taken] of Object.entries({
  cluster: { clusters: [{ name: 'keelson', cluster: { server: 'https://prod.example.com' } }] },
  'cluster of another authority': { clusters: [{ ...theirs.clusters[0], name: 'keelson' }] },
  user: { users: [{ name: 'keelson-admin', user: { token: 'theirs' } }] },
  'user of another authority': { users: [{ ...theirs.users[0], name: 'keelson-admin' }] },
  context: { contexts: [{ name: 'keelson', context: { cluster: 'prod', user: 'prod' } }] },
})) {
  test(`keelson dev does not start if the kubeconfig has a ${what} of another server with the same name, and never removes this entry`, async () => {
    const path = join(dir, 'config')
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...taken })
    writeFileSync(path, text)
    const own = createOwn('keelson', 7000)
    const message =
      /has a (cluster|user|context) "keelson(-admin)?" of another server, and was not changed: choose another name with --context, or/
    await assert.rejects(addContext(path, own, '/data'), message)
    assert.equal(readFileSync(path, 'utf8'), text)
    await removeContext(path, own)
    assert.deepEqual(read(path), JSON.parse(text))
  })
}

test('if another program has replaced an entry of keelson dev in a kubeconfig, the new entry is kept', async () => {
  const { path, own } = await addOwn()
  const changed = read(path)
  changed.clusters[1].cluster = { server: 'https://prod.example.com' }
  writeFileSync(path, JSON.stringify(changed))
  await removeContext(path, own)
  assert.deepEqual(read(path), { ...changed, users: [changed.users[0]] })
})

test('the entries of a server whose certificates no longer exist are replaced', async () => {
  const path = join(dir, 'config')
  const folder = join(dir, 'data')
  writeFileSync(path, existing)
  const old = createOwn('keelson', 7000)
  await addContext(path, old, folder)
  mkdirSync(folder)
  const kept = Buffer.from(old.clusters[0]?.cluster['certificate-authority-data'] ?? '', 'base64')
  writeFileSync(join(folder, 'ca.crt'), kept)
  await assert.rejects(
    addContext(path, createOwn('keelson', 7001), join(dir, 'other')),
    /of another server/,
  )
  const sameFolder = createOwn('keelson', 7002)
  await addContext(path, sameFolder, folder)
  assert.deepEqual(read(path).users.slice(1), sameFolder.users)
  // The certificates in the folder do not match the added context. It therefore belongs to a server
  // that cannot run again, and may be replaced.
  const elsewhere = createOwn('keelson', 7003)
  await addContext(path, elsewhere, join(dir, 'other'))
  assert.deepEqual(read(path).clusters.slice(1), elsewhere.clusters)
  await removeContext(path, elsewhere)
  assert.equal(read(path)['current-context'], 'work')
})

for (const order of [
  ['a', 'b', 'c'],
  ['c', 'b', 'a'],
  ['b', 'a', 'c'],
  ['b', 'c', 'a'],
]) {
  test(`servers that stop in the order ${order.join(', ')} restore the current context from before their start`, async () => {
    const path = join(dir, 'config')
    writeFileSync(path, existing)
    const before = read(path)
    const all = new Map(['a', 'b', 'c'].map((name, at) => [name, createOwn(name, at + 1)]))
    for (const [name, own] of all) await addContext(path, own, `/${name}`)
    for (const name of order) {
      const own = all.get(name)
      assert.ok(own)
      await removeContext(path, own)
      const { contexts, 'current-context': current } = read(path)
      assert.ok(namesIn(contexts).includes(current), current)
    }
    assert.deepEqual(read(path), before)
  })
}

test('a current context that the user has chosen in the meantime is kept', async () => {
  const { path, own } = await addOwn()
  writeFileSync(path, JSON.stringify({ ...read(path), 'current-context': 'work' }))
  await removeContext(path, own)
  assert.equal(read(path)['current-context'], 'work')
})

test('if no context was current before the server started, none is current after the server stops', async () => {
  for (const gone of [false, true]) {
    const path = join(dir, `config-${gone}`)
    writeFileSync(path, gone ? existing : existing.replace('current-context: work\n', ''))
    const own = createOwn('keelson', 1)
    await addContext(path, own, '/data')
    // While the server runs, the context that was current before is removed.
    if (gone)
      writeFileSync(path, JSON.stringify({ ...read(path), contexts: read(path).contexts.slice(1) }))
    await removeContext(path, own)
    assert.ok(!('current-context' in read(path)), readFileSync(path, 'utf8'))
  }
})

test('characters in a kubeconfig that some parsers treat as line breaks are preserved', async () => {
  const path = join(dir, 'config')
  const odd = [
    'a\u0085b',
    'a \u0085 b',
    'a\u2028b\nc',
    '\u2029',
    'a\r\nb',
    'tab\t',
    '\u{1f600}',
    '\ufeffx',
    ' x ',
    '',
  ]
  const preferences = Object.fromEntries(odd.map((text) => [`key ${text}`, text]))
  writeFileSync(path, JSON.stringify({ preferences }))
  const own = createOwn('keelson', 1)
  await addContext(path, own, '/data')
  assert.deepEqual(read(path).preferences, preferences)
  assert.doesNotMatch(readFileSync(path, 'utf8'), /[\u0085\u2028\u2029]/)
})

test('a missing kubeconfig is created with access for this user only', async () => {
  const path = join(dir, 'sub', 'config')
  await addContext(path, createOwn('keelson', 7000), '/data')
  assert.equal(read(path)['current-context'], 'keelson')
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('a kubeconfig without entries of keelson dev is not written when the server stops, and a missing kubeconfig is not created', async () => {
  const path = join(dir, 'config')
  const own = createOwn('keelson', 7000)
  await removeContext(path, own)
  assert.ok(!existsSync(path))
  const text = `# mine\n${existing}`
  writeFileSync(path, text)
  await removeContext(path, own)
  assert.equal(readFileSync(path, 'utf8'), text)
})

test('the entries of a server whose folder cannot be read are not replaced', async () => {
  const path = join(dir, 'config')
  const file = join(dir, 'no-folder')
  writeFileSync(file, '')
  await addContext(path, createOwn('keelson', 7000), file)
  await assert.rejects(
    addContext(path, createOwn('keelson', 7001), join(dir, 'other')),
    /of another server/,
  )
})

/** The ID of the user `nobody` on Debian and other systems. */
const OTHER_ID = 65_534

test('a kubeconfig that belongs to another user keeps its owner', {
  skip: process.getuid?.() !== 0,
}, async () => {
  const path = join(dir, 'config')
  writeFileSync(path, existing, { mode: 0o640 })
  chownSync(path, OTHER_ID, OTHER_ID)
  await addContext(path, createOwn('keelson', 7000), '/data')
  const { uid, gid, mode } = statSync(path)
  assert.deepEqual([uid, gid, mode & 0o777], [OTHER_ID, OTHER_ID, 0o640])
})

test('a kubeconfig file keeps its group; if the group cannot be kept, the file permissions of the group are removed', {
  skip: process.getuid?.() !== 0,
}, async (t) => {
  const path = join(dir, 'config')
  writeFileSync(path, existing, { mode: 0o640 })
  chownSync(path, 0, OTHER_ID)
  await addContext(path, createOwn('keelson', 7000), '/data')
  const kept = statSync(path)
  assert.deepEqual([kept.gid, kept.mode & 0o777], [OTHER_ID, 0o640])
  // With EPERM, the user is not in the group of the file. With EINVAL, a container does not know
  // the group.
  for (const code of ['EPERM', 'EINVAL']) {
    chownSync(path, 0, OTHER_ID)
    chmodSync(path, 0o640)
    t.mock.method(fs, 'fchownSync', () => {
      throw Object.assign(new Error(`${code}: fchown`), { code })
    })
    syncBuiltinESMExports()
    try {
      await addContext(path, createOwn('keelson', 7001), '/data')
      const { gid, mode } = statSync(path)
      assert.deepEqual([gid, mode & 0o777], [0, 0o600])
      chownSync(path, OTHER_ID, OTHER_ID)
      await assert.rejects(
        addContext(path, createOwn('keelson', 7002), '/data'),
        /belongs to another user/,
      )
      assert.equal(statSync(path).uid, OTHER_ID)
    } finally {
      t.mock.restoreAll()
      syncBuiltinESMExports()
    }
  }
})

test('a link at the path of the temporary file is replaced, and the target of the link is not written to', async () => {
  const path = join(dir, 'config')
  const other = join(dir, 'other')
  writeFileSync(path, existing)
  writeFileSync(other, 'mine', { mode: 0o600 })
  symlinkSync(other, `${path}.keelson-${process.pid}`)
  await addContext(path, createOwn('keelson', 7000), '/data')
  assert.equal(readFileSync(other, 'utf8'), 'mine')
  assert.ok(lstatSync(path).isFile())
})

test('a symbolic link to a kubeconfig is preserved', async () => {
  const path = join(dir, 'config')
  mkdirSync(join(dir, 'real'))
  writeFileSync(join(dir, 'real', 'file'), existing)
  symlinkSync(join(dir, 'real', 'file'), path)
  await addContext(path, createOwn('keelson', 7000), '/data')
  assert.ok(lstatSync(path).isSymbolicLink())
  assert.equal(read(join(dir, 'real', 'file'))['current-context'], 'keelson')
})

for (const [what, text] of Object.entries({
  'is not YAML': 'a: [',
  'is not a map': '- a\n',
  'has a key twice': 'kind: Config\nkind: Config\n',
  'has a map in place of a list': 'clusters: {a: b}\n',
})) {
  test(`a kubeconfig that ${what} is not changed`, async () => {
    const path = join(dir, 'config')
    writeFileSync(path, text)
    await assert.rejects(
      addContext(path, createOwn('keelson', 7000), '/data'),
      /cannot be merged with .* not changed: repair it, or/,
    )
    assert.equal(readFileSync(path, 'utf8'), text)
    assert.ok(!existsSync(`${path}.lock`))
  })
}

test('concurrent changes of one kubeconfig all take effect', async () => {
  const path = join(dir, 'config')
  writeFileSync(path, existing)
  await Promise.all(
    ['a', 'b', 'c'].map((name, at) => addContext(path, createOwn(name, at + 1), `/${name}`)),
  )
  const names: string[] = read(path).contexts.map(({ name }: { name: string }) => name)
  assert.deepEqual(names.toSorted(), ['a', 'b', 'c', 'work'])
})

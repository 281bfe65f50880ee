import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { lockFolder } from '../../storage/sqlite/folder-lock.ts'
import {
  fillDataFolder,
  forgetObjects,
  hasEtcdData,
  openDataFolder,
  reachableHost,
  writeKubeconfig,
} from './data-folder.ts'
import { claimFolder } from './leftovers.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-folder-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const made = (path: string, bindAddress = '127.0.0.1') => {
  const folder = openDataFolder(path)
  fillDataFolder(folder, { bindAddress, nowMs: Date.now() })
  return folder
}

const put = (...path: readonly string[]): void => {
  const file = join(dir, ...path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, 'theirs')
}

test('a folder with other files is rejected, and nothing is written to it', () => {
  put('store', 'shop.ts')
  put('package.json')
  assert.throws(
    () => openDataFolder(dir),
    /is not a folder of keelson dev \(it contains .*\): use an empty folder, or/,
  )
  assert.deepEqual(readdirSync(dir).toSorted(), ['package.json', 'store'])
})

test('a folder that is empty or has only a placeholder file is accepted, at the first start and later', () => {
  put('.gitkeep')
  made(dir)
  assert.ok(existsSync(join(made(dir).path, 'ca.crt')))
})

test('a data folder is accepted if the previous start created only the lock in it', async () => {
  {
    using _ = await claimFolder(openDataFolder(dir))
    assert.ok(!existsSync(join(dir, 'ca.crt')), 'only the owner of the lock creates certificates')
  }
  made(dir)
})

test('a folder into which a store was imported is accepted', () => {
  put('store', 'keelson.sqlite')
  made(dir)
})

for (const [name, ours] of [
  ['store', ['keelson.sqlite']],
  ['etcd', ['member', 'snap']],
] as const) {
  test(`--reset removes the folder ${name} if it contains only a store, and otherwise changes nothing`, () => {
    const folder = made(dir)
    put(name, 'shop.ts')
    assert.throws(
      () => forgetObjects(folder),
      /--reset: .* contains other files than objects of keelson dev/,
    )
    assert.ok(existsSync(join(dir, name, 'shop.ts')))
    rmSync(join(dir, name, 'shop.ts'))
    forgetObjects(folder)
    put(name, ...ours)
    forgetObjects(folder)
    assert.ok(!existsSync(join(dir, name)))
    assert.ok(existsSync(join(dir, 'ca.crt')))
  })
}

test('--reset deletes no data if the folder of etcd contains files that etcd did not create', () => {
  const folder = made(dir)
  put('store', 'keelson.sqlite')
  put('etcd', 'notes.md')
  assert.throws(() => forgetObjects(folder), /--reset/)
  assert.ok(existsSync(join(dir, 'store', 'keelson.sqlite')))
})

test('a folder named etcd counts as etcd data only if etcd has run there', () => {
  const folder = made(dir)
  put('etcd', 'notes.md')
  assert.ok(!hasEtcdData(folder))
  put('etcd', 'member', 'wal')
  assert.ok(hasEtcdData(folder))
})

const certificateIn = (name: string) => new X509Certificate(readFileSync(join(dir, name)))

test('the server certificate is kept while it names the address that the server listens on', () => {
  made(dir)
  const first = certificateIn('server.crt')
  made(dir)
  assert.equal(certificateIn('server.crt').serialNumber, first.serialNumber)
  made(dir, '198.51.100.7')
  const other = certificateIn('server.crt')
  assert.equal(other.checkIP('198.51.100.7'), '198.51.100.7')
  assert.ok(other.verify(certificateIn('ca.crt').publicKey))
  assert.equal(reachableHost('198.51.100.7'), '198.51.100.7')
  assert.equal(reachableHost('::'), '127.0.0.1')
})

test('a key or certificate that is empty after a crash is created again, and so are the certificates that depend on it', () => {
  const folder = made(dir)
  const served = { serverUrl: 'https://127.0.0.1:6443', context: 'c', nowMs: Date.now() }
  writeKubeconfig(folder, served)
  for (const name of ['server.crt', 'admin.key', 'sa.key', 'ca.crt']) {
    writeFileSync(join(dir, name), '')
    writeKubeconfig(made(dir), served)
    assert.match(readFileSync(join(dir, name), 'utf8'), /-----BEGIN/, name)
    for (const issued of ['server.crt', 'admin.crt'])
      assert.ok(
        certificateIn(issued).verify(certificateIn('ca.crt').publicKey),
        `${issued} after ${name}`,
      )
  }
})

test('a certificate whose key file belongs to another certificate is created again, with a new key', () => {
  const served = { serverUrl: 'https://127.0.0.1:6443', context: 'c', nowMs: Date.now() }
  writeKubeconfig(made(dir), served)
  for (const [name, other] of [
    ['server', 'admin'],
    ['admin', 'server'],
  ]) {
    writeFileSync(join(dir, `${name}.key`), readFileSync(join(dir, `${other}.key`)))
    writeKubeconfig(made(dir), served)
    const key = createPrivateKey(readFileSync(join(dir, `${name}.key`)))
    assert.ok(certificateIn(`${name}.crt`).checkPrivateKey(key), name)
  }
})

test('--reset does not delete a store that another process uses', () => {
  const folder = made(dir)
  put('store', 'keelson.sqlite')
  {
    using _ = lockFolder(folder.store)
    assert.throws(() => forgetObjects(folder), /store is in use by process \d+/)
    assert.ok(existsSync(join(folder.store, 'keelson.sqlite')))
  }
  forgetObjects(folder)
  assert.ok(!existsSync(folder.store))
})

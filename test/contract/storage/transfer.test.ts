/**
 * Tests exports and imports of stores without a server. `test/integration/store-transfer.test.ts`
 * moves a whole cluster.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fs, {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { moveStore } from '../../../src/entry/commands/move-store.ts'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { systemClock } from '../../../src/lib/time/clock.ts'
import type { Engine } from '../../../src/storage/engine.ts'
import { importMarker } from '../../../src/storage/keys.ts'
import { openEngine } from '../../../src/storage/open-engine.ts'
import { SqliteEngine } from '../../../src/storage/sqlite/sqlite-engine.ts'
import { Digest } from '../../../src/storage/transfer/entry.ts'
import { startEtcd } from '../../support/harness/etcd.ts'

const root = mkdtempSync(join(tmpdir(), 'keelson-move-'))
after(() => rmSync(root, { recursive: true }))
const at = (name: string): string => join(root, name)

const run = (...args: readonly string[]): Promise<string> =>
  moveStore(args, { nowMs: Date.now(), showProgress: null })

/** Creates a store with some keys, and writes the last key `revisions` more times. */
async function fill(folder: string, keys: number, revisions = 0): Promise<number> {
  await using engine = await SqliteEngine.open({ folder, isDurable: false })
  let revision = 0
  for (let n = 0; n < keys; n++) {
    const put = Buffer.from(`value ${n}`)
    ;({ revision } = await engine.change({ key: `/registry/x/${n}`, expected: 0, write: { put } }))
  }
  for (let n = 0; n < revisions; n++) {
    const write = { put: Buffer.from(`${n}`) }
    ;({ revision } = await engine.change({
      key: `/registry/x/${keys - 1}`,
      expected: revision,
      write,
    }))
  }
  return revision
}

const stateOf = async (folder: string): Promise<{ revision: number; keys: number }> => {
  await using engine = await SqliteEngine.open({ folder })
  const { count } = await engine.range({ from: '/registry/', to: '/registry0' })
  return { revision: await engine.latest(), keys: count }
}

test('if an import replaces a data folder, revisions do not decrease, and the old database file is kept', async () => {
  await fill(at('small'), 3)
  await run('export', `--data-dir=${at('small')}`, `--file=${at('small.dump')}`)
  const newest = await fill(at('large'), 5, 50)
  await assert.rejects(
    run('import', `--data-dir=${at('large')}`, `--file=${at('small.dump')}`),
    /is not empty/,
  )
  await run(
    'import',
    `--data-dir=${at('large')}`,
    `--file=${at('small.dump')}`,
    '--replace',
    '--revisions-ahead=7',
  )
  assert.deepEqual(await stateOf(at('large')), { revision: newest + 1 + 7, keys: 3 })
  const kept = readdirSync(at('large')).filter((name) => name.includes('.replaced-'))
  assert.equal(kept.length, 1)
  using old = new DatabaseSync(join(at('large'), kept[0] ?? ''))
  assert.equal(old.prepare('SELECT count(*) AS n FROM current').get()?.['n'], 5)
  for (const name of readdirSync(at('large'))) {
    assert.equal(
      statSync(join(at('large'), name)).mode & 0o077,
      0,
      `only the owner may access ${name}`,
    )
  }
})

/**
 * Opens an event feed after a revision, and returns its first report. The report is `compacted` if
 * the history after this revision is compacted, and otherwise `progress`.
 */
async function firstOf(engine: Engine, revision: number): Promise<'compacted' | 'progress'> {
  const { promise, resolve } = Promise.withResolvers<'compacted' | 'progress'>()
  const stream = engine.openFeed([{ from: '/registry/', to: '/registry0', after: revision }], {
    onEvents: () => undefined,
    onProgress: () => resolve('progress'),
    onCompacted: () => resolve('compacted'),
    onEnd: () => undefined,
  })
  // Request progress repeatedly, because a request has no effect while the stream is being opened.
  const asking = setInterval(() => stream.requestProgress(), 20)
  const first = await promise
  clearInterval(asking)
  stream.close()
  return first
}

test('a watch cannot continue after its history was replaced by an import, even if --revisions-ahead is small', async () => {
  await fill(at('seen'), 5, 20)
  // The export is older than the store that it replaces. Watches of clients have reached the latest
  // revision of this store.
  const importing = [`--file=${at('small.dump')}`, '--replace', '--revisions-ahead=0']
  const { revision: seen } = await stateOf(at('seen'))
  await run('import', `--data-dir=${at('seen')}`, ...importing)
  await using folder = await SqliteEngine.open({ folder: at('seen') })
  assert.equal(await firstOf(folder, seen), 'compacted')
  await assert.rejects(folder.range({ from: '/registry/', to: '/registry0', revision: seen }), {
    code: 'compacted',
  })
  assert.equal(await firstOf(folder, await folder.latest()), 'progress')

  await using etcd = await startEtcd()
  await using client = new EtcdClient({ endpoints: [etcd.clientUrl] })
  for (let n = 0; n < 20; n++)
    await client.kv.put({ key: Buffer.from('/registry/mine'), value: Buffer.from(`${n}`) })
  const { revision: seenInEtcd } = await client.kv.head(Buffer.from('/registry/'))
  await run('import', `--etcd-servers=${etcd.clientUrl}`, ...importing)
  const store = { kind: 'etcd', servers: [etcd.clientUrl], tls: null } as const
  const { engine } = await openEngine(
    { store, compactionMs: 0 },
    { clock: systemClock, log: () => undefined },
  )
  await using opened = engine
  assert.equal(await firstOf(opened, seenInEtcd), 'compacted')
})

test('an import does not replace a data folder that another program reads', async () => {
  await fill(at('read'), 3)
  using other = new DatabaseSync(join(at('read'), 'keelson.sqlite'))
  other.exec('BEGIN')
  other.prepare('SELECT count(*) FROM current').get()
  using writer = new DatabaseSync(join(at('read'), 'keelson.sqlite'))
  writer.exec("INSERT INTO meta VALUES ('x', 1)")
  const importing = run(
    'import',
    `--data-dir=${at('read')}`,
    `--file=${at('small.dump')}`,
    '--replace',
  )
  await assert.rejects(importing, /is being read by another program|locked/)
})

test('an import rejects a dump with lines, revisions or hashes that an export never writes', async () => {
  const text = readFileSync(at('small.dump'), 'utf8')
  const [head = '', ...rest] = text.split('\n')
  const cases: [string, RegExp][] = [
    [
      text.replace('"revision":2,"created":2', '"revision":3,"created":2'),
      /lines do not match its hash/,
    ],
    [
      text.replace('"revision":2,"created":2', '"revision":2,"created":0'),
      /a key has impossible revisions/,
    ],
    [[head, text].join('\n'), /does not begin/],
    [text + text, /there is data after its end/],
    [rest.join('\n'), /does not begin/],
    [`${head}\n{"key":"/registry/x/0","value":"secret`, /cut off/],
    [`${head}\n{"key":"/registry/x/0","value":secret}\n`, /line 2: it is not JSON$/],
  ]
  for (const [content, message] of cases) {
    writeFileSync(at('bad'), content)
    await assert.rejects(run('import', `--data-dir=${at('none')}`, `--file=${at('bad')}`), message)
  }
  const far = [
    'import',
    `--data-dir=${at('none')}`,
    `--file=${at('small.dump')}`,
    `--revisions-ahead=${2 ** 43}`,
  ]
  await assert.rejects(run(...far), /too large for a data folder/)
})

/** Creates a dump with correct hashes, as another program could write it. */
function printDump(head: object, lines: readonly object[]): string {
  const digest = new Digest()
  for (const line of lines) if ('key' in line) digest.add(String(line.key), Buffer.from('v'))
  const whole = { keelson: 'store', format: 1, prefix: '/registry/', revision: 10, ...head }
  const before = [whole, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
  const end = { ...digest.end(), lines: createHash('sha256').update(before).digest('hex') }
  return `${before}${JSON.stringify({ end })}\n`
}

test('an import rejects a dump that no store could contain before anything is stored', async () => {
  const key = { key: '/registry/x/a', revision: 5, created: 5, value: 'v' }
  const leased = (ttl: number, left: number) => [
    { lease: '1', ttl, left },
    { ...key, lease: '1' },
  ]
  const cases: [string, RegExp][] = [
    // If this lease were stored, the folder could not be opened again.
    [printDump({}, leased(1e13, 1e13)), /line 2: ttl is longer than any lease of etcd/],
    [printDump({}, leased(1, 1e13)), /line 2: left is longer than any lease of etcd/],
    [printDump({ prefix: '' }, [key]), /line 1: prefix must begin and end/],
    // If this prefix were accepted, --replace would remove the keys of other programs.
    [printDump({ prefix: '/reg' }, [key]), /line 1: prefix must begin and end/],
  ]
  for (const [content, message] of cases) {
    writeFileSync(at('odd'), content)
    await assert.rejects(run('import', `--data-dir=${at('none')}`, `--file=${at('odd')}`), message)
  }
  writeFileSync(at('long'), printDump({}, leased(9e9, 9e9)))
  await run('import', `--data-dir=${at('long')}.store`, `--file=${at('long')}`)
  assert.equal((await stateOf(`${at('long')}.store`)).keys, 1)
})

test('an export does not overwrite an existing file, and does not leave a partial file', async () => {
  writeFileSync(at('taken'), 'mine')
  await assert.rejects(
    run('export', `--data-dir=${at('small')}`, `--file=${at('taken')}`),
    /already exists/,
  )
  assert.equal(readFileSync(at('taken'), 'utf8'), 'mine')
  assert.equal(statSync(at('small.dump')).mode & 0o777, 0o600)
  assert.deepEqual(
    readdirSync(root).filter((name) => name.includes('partial')),
    [],
  )
})

/**
 * Makes hard links fail, as on a file system without hard links, such as exFAT. Calls `act` before
 * each failure.
 */
function refuseLinks(t: TestContext, act: () => void = () => undefined): void {
  t.mock.method(fs, 'linkSync', () => {
    act()
    throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' })
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}

test('an export works on a file system without hard links', async (t) => {
  refuseLinks(t)
  await run('export', `--data-dir=${at('small')}`, `--file=${at('unlinked.dump')}`)
  assert.equal(statSync(at('unlinked.dump')).mode & 0o777, 0o600)
  await run('import', `--data-dir=${at('unlinked')}`, `--file=${at('unlinked.dump')}`)
  assert.equal((await stateOf(at('unlinked'))).keys, 3)
  assert.deepEqual(
    readdirSync(root).filter((name) => name.includes('partial')),
    [],
  )
})

test('without hard links, an export does not replace a file that appeared in the meantime', async (t) => {
  refuseLinks(t, () => writeFileSync(at('late'), 'mine'))
  await assert.rejects(run('export', `--data-dir=${at('small')}`, `--file=${at('late')}`), /EEXIST/)
  assert.equal(readFileSync(at('late'), 'utf8'), 'mine')
  assert.deepEqual(
    readdirSync(root).filter((name) => name.includes('partial')),
    [],
  )
})

test('without hard links, an import that replaces a data folder keeps the old file', async (t) => {
  refuseLinks(t)
  await fill(at('replaced'), 5)
  await run('import', `--data-dir=${at('replaced')}`, `--file=${at('small.dump')}`, '--replace')
  assert.equal((await stateOf(at('replaced'))).keys, 3)
  const [kept = ''] = readdirSync(at('replaced')).filter((name) => name.includes('.replaced-'))
  assert.equal(statSync(join(at('replaced'), kept)).mode & 0o777, 0o600)
  using old = new DatabaseSync(join(at('replaced'), kept))
  assert.equal(old.prepare('SELECT count(*) AS n FROM current').get()?.['n'], 5)
})

test('the error of an export names the file or folder that is not a store', async () => {
  const exporting = (folder: string): Promise<string> =>
    run('export', `--data-dir=${folder}`, `--file=${at('new')}`)
  mkdirSync(join(at('dev'), 'store'), { recursive: true })
  const file = join(at('dev'), 'store', 'keelson.sqlite')
  writeFileSync(file, 'something else, and long enough for a header of SQLite'.repeat(20))
  await assert.rejects(exporting(join(at('dev'), 'store')), (error: Error) =>
    error.message.startsWith(`${file} cannot be read (`),
  )
  await assert.rejects(exporting(at('dev')), (error: Error) =>
    error.message.endsWith(`there is no store in ${at('dev')}, but in ${join(at('dev'), 'store')}`),
  )
})

test('an import into etcd that cannot succeed deletes nothing, and an interrupted import can be run again', async () => {
  await using etcd = await startEtcd()
  await using client = new EtcdClient({ endpoints: [etcd.clientUrl] })
  const servers = `--etcd-servers=${etcd.clientUrl}`
  const [mine, marker] = [Buffer.from('/registry/mine'), Buffer.from(importMarker)]
  await client.kv.put({ key: mine, value: Buffer.from('x') })
  const importing = ['import', servers, `--file=${at('small.dump')}`, '--replace']
  await assert.rejects(run(...importing, '--revisions-ahead=9000000000'), /bump-revision/)
  assert.equal((await client.kv.range({ key: mine, countOnly: true })).count, 1)
  assert.equal((await client.kv.range({ key: marker, countOnly: true })).count, 0)

  // Create the state that remains if an import is killed after its first step.
  const sha256 = /"sha256":"(\w+)"/.exec(readFileSync(at('small.dump'), 'utf8'))?.[1] ?? ''
  await client.kv.deleteRange({ key: mine })
  await client.kv.put({ key: marker, value: Buffer.from(sha256) })
  await client.kv.put({ key: Buffer.from('/registry/x/0'), value: Buffer.from('value 0') })
  const store = { kind: 'etcd', servers: [etcd.clientUrl], tls: null } as const
  const opening = openEngine(
    { store, compactionMs: 0 },
    { clock: systemClock, log: () => undefined },
  )
  await assert.rejects(opening, /an import into this etcd is incomplete/)
  await run('import', servers, `--file=${at('small.dump')}`, '--revisions-ahead=100')
  const { count, revision } = await client.kv.range({
    key: Buffer.from('/registry/'),
    rangeEnd: Buffer.from('/registry0'),
  })
  assert.equal(count, 3)
  assert.ok(revision > 100)
  await using opened = (
    await openEngine({ store, compactionMs: 0 }, { clock: systemClock, log: () => undefined })
  ).engine
  assert.equal((await opened.range({ from: '/registry/', to: '/registry0' })).count, 3)
})

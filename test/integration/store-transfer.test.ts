/**
 * Moves a cluster with objects of every kind from etcd to a file, a folder, a file and back. The
 * hash and the listed objects must stay the same.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import {
  createSet,
  customServed,
  type Fields,
  listAll,
  type ObjectsByKey,
} from '../clients/every-kind.ts'
import { isRecord } from '../recorded/compat/json.ts'
import { startEtcd } from '../support/harness/etcd.ts'
import { keelsonProgram, startKeelson } from '../support/harness/keelson.ts'
import { SoakClient } from '../chaos/soak/client.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'keelson-transfer-'))
after(() => rmSync(folder, { recursive: true }))
const at = (name: string): string => join(folder, name)

const set = { name: 'moved', number: 7 }
const EVENT_TTL_SECONDS = 3600

/** Runs `keelson store`. Returns the numbers and the hash that it prints. */
async function store(
  ...args: readonly string[]
): Promise<{ keys: number; revision: number; sha256: string }> {
  const { stdout } = await run(keelsonProgram, ['store', ...args])
  const [, keys = '', revision = '', sha256 = ''] =
    /(\d+) keys.* revision (\d+)[^\n]*\nsha256 (\w+)/.exec(stdout) ?? []
  return { keys: Number(keys), revision: Number(revision), sha256 }
}

const fails = async (message: RegExp, ...args: readonly string[]): Promise<void> =>
  assert.rejects(store(...args), (error: unknown) => {
    assert.ok(error instanceof Error && 'stderr' in error && 'code' in error)
    assert.match(String(error.stderr), message)
    return true
  })

type StoreContents = { readonly listed: ObjectsByKey; readonly revision: number }

async function during(
  options: Parameters<typeof startKeelson>[0],
  act?: (client: SoakClient) => Promise<void>,
): Promise<StoreContents> {
  await using server = await startKeelson(options)
  using client = new SoakClient(server.url)
  await act?.(client)
  await customServed(client, set)
  const { body } = await client.call('GET', '/api/v1/namespaces')
  const metadata = isRecord(body) && isRecord(body['metadata']) ? body['metadata'] : {}
  return { listed: await listAll(client), revision: Number(metadata['resourceVersion']) }
}

/** Whether the object is rewritten by every server, so that it cannot be compared. */
const isOfServer = (place: string): boolean => /\/leases |\/componentstatuses /.test(place)

const versionOf = ({ metadata }: Fields): number =>
  isRecord(metadata) ? Number(metadata['resourceVersion'] ?? 0) : 0

function withoutVersion(object: Fields | undefined): unknown {
  if (object === undefined || !isRecord(object['metadata'])) return object
  const { resourceVersion: _, ...metadata } = object['metadata']
  return { ...object, metadata }
}

function compare(before: ObjectsByKey, now: ObjectsByKey): void {
  for (const [place, object] of before) {
    if (!isOfServer(place))
      assert.deepEqual(withoutVersion(now.get(place)), withoutVersion(object), place)
  }
}

test('the data of a cluster can move from etcd to a file, a data folder, another file and back to etcd', async () => {
  await using etcd = await startEtcd()
  await using other = await startEtcd()
  const first = await during({ etcdUrl: etcd.clientUrl }, async (client) => {
    assert.deepEqual(await createSet(client, set), [])
    const event = {
      metadata: { name: 'seen', namespace: set.name },
      involvedObject: { namespace: set.name },
      reason: 'Moved',
    }
    assert.equal(
      (await client.call('POST', `/api/v1/namespaces/${set.name}/events`, event)).status,
      201,
    )
  })
  const exported = await store('export', `--etcd-servers=${etcd.clientUrl}`, `--file=${at('a')}`)
  assert.ok(exported.keys > first.listed.size / 2)
  assert.equal(statSync(at('a')).mode & 0o777, 0o600)
  const left = /"lease":"\d+","ttl":\d+,"left":(\d+)/.exec(readFileSync(at('a'), 'utf8'))?.[1]
  assert.ok(Number(left) > EVENT_TTL_SECONDS / 2, 'events keep the time that they have left')

  await store('import', `--data-dir=${at('store')}`, `--file=${at('a')}`)
  const back = await store('export', `--data-dir=${at('store')}`, `--file=${at('b')}`)
  assert.deepEqual([back.keys, back.sha256], [exported.keys, exported.sha256])
  const inFolder = { etcdUrl: '', omit: ['etcd-servers'], args: [`--data-dir=${at('store')}`] }
  // While a server uses the folder, its contents can be exported, but imports into the folder must
  // fail.
  const second = await during(inFolder, async () => {
    const running = await store('export', `--data-dir=${at('store')}`, `--file=${at('running')}`)
    assert.ok(running.keys >= exported.keys)
    await fails(
      /is in use by process \d+/,
      'import',
      `--data-dir=${at('store')}`,
      `--file=${at('b')}`,
      '--replace',
    )
  })
  compare(first.listed, second.listed)
  for (const [place, object] of first.listed) {
    if (isOfServer(place)) continue
    const now = second.listed.get(place)
    assert.ok(
      now !== undefined && versionOf(now) === versionOf(object),
      `${place} keeps its resourceVersion`,
    )
  }
  assert.ok(second.revision > exported.revision, 'revisions continue after those of the source')

  await fails(/is not empty/, 'import', `--data-dir=${at('store')}`, `--file=${at('b')}`)
  const raised = await store(
    'import',
    `--etcd-servers=${other.clientUrl}`,
    `--file=${at('b')}`,
    '--revisions-ahead=10',
  )
  assert.equal(raised.sha256, exported.sha256)
  const third = await during({ etcdUrl: other.clientUrl })
  compare(first.listed, third.listed)
  assert.ok(
    [...third.listed.values()].every(
      (object) => versionOf(object) === 0 || versionOf(object) > back.revision,
    ),
  )
  await fails(/is not empty/, 'import', `--etcd-servers=${other.clientUrl}`, `--file=${at('b')}`)
})

test('an incomplete or damaged export is rejected, and nothing is imported', async () => {
  const text = readFileSync(at('a'), 'utf8')
  const damaged: [name: string, content: string, message: RegExp][] = [
    ['cut', text.slice(0, -40), /is not a complete export/],
    ['no-end', text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1), /its end is missing/],
    [
      'changed',
      text.replace('"reason":"Moved"', '"reason":"Moves"').replace('\\"Moved\\"', '\\"Moves\\"'),
      /do not match its hash/,
    ],
    ['other', '{"kind":"List"}\n', /it is not a line of an export/],
  ]
  for (const [name, content, message] of damaged) {
    writeFileSync(at(name), content)
    await fails(message, 'import', `--data-dir=${at('empty')}`, `--file=${at(name)}`)
  }
  copyFileSync(at('a'), at('twice'))
  appendFileSync(at('twice'), text)
  await fails(/complete export/, 'import', `--data-dir=${at('empty')}`, `--file=${at('twice')}`)
  await fails(/there is no store/, 'export', `--data-dir=${at('empty')}`, `--file=${at('c')}`)
  await fails(/already exists/, 'export', `--data-dir=${at('store')}`, `--file=${at('a')}`)
  await fails(/either --etcd-servers or --data-dir/, 'export', `--file=${at('c')}`)
  // With --replace, a valid file replaces the existing contents.
  await store('import', `--data-dir=${at('store')}`, `--file=${at('a')}`, '--replace')
})

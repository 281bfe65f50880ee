/** Transfers a cluster from or to etcd. */
import { EtcdClient, type EtcdOptions } from '../etcd/client.ts'
import type { Op } from '../etcd/codec/kv-request.ts'
import type { Key, Revision } from '../engine.ts'
import { importMarker, type KeyRange, keyAfter, rangeOf, toBytes } from '../keys.ts'
import { PageSize } from '../page-size.ts'
import type { DumpFile } from './dump-file.ts'
import { compareSummaries, type Entry, type LeaseLeft, type Source, summarize } from './entry.ts'
import { type ImportOptions, notEmpty, type Target } from './target.ts'

/**
 * Limits of a transaction. etcd's defaults are 128 for --max-txn-ops and 1.5 MiB for
 * --max-request-bytes.
 */
const TXN_OPS_MAX = 100
const TXN_BYTES_MAX = 1024 * 1024
/** Estimated size of a put and its comparison, excluding the keys and the value. */
const OP_BYTES_AROUND = 128
/** Number of concurrent writes while the revision counter is raised. */
const RAISED_AT_ONCE = 128
/**
 * Maximum number of revisions by which the counter is raised. This takes some minutes of writes.
 * For larger numbers, etcd itself is faster (etcdutl snapshot restore --bump-revision).
 */
const RAISED_MAX = 5_000_000
/**
 * Minimum time to live of a lease. If keys expired before the end of the import, its check would
 * fail.
 */
const LEASE_SECONDS_MIN = 15 * 60
/**
 * Key that identifies the import in progress, so that the same import can be resumed. No server
 * starts while the key exists (`open-engine.ts`).
 */
const markerKey = toBytes(importMarker)

export class EtcdSource implements Source {
  readonly revision: Revision
  readonly #client: EtcdClient
  readonly #range: KeyRange

  static async open(etcd: EtcdOptions, prefix: Key): Promise<EtcdSource> {
    await using stack = new AsyncDisposableStack()
    const client = stack.use(new EtcdClient(etcd))
    const { revision } = await client.kv.head(toBytes(prefix))
    stack.move()
    return new EtcdSource(client, rangeOf(prefix), revision)
  }

  constructor(client: EtcdClient, range: KeyRange, revision: Revision) {
    this.#client = client
    this.#range = range
    this.revision = revision
  }

  async *pages(): AsyncGenerator<readonly Entry[], void, void> {
    const size = new PageSize()
    const { to } = this.#range
    for (let from: Key | undefined = this.#range.from; from !== undefined; ) {
      const { kvs, more } = await this.#client.kv.range({
        key: toBytes(from),
        rangeEnd: toBytes(to),
        revision: this.revision,
        limit: size.rows,
      })
      const entries = kvs.map(({ key, value, modRevision, createRevision, lease }): Entry => {
        return {
          key: key.toString('latin1'),
          value,
          revision: modRevision,
          created: createRevision,
          lease,
        }
      })
      size.record(
        entries.length,
        entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0),
      )
      if (entries.length > 0) yield entries
      const last = entries.at(-1)
      from = more && last !== undefined ? keyAfter(last.key) : undefined
    }
  }

  async readLease(id: bigint): Promise<LeaseLeft> {
    const { ttlSeconds, grantedTtlSeconds } = await this.#client.lease.timeToLive(id)
    return { id, ttlSeconds: Math.max(0, grantedTtlSeconds), leftSeconds: Math.max(0, ttlSeconds) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]()
  }
}

/**
 * Imports into etcd. etcd assigns its own revisions, so the revision counter is raised with writes
 * to a separate key before the first object is stored. As a result, no object or list has a
 * revision that clients of the source have seen. At the end, history is compacted. Watches that
 * resume from a revision of the source or of the replaced content then get status 410.
 */
export class EtcdTarget implements Target {
  readonly #etcd: EtcdOptions

  constructor(etcd: EtcdOptions) {
    this.#etcd = etcd
  }

  async take(dump: DumpFile, options: ImportOptions): Promise<void> {
    await using client = new EtcdClient(this.#etcd)
    const range = rangeOf(dump.head.prefix)
    await checkDistance(client, dump, options)
    await prepare(client, { range, dump, options })
    await raiseRevision(client, dump, options)
    await putAll(client, dump, options)
    const { revision: stored } = await client.kv.head(markerKey)
    compareSummaries(await summarize(new EtcdSource(client, range, stored)), dump.summary)
    // A server can start as soon as the marker is deleted. Compact first, so that no watch can
    // start from before the import.
    const { revision } = await client.kv.put({
      key: markerKey,
      value: Buffer.from(dump.summary.sha256),
    })
    await client.kv.compact({ revision })
    await client.kv.deleteRange({ key: markerKey })
  }
}

type PrepareOptions = {
  readonly range: KeyRange
  readonly dump: DumpFile
  readonly options: ImportOptions
}

async function prepare(
  client: EtcdClient,
  { range, dump, options }: PrepareOptions,
): Promise<void> {
  const [from, to] = [toBytes(range.from), toBytes(range.to)]
  const { kvs } = await client.kv.range({ key: markerKey })
  const isResumed = kvs[0]?.value.toString() === dump.summary.sha256
  if (isResumed) return
  const { count } = await client.kv.range({ key: from, rangeEnd: to, countOnly: true })
  if (count > 0 && !options.replaces) throw notEmpty('etcd')
  // Write the marker and delete the content in one transaction. The marker shows that the content
  // is being replaced, and by which export.
  const marked: Op = { type: 'put', key: markerKey, value: Buffer.from(dump.summary.sha256) }
  await client.kv.txn({
    compare: [],
    success: [marked, { type: 'delete', key: from, rangeEnd: to }],
    failure: [],
  })
}

/**
 * Checks, before anything is written, that the revision counter does not have to be raised too far.
 */
async function checkDistance(
  client: EtcdClient,
  dump: DumpFile,
  { revisionsAhead }: ImportOptions,
): Promise<void> {
  const { revision } = await client.kv.head(markerKey)
  if (dump.revision + revisionsAhead - revision <= RAISED_MAX) return
  throw new Error(
    `etcd is at revision ${revision} and the export at ${dump.revision}: the counter would have to be raised by more than ${RAISED_MAX}. Clients must not see older revisions than before: ` +
      'start with an etcd whose counter was raised (etcdutl snapshot restore --bump-revision --mark-compacted)',
  )
}

async function raiseRevision(
  client: EtcdClient,
  dump: DumpFile,
  options: ImportOptions,
): Promise<void> {
  const goal = dump.revision + options.revisionsAhead
  const value = Buffer.from(dump.summary.sha256)
  let { revision } = await client.kv.head(markerKey)
  while (revision < goal) {
    const round = Array.from({ length: Math.min(RAISED_AT_ONCE, goal - revision) }, () =>
      client.kv.put({ key: markerKey, value }),
    )
    const answers = await Promise.all(round)
    // Bounded: there are at most RAISED_AT_ONCE responses, so this call has few arguments
    revision = Math.max(...answers.map((answer) => answer.revision))
    options.onProgress('revisions to raise', goal - revision)
  }
}

async function putAll(
  client: EtcdClient,
  dump: DumpFile,
  { onProgress }: ImportOptions,
): Promise<void> {
  const leases = new Map<bigint, bigint>()
  let keys = 0
  for await (const page of dump.pages()) {
    for (const batch of batchesOf(page)) {
      const ops: Op[] = []
      for (const { key, value, lease } of batch) {
        const own =
          lease === 0n
            ? 0n
            : (leases.get(lease) ?? (await grant(client, await dump.readLease(lease))))
        if (lease !== 0n) leases.set(lease, own)
        ops.push({ type: 'put', key: toBytes(key), value, ...(own !== 0n && { lease: own }) })
      }
      await putNew(client, batch, ops)
      keys += batch.length
    }
    onProgress('keys', keys)
  }
}

/**
 * Stores the keys that do not exist yet. Keys from an earlier attempt are verified with the hash at
 * the end.
 */
async function putNew(
  client: EtcdClient,
  batch: readonly Entry[],
  ops: readonly Op[],
): Promise<void> {
  const compare = batch.map(
    ({ key }) => ({ key: toBytes(key), target: 'create', result: '=', value: 0 }) as const,
  )
  const { succeeded } = await client.kv.txn({ compare, success: ops, failure: [] })
  if (succeeded || batch.length === 1) return
  for (const [n, entry] of batch.entries()) await putNew(client, [entry], ops.slice(n, n + 1))
}

async function grant(client: EtcdClient, { leftSeconds }: LeaseLeft): Promise<bigint> {
  const { id } = await client.lease.grant({ ttlSeconds: Math.max(LEASE_SECONDS_MIN, leftSeconds) })
  return id
}

function* batchesOf(page: readonly Entry[]): Generator<readonly Entry[], void, void> {
  let batch: Entry[] = []
  let bytes = 0
  for (const entry of page) {
    const length = 2 * entry.key.length + entry.value.length + OP_BYTES_AROUND
    if (batch.length > 0 && (batch.length >= TXN_OPS_MAX || bytes + length > TXN_BYTES_MAX)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(entry)
    bytes += length
  }
  if (batch.length > 0) yield batch
}

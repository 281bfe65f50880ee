/**
 * A cache of plain JSON objects on a real etcd. The objects have no Kubernetes kinds. Tests and
 * benchmarks of the storage and the cache use it.
 */
import type { KubeObject } from '../../../src/api/object.ts'
import { Cache, type CacheOptions } from '../../../src/storage/cache/cache.ts'
import type { Wire } from '../../../src/objects/codec/object.ts'
import type { Reader } from '../../../src/storage/cache/reader.ts'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { systemClock } from '../../../src/lib/time/clock.ts'
import { type Log, silent } from '../../../src/lib/telemetry/log.ts'
import type { Key } from '../../../src/storage/engine.ts'
import { EtcdEngine } from '../../../src/storage/etcd-engine.ts'
import { rangeOf } from '../../../src/storage/keys.ts'
import { Leases } from '../../../src/storage/leases.ts'
import { Store } from '../../../src/storage/store.ts'
import { identity } from '../../../src/storage/transform.ts'

export const root = '/registry/'

/** Creates a stored value. */
export type Plain = { readonly metadata: { readonly name: string }; readonly value: string }

export const encode = (name: string, value: string): Buffer =>
  Buffer.from(JSON.stringify({ kind: 'Plain', apiVersion: 'v1', metadata: { name }, value }))

const head = '{"kind":"Plain","apiVersion":"v1",'

export const form = {
  decode: (stored: Buffer, _key: Key, revision: number): KubeObject => {
    const { kind, apiVersion, metadata, ...rest } = JSON.parse(stored.toString('utf8'))
    return {
      kind,
      apiVersion,
      metadata: { ...metadata, resourceVersion: String(revision) },
      ...rest,
    }
  },
  print: (object: KubeObject): Wire => {
    const { resourceVersion, ...metadata } = object.metadata
    const { value } = object
    const start = `${head}"metadata":{"resourceVersion":"`
    const rest = JSON.stringify({ ...metadata, resourceVersion: undefined }).slice(1, -1)
    const text = `${start}${resourceVersion}"${rest === '' ? '' : `,${rest}`}},"value":${JSON.stringify(value)}}\n`
    return { bytes: Buffer.from(text), headBytes: head.length, versionAt: start.length }
  },
}

export class PlainCache implements AsyncDisposable {
  readonly client: EtcdClient
  readonly engine: EtcdEngine
  readonly store: Store
  readonly cache: Cache

  constructor(
    endpoints: readonly string[],
    options: Partial<CacheOptions> & { readonly log?: Log } = {},
  ) {
    const { clock = systemClock, log = silent, transformer = identity } = options
    this.client = new EtcdClient({ endpoints, clock, log })
    this.engine = new EtcdEngine(this.client)
    const leases = new Leases((ttlSeconds, call) => this.engine.grantLease(ttlSeconds, call), clock)
    this.store = new Store(this.engine, { transformer, leases })
    this.cache = new Cache({
      engine: this.engine,
      store: this.store,
      root,
      clock,
      log,
      ...options,
      transformer,
    })
  }

  reader(name: string): Reader {
    return this.cache.resource({ name, prefix: `${root}${name}/`, ...form })
  }

  range(name: string): ReturnType<typeof rangeOf> {
    return rangeOf(`${root}${name}/`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cache[Symbol.asyncDispose]()
    await this.engine[Symbol.asyncDispose]()
  }
}

/**
 * The composition root: builds each part from those below it, in order, and ends them in the reverse order. Nothing is
 * global, so a process can hold as many servers as it likes.
 */
import { isIPv6 } from 'node:net'
import type { KubeObject } from './api/object.ts'
import { Cache } from './cache/cache.ts'
import { decodeStored, printWire, UnreadableError } from './codec/object.ts'
import type { Config } from './config/config.ts'
import { createDocuments } from './discovery/documents.ts'
import { EtcdClient } from './etcd/client.ts'
import { createAuthenticate } from './gate/authenticate.ts'
import { createGate } from './gate/gate.ts'
import { createHandler, type Verbs } from './handle.ts'
import { loadOrCreateCertificate } from './http/certificate.ts'
import { Listener } from './http/listener.ts'
import { type Clock, systemClock } from './lib/clock.ts'
import type { Log } from './lib/log.ts'
import { builtInResources, Registry } from './registry/registry.ts'
import type { Resource } from './registry/resource.ts'
import { Compactor } from './storage/compactor.ts'
import type { Key, Revision } from './storage/engine.ts'
import { StorageError } from './storage/errors.ts'
import { EtcdEngine } from './storage/etcd-engine.ts'
import { ResourceKeys, resourcePrefix, rootOf } from './storage/keys.ts'
import { Leases } from './storage/leases.ts'
import { Store } from './storage/store.ts'
import { identity } from './storage/transform.ts'
import type { Ids, WatchAccess, WriteAccess } from './verbs/access.ts'
import { create } from './verbs/create.ts'
import { deleteOne } from './verbs/delete.ts'
import { get } from './verbs/get.ts'
import { randomIds } from './verbs/ids.ts'
import { list } from './verbs/list.ts'
import { update } from './verbs/update.ts'
import { watch } from './verbs/watch.ts'

/** Requests under way are given this long when the server stops. */
const STOP_GRACE_MS = 5_000

/** What comes from outside of the configuration, so that a test can replay it. */
export type Surroundings = {
  readonly clock: Clock
  readonly log: Log
  readonly ids: Ids
  /** From 0 to below 1. */
  readonly random: () => number
}

export const realSurroundings = (log: Log): Surroundings => ({
  clock: systemClock,
  log,
  ids: randomIds,
  random: Math.random,
})

export class Server implements AsyncDisposable {
  readonly url: string
  readonly #parts: AsyncDisposableStack

  constructor(url: string, parts: AsyncDisposableStack) {
    this.url = url
    this.#parts = parts
  }

  /** Answers the requests under way, then lets go of everything. */
  stop(): Promise<void> {
    return this.#parts.disposeAsync()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

/** Comes back when clients can connect. Fails with what to do about it; then nothing is left running. */
export async function startServer(config: Config, surroundings: Surroundings): Promise<Server> {
  const { clock, log, ids } = surroundings
  await using parts = new AsyncDisposableStack()
  const certificate = certificateOf(config, clock)

  const client = new EtcdClient({ endpoints: config.etcd.servers, clock, log })
  const engine = parts.use(new EtcdEngine(client))
  const leases = new Leases((ttlSeconds, options) => engine.grantLease(ttlSeconds, options), clock)
  const store = new Store(engine, { transformer: identity, leases, random: surroundings.random })
  parts.use(new Compactor({ client, log }))
  const root = rootOf(config.etcd.prefix)
  const cache = parts.use(new Cache({ engine, store, transformer: identity, root, clock, log }))
  await startCache(cache, config)

  const registry = new Registry(builtInResources)
  const accessOf = createAccess({ cache, store, root, registry }, surroundings)
  const verbs: Verbs = {
    get: (request) => get(request, accessOf(request.resource)),
    list: (request) => list(request, accessOf(request.resource)),
    watch: (request) => watch(request, accessOf(request.resource)),
    create: (request) => create(request, accessOf(request.resource)),
    update: (request) => update(request, accessOf(request.resource)),
    delete: (request) => deleteOne(request, accessOf(request.resource)),
  }
  const documents = createDocuments({
    registry,
    serverAddress: hostPort(config.advertiseAddress, config.port),
    healthChecks: [{ name: 'ping', fault: () => undefined }],
    readyChecks: [{ name: 'etcd', fault: () => (cache.isLive ? undefined : 'nothing is heard from etcd') }],
  })
  const gate = createGate({ authenticate: createAuthenticate(config.tokens), registry })
  const handler = createHandler({ gate, verbs, documents, log, newAuditId: ids.uid })

  const listener = new Listener({ handler, ...certificate, log })
  parts.defer(() => listener.close(STOP_GRACE_MS))
  await listen(listener, config)
  return new Server(`https://${hostPort(config.bindAddress, listener.port)}`, parts.move())
}

function certificateOf({ tls, bindAddress, advertiseAddress }: Config, clock: Clock) {
  if (tls.kind === 'files') return { certificatePem: tls.certificatePem, keyPem: tls.keyPem }
  return loadOrCreateCertificate(tls.path, [bindAddress, advertiseAddress], clock.wallMs())
}

async function startCache(cache: Cache, { etcd }: Config): Promise<void> {
  try {
    await cache.start()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const servers = etcd.servers.join(', ')
    throw new Error(`etcd at ${servers} does not answer (${why}): start it, or correct --etcd-servers`, { cause })
  }
}

async function listen(listener: Listener, { port, bindAddress }: Config): Promise<void> {
  try {
    await listener.listen(port, bindAddress)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`cannot listen (${why}): choose another --secure-port or --bind-address`, { cause })
  }
}

/** Everything a verb needs of a resource, made once per resource. */
function createAccess(
  parts: { readonly cache: Cache; readonly store: Store; readonly root: Key; readonly registry: Registry },
  { clock, ids, random }: Surroundings,
): (resource: Resource) => WriteAccess & WatchAccess {
  const now = (): string => `${new Date(clock.wallMs()).toISOString().slice(0, 19)}Z`
  const make = (resource: Resource): WriteAccess & WatchAccess => {
    const keys = new ResourceKeys(parts.root, resourcePrefix(resource), resource.isNamespaced)
    const decode = (stored: Buffer, _key: Key, revision: Revision): KubeObject =>
      decodeOrFail(stored, resource, revision)
    const reader = parts.cache.resource({
      name: resource.plural,
      prefix: keys.prefix,
      decode,
      print: (object) => printWire(object, resource.shape),
    })
    const decodeOne: WriteAccess['decode'] = ({ value, key, revision }) => decode(value, key, revision)
    return { keys, reader, store: parts.store, decode: decodeOne, ids, now, random }
  }
  const made = new Map(parts.registry.all().map((resource) => [resource, make(resource)]))
  return (resource) => made.get(resource) ?? make(resource)
}

function decodeOrFail(stored: Buffer, resource: Resource, revision: Revision): KubeObject {
  try {
    return decodeStored(stored, resource.shape, revision)
  } catch (cause) {
    if (!(cause instanceof UnreadableError)) throw cause
    throw new StorageError('corrupt', cause.message, { cause })
  }
}

const hostPort = (address: string, port: number): string =>
  isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`

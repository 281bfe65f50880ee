/** Keeps one object in every active namespace: the default ServiceAccount, and the ConfigMap with the CA of the server. */
import { fieldsOf, type KubeObject, itemsOf } from '../api/object.ts'
import { objectOf, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { FollowedResource } from '../storage/cache/followed-resource.ts'
import type { Log } from '../lib/log.ts'
import type { Registry } from '../registry/registry.ts'
import type { QueueMetrics } from '../lib/queue-metrics.ts'
import type { CacheAccessOf } from './cache-access.ts'
import { collectionPath, objectPath } from './served-resources.ts'
import { WorkQueue } from '../lib/work-queue.ts'
import { failureOf, outcomeOf } from './write-outcome.ts'

/** Upstream's number is 5: namespaces come in bursts. */
const WORKERS_MAX = 5

export type PerNamespaceParts = {
  readonly handle: Handler
  readonly registry: Registry
  readonly accessOf: CacheAccessOf
  readonly metrics: QueueMetrics
  readonly log: Log
}

export type PerNamespaceObject = {
  /** As upstream names the queue. */
  readonly queue: string
  /** Of the core group. */
  readonly plural: string
  readonly name: string
  readonly create: () => KubeObject
  /** The object as it has to be; undefined if it is so. Absent: any will do. */
  readonly mend?: (object: KubeObject) => KubeObject | undefined
}

export function keepInNamespaces(
  wanted: PerNamespaceObject,
  parts: PerNamespaceParts,
): AsyncDisposable {
  const { handle, registry, accessOf, metrics, log } = parts
  const { plural, name, create, mend } = wanted
  const stopping = new AbortController()
  const stack = new AsyncDisposableStack()
  const [namespaces, resource] = ['namespaces', plural].map((one) =>
    registry.find({ group: '', version: 'v1', plural: one }),
  )
  if (namespaces === undefined || resource === undefined) return stack
  const [ofNamespaces, ofObjects] = [accessOf(namespaces), accessOf(resource)]

  const work = async (namespace: string): Promise<undefined> => {
    const { item } = await ofNamespaces.reader.get(
      ofNamespaces.keys.key(undefined, namespace),
      'any',
    )
    if (item === undefined || fieldsOf(item.peek()['status'])['phase'] !== 'Active')
      return undefined
    const found = (
      await ofObjects.reader.get(ofObjects.keys.key(namespace, name), 'any')
    ).item?.object()
    const body = found === undefined ? create() : mend?.(found)
    if (body === undefined) return undefined
    const { signal } = stopping
    const place =
      found === undefined
        ? { method: 'POST', path: collectionPath(resource, namespace) }
        : { method: 'PUT', path: objectPath(resource, namespace, name) }
    const response = await request(handle, { ...place, body, signal })
    // The namespace is gone or ends, or another one was first, whose event comes.
    if (outcomeOf(response) !== undefined || isTerminating(objectOf(response))) return undefined
    throw new Error(failureOf(place.path, response))
  }
  const measured = { metrics, as: wanted.queue }
  const queue = new WorkQueue({
    name: `${name} in a namespace`,
    workersMax: WORKERS_MAX,
    work,
    log,
    measured,
  })

  const names = new Set<string>()
  const followedNamespaces = new FollowedResource<true>({
    isBackground: true,
    name: 'namespaces',
    reader: ofNamespaces.reader,
    range: ofNamespaces.keys.range(),
    read: () => true,
    set: (key, isThere) => {
      const namespace = key.slice(ofNamespaces.keys.prefix.length)
      if (isThere === undefined) names.delete(namespace)
      else {
        names.add(namespace)
        queue.add(namespace)
      }
    },
    known: () => Array.from(names, (namespace) => ofNamespaces.keys.key(undefined, namespace)),
    log,
  })
  const hasName = ofObjects.keys.hasName(name)
  const holders = new Set<string>()
  const followedObjects = new FollowedResource<boolean>({
    isBackground: true,
    name: plural,
    reader: ofObjects.reader,
    range: ofObjects.keys.range(),
    read: ({ key }) => hasName(key),
    set: (key, isOurs) => {
      if (isOurs !== true && !holders.delete(key)) return
      if (isOurs === true) holders.add(key)
      const namespace = ofObjects.keys.parse(key)?.namespace
      if (namespace !== undefined && (isOurs !== true || mend !== undefined)) queue.add(namespace)
    },
    known: () => holders,
    log,
  })
  stack.use(queue)
  stack.use(followedNamespaces)
  stack.use(followedObjects)
  stack.defer(() => stopping.abort())
  // Never fails. Objects first: what exists need not be looked for.
  void followedObjects.start().then(() => followedNamespaces.start())
  return stack
}

const isTerminating = (answer: ReturnType<typeof objectOf>): boolean =>
  itemsOf(fieldsOf(fieldsOf(answer)['details'])['causes']).some(
    ({ reason }) => reason === 'NamespaceTerminating',
  )

/**
 * Maintains one object in every active namespace: the default ServiceAccount, or the ConfigMap with
 * the CA of the server.
 */
import { fieldsOf, type KubeObject, itemsOf } from '../api/object.ts'
import { objectOf, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { Informer } from '../storage/cache/informer.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import type { QueueMetrics } from '../lib/telemetry/queue-metrics.ts'
import type { CacheAccess, CacheAccessOf } from './cache-access.ts'
import { collectionPath, objectPath } from './served-resources.ts'
import { WorkQueue } from '../lib/concurrency/work-queue.ts'
import { failureOf, outcomeOf } from './write-outcome.ts'

/** Number of workers, as in kube-controller-manager. Namespaces are often created in bursts. */
const WORKERS_MAX = 5

export type PerNamespaceOptions = {
  readonly handle: Handler
  readonly registry: Registry
  readonly accessOf: CacheAccessOf
  readonly metrics: QueueMetrics
  readonly log: Log
}

export type PerNamespaceObject = {
  /** Name of the queue in metrics, as in kube-controller-manager. */
  readonly queue: string
  /** The resource of the object, in the core API group. */
  readonly plural: string
  readonly name: string
  readonly create: () => KubeObject
  /**
   * Returns the corrected object, or undefined if it is already correct. If absent, the object is
   * never corrected.
   */
  readonly mend?: (object: KubeObject) => KubeObject | undefined
}

export function keepInNamespaces(
  wanted: PerNamespaceObject,
  { handle, registry, accessOf, metrics, log }: PerNamespaceOptions,
): AsyncDisposable {
  const stopping = new AbortController()
  const stack = new AsyncDisposableStack()
  const [namespaces, resource] = ['namespaces', wanted.plural].map((plural) =>
    registry.find({ group: '', version: 'v1', plural }),
  )
  if (namespaces === undefined || resource === undefined) return stack
  const options: KeepOptions = {
    resource,
    namespaces: accessOf(namespaces),
    objects: accessOf(resource),
    log,
  }
  const { signal } = stopping
  const queue = new WorkQueue({
    name: `${wanted.name} in a namespace`,
    workersMax: WORKERS_MAX,
    work: (namespace: string) => ensureIn(namespace, wanted, { ...options, handle, signal }),
    log,
    measured: { metrics, as: wanted.queue },
  })
  const add = (namespace: string): void => queue.add(namespace)
  const namespacesInformer = followNamespaces(options, add)
  const objectsInformer = followObjects(wanted, options, add)
  stack.use(queue)
  stack.use(namespacesInformer)
  stack.use(objectsInformer)
  stack.defer(() => stopping.abort())
  // Start the informers one after the other: when the objects are already listed, namespaces that
  // have the object need no lookup. These promises never reject.
  void objectsInformer.start().then(() => namespacesInformer.start())
  return stack
}

type KeepOptions = {
  readonly resource: Resource
  readonly namespaces: CacheAccess
  readonly objects: CacheAccess
  readonly log: Log
}

type EnsureOptions = KeepOptions & { readonly handle: Handler; readonly signal: AbortSignal }

/** Creates or corrects the object in an active namespace. */
async function ensureIn(
  namespace: string,
  { name, create, mend }: PerNamespaceObject,
  { resource, namespaces, objects, handle, signal }: EnsureOptions,
): Promise<undefined> {
  const { item } = await namespaces.reader.get(namespaces.keys.key(undefined, namespace), 'any')
  if (item === undefined || fieldsOf(item.peek()['status'])['phase'] !== 'Active') return undefined
  const found = (await objects.reader.get(objects.keys.key(namespace, name), 'any')).item?.object()
  const body = found === undefined ? create() : mend?.(found)
  if (body === undefined) return undefined
  const target =
    found === undefined
      ? { method: 'POST', path: collectionPath(resource, namespace) }
      : { method: 'PUT', path: objectPath(resource, namespace, name) }
  const response = await request(handle, { ...target, body, signal })
  // These responses are not errors. The namespace may be gone or be deleted, or another client may
  // have written the object first. The watch will report that write.
  if (outcomeOf(response) !== undefined || isTerminating(objectOf(response))) return undefined
  throw new Error(failureOf(target.path, response))
}

/** Calls `add` for each namespace that is created or changed. */
function followNamespaces(
  { namespaces: { reader, keys }, log }: KeepOptions,
  add: (namespace: string) => void,
): Informer<true> {
  const names = new Set<string>()
  return new Informer<true>({
    isBackground: true,
    name: 'namespaces',
    reader,
    range: keys.range(),
    read: () => true,
    set: (key, isThere) => {
      const namespace = key.slice(keys.prefix.length)
      if (isThere === undefined) names.delete(namespace)
      else {
        names.add(namespace)
        add(namespace)
      }
    },
    known: () => Array.from(names, (namespace) => keys.key(undefined, namespace)),
    log,
  })
}

/**
 * Calls `add` for each namespace whose object is deleted, and for each namespace whose object is
 * changed in a way that may have to be corrected.
 */
function followObjects(
  { plural, name, mend }: PerNamespaceObject,
  { objects: { reader, keys }, log }: KeepOptions,
  add: (namespace: string) => void,
): Informer<boolean> {
  const hasName = keys.hasName(name)
  const holders = new Set<string>()
  return new Informer<boolean>({
    isBackground: true,
    name: plural,
    reader,
    range: keys.range(),
    read: ({ key }) => hasName(key),
    set: (key, isOurs) => {
      if (isOurs !== true && !holders.delete(key)) return
      if (isOurs === true) holders.add(key)
      const namespace = keys.parse(key)?.namespace
      if (namespace !== undefined && (isOurs !== true || mend !== undefined)) add(namespace)
    },
    known: () => holders,
    log,
  })
}

const isTerminating = (answer: ReturnType<typeof objectOf>): boolean =>
  itemsOf(fieldsOf(fieldsOf(answer)['details'])['causes']).some(
    ({ reason }) => reason === 'NamespaceTerminating',
  )

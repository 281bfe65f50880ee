/** Deletes as many objects of a namespace as is currently possible. */
import { fieldsOf, type KubeObject, numberOf, textOf } from '../../api/object.ts'
import { request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Item } from '../../storage/cache/item.ts'
import { Slices, type SlicesTime } from '../../lib/scheduling/slices.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Resource } from '../../registry/resource.ts'
import { headOf } from '../object-head.ts'
import type { CacheAccessOf } from '../cache-access.ts'
import { objectPath, servedResources } from '../served-resources.ts'
import type { RemoteContent, RemoteResource } from '../remote/remote-content.ts'
import type { ContentReport } from './conditions.ts'
import { deleteRemote } from './delete-remote.ts'
import { failureOf, outcomeOf } from '../write-outcome.ts'

/**
 * Maximum number of concurrent deletes per resource. RESOURCES_MAX limits the number of resources
 * that are processed concurrently. More deletes would only wait for etcd.
 */
const DELETES_MAX = 16
/**
 * Number of objects that are deleted before the next check whether the namespace is still being
 * deleted.
 */
const BATCH = 128
const RESOURCES_MAX = 8

/**
 * Time in which finalizers are assumed to be removed. The value is that of kube-controller-manager.
 */
const FINALIZERS_SECONDS = 15

export type ContentOptions = {
  readonly handle: Handler
  readonly registry: Registry
  readonly accessOf: CacheAccessOf
  /**
   * Whether the stored namespace is still the namespace that is being deleted, and not a new one
   * with the same name.
   */
  readonly isEnding: () => Promise<boolean>
  /**
   * Whether pods are deleted before other objects. Running pods may use these objects (KEP-5080,
   * gate OrderedNamespaceDeletion).
   */
  readonly podsFirst: boolean
  readonly wallMs: () => number
  /** Clock and timers. Defaults to the system clock and timers. */
  readonly time?: SlicesTime
  readonly signal: AbortSignal
  /**
   * The resources of remote API servers, whose objects are also deleted. Undefined if there are no
   * remote servers.
   */
  readonly remote?: RemoteContent | undefined
}

export type DeleteContentResult = ContentReport & {
  /**
   * Estimated number of seconds until the remaining objects are gone. 0 if no object remains, or if
   * the time is unknown.
   */
  readonly estimateSeconds: number
}

export async function deleteContent(
  namespace: KubeObject,
  options: ContentOptions,
): Promise<DeleteContentResult> {
  const resources = servedResources(options.registry, ['delete', 'list']).filter(
    ({ isNamespaced }) => isNamespaced,
  )
  const totals = new Totals()
  const pods = options.podsFirst ? resources.filter(isPods) : []
  for (const resource of pods) await totals.add(resource, deleteAll(resource, namespace, options))
  const ofPods = totals.report()
  // A pod that remains might still be running and use other objects, so do not delete them yet.
  if (totals.remaining.size > 0 || ofPods.faults.length > 0)
    return { ...ofPods, remaining: undefined }
  // Bounded: `pods` contains at most one resource, so each search is short
  const others = resources.filter((resource) => !pods.includes(resource)).values()
  const work = async (): Promise<void> => {
    for (const resource of others)
      await totals.add(resource, deleteAll(resource, namespace, options))
  }
  await Promise.all(Array.from({ length: RESOURCES_MAX }, work))
  for (const resource of options.remote?.resources ?? []) {
    if (!['delete', 'list'].every((verb) => resource.verbs.includes(verb))) continue
    await totals.add(resource, remotely(resource, namespace, options))
  }
  return { ...totals.report(), undiscovered: options.remote?.stale ?? [] }
}

async function remotely(
  resource: RemoteResource,
  namespace: KubeObject,
  options: ContentOptions,
): Promise<RemainingContent> {
  const left = await deleteRemote(resource, namespace.metadata.name ?? '', options)
  return { ...left, estimateSeconds: left.finalizers.size > 0 ? FINALIZERS_SECONDS : 0 }
}

const isPods = ({ group, plural }: Resource): boolean => group === '' && plural === 'pods'

type RemainingContent = {
  readonly estimateSeconds: number
  readonly count: number
  readonly finalizers: ReadonlyMap<string, number>
  readonly fault?: string
}

class Totals {
  readonly remaining = new Map<string, number>()
  readonly #finalizers = new Map<string, number>()
  readonly #faults = new Set<string>()
  #estimateSeconds = 0

  async add(
    { group, plural }: Pick<Resource, 'group' | 'plural'>,
    deleting: Promise<RemainingContent>,
  ): Promise<void> {
    const { estimateSeconds, count, finalizers, fault } = await deleting
    if (fault !== undefined) this.#faults.add(fault)
    this.#estimateSeconds = Math.max(this.#estimateSeconds, estimateSeconds)
    if (count === 0) return
    this.remaining.set(`${plural}.${group}`, count)
    for (const [finalizer, times] of finalizers) {
      this.#finalizers.set(finalizer, (this.#finalizers.get(finalizer) ?? 0) + times)
    }
  }

  report(): DeleteContentResult {
    return {
      faults: [...this.#faults],
      remaining: this.remaining,
      finalizers: this.#finalizers,
      estimateSeconds: this.#estimateSeconds,
    }
  }
}

const nothing: RemainingContent = { estimateSeconds: 0, count: 0, finalizers: new Map() }

/**
 * Deletes all objects of one resource in the namespace. Never rejects: errors are part of the
 * result.
 */
async function deleteAll(
  resource: Resource,
  namespace: KubeObject,
  options: ContentOptions,
): Promise<RemainingContent> {
  const { keys, reader } = options.accessOf(resource)
  const list = async (): Promise<readonly Item[]> =>
    (await reader.list(keys.range(namespace.metadata.name), 'latest')).items
  try {
    const items = await list()
    if (items.length === 0) return nothing
    const estimateSeconds = isPods(resource) ? await graceLeft(items, namespace, options) : 0
    const fault = await deleteEach(resource, items, options)
    if (fault !== undefined) return { ...nothing, estimateSeconds, fault }
    const left = await list()
    if (left.length === 0) return nothing
    return await estimateRemaining(resource, left, {
      namespace,
      estimateSeconds,
      time: options.time,
    })
  } catch (error) {
    return { ...nothing, fault: messageOf(error) }
  }
}

type DeletionContext = {
  readonly namespace: KubeObject
  readonly estimateSeconds: number
  readonly time: SlicesTime | undefined
}

async function estimateRemaining(
  { group, version, plural }: Resource,
  left: readonly Item[],
  { namespace, estimateSeconds, time }: DeletionContext,
): Promise<RemainingContent> {
  const finalizers = new Map<string, number>()
  const slices = new Slices(time)
  for (const item of left) {
    if (slices.isOver) await slices.turn()
    for (const finalizer of headOf(item).finalizers)
      finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
  }
  const count = left.length
  if (estimateSeconds > 0) return { estimateSeconds, count, finalizers }
  if (finalizers.size > 0) return { estimateSeconds: FINALIZERS_SECONDS, count, finalizers }
  const resource = `${group}/${version}, Resource=${plural}`
  const fault = `unexpected items still remain in namespace: ${namespace.metadata.name} for gvr: ${resource}`
  return { estimateSeconds: 0, count, finalizers, fault }
}

/**
 * Returns the longest grace period of running pods in seconds, or 0 if the deletion of the
 * namespace began longer ago than that.
 */
async function graceLeft(
  pods: readonly Item[],
  { metadata }: KubeObject,
  { wallMs, time }: Pick<ContentOptions, 'wallMs' | 'time'>,
): Promise<number> {
  let longest = 0
  const slices = new Slices(time)
  for (const pod of pods) {
    if (slices.isOver) await slices.turn()
    const { spec, status } = await pod.peekInParts()
    if (/^(Succeeded|Failed)$/.test(textOf(fieldsOf(status)['phase']))) continue
    longest = Math.max(longest, numberOf(fieldsOf(spec)['terminationGracePeriodSeconds']))
  }
  const passedMs = wallMs() - Date.parse(textOf(metadata.deletionTimestamp))
  return passedMs >= 1000 * longest ? 0 : longest
}

const collectorFinalizers: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion'])

/**
 * Deletes the objects. Stops at the first object that cannot be deleted, and returns the reason.
 * The next attempt handles the remaining objects.
 */
async function deleteEach(
  resource: Resource,
  items: readonly Item[],
  options: ContentOptions,
): Promise<string | undefined> {
  for (let at = 0; at < items.length; at += BATCH) {
    // Check after the list has been read, so that all objects on the list belong to the namespace
    // that is being deleted, and not to a new one with the same name.
    if (!(await options.isEnding())) return 'the namespace is no longer being deleted'
    const fault = await deleteBatch(resource, items.slice(at, at + BATCH), options)
    if (fault !== undefined) return fault
  }
  return undefined
}

async function deleteBatch(
  resource: Resource,
  items: readonly Item[],
  { handle, accessOf, time, signal }: ContentOptions,
): Promise<string | undefined> {
  const { keys } = accessOf(resource)
  const slices = new Slices(time)
  const left = items.values()
  let fault: string | undefined
  const work = async (): Promise<void> => {
    for (const item of left) {
      if (fault !== undefined || signal.aborted) return
      if (slices.isOver) await slices.turn()
      const { uid, isMarked, finalizers } = headOf(item)
      // The object is already being deleted. A further background delete would only remove the
      // finalizers of the garbage collector, so it is needed only if the object has one of these.
      if (isMarked && !finalizers.some((finalizer) => collectorFinalizers.has(finalizer))) continue
      const { namespace, name = '' } = keys.parse(item.key) ?? {}
      const path = objectPath(resource, namespace, name)
      const body = { ...inBackground, preconditions: { uid } }
      const response = await request(handle, { method: 'DELETE', path, body, signal })
      // A conflict is not an error. It means that an object with another uid has this name now. The
      // next attempt deletes that object.
      if (outcomeOf(response) === undefined) fault ??= failureOf(path, response)
    }
  }
  await Promise.all(Array.from({ length: DELETES_MAX }, work))
  return fault
}

/** The garbage collector is not needed, because all objects in the namespace are deleted. */
const inBackground = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' }

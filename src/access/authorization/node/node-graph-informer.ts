/**
 * Keeps the node graph current by watching the cache. As in kube-apiserver, the graph may lag
 * slightly behind the stored state. However, a kubelet that has received a pod from this server can
 * already access the objects that the pod refers to.
 */
import type { InformerAccess } from '../../../storage/cache/informer-by-name.ts'
import { Informer } from '../../../storage/cache/informer.ts'
import type { Item } from '../../../storage/cache/item.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import type { Log } from '../../../lib/telemetry/log.ts'
import type { Histogram } from '../../../lib/telemetry/metrics.ts'
import { SharedLists } from '../../../lib/collections/shared-lists.ts'
import { atOnce, type Steps } from '../../../lib/scheduling/slices.ts'
import type { Time } from '../../../lib/time/timers.ts'
import type { ResourceKeys } from '../../../storage/keys.ts'
import { NodeGraph } from './graph.ts'
import {
  podContent,
  type PodNames,
  type ReadContext,
  readNodeName,
  readPod,
  readVolume,
} from './read-objects.ts'

export type NodeGraphInformerOptions = {
  /**
   * Returns access to a resource in any served version, or undefined if no version of the resource
   * is served.
   */
  readonly accessOf: (group: string, plural: string) => InformerAccess | undefined
  readonly log: Log
  /** Durations of changes to the graph, by operation. */
  readonly seconds: Histogram
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly time?: Time
}

/** One resource that the graph watches, and how its objects are added to the graph. */
type Source<T> = {
  /**
   * Name of the kind in the operation label of kube-apiserver's metric, for example `Pod` in
   * `AddPod`.
   */
  readonly kind: string
  readonly group: string
  readonly plural: string
  readonly read: (item: Item, place: ReadContext) => T | undefined
  /**
   * Sets the content of an object in the graph. If this takes long, returns a generator that
   * performs the rest in steps.
   */
  readonly set: (name: string, content: T | undefined) => Steps<void> | undefined | void
  readonly names: () => Iterable<string>
}

export class NodeGraphInformer implements AsyncDisposable {
  readonly graph = new NodeGraph()
  readonly #options: NodeGraphInformerOptions
  readonly #shared = new SharedLists()
  #resources: readonly (AsyncDisposable & { start(): Promise<void> })[] = []
  #isFilled = false

  constructor(options: NodeGraphInformerOptions) {
    this.#options = options
  }

  /** Whether the graph contains all objects that existed when the informers started. */
  get isFilled(): boolean {
    return this.#isFilled
  }

  /**
   * Starts all informers and resolves when the graph is complete. Until then, a node is denied
   * access to objects that are not in the graph.
   */
  async start(): Promise<void> {
    const { graph } = this
    this.#resources = [
      ...this.#follow({
        kind: 'Pod',
        group: '',
        plural: 'pods',
        read: readPod,
        set: (name, pod) => this.#setPod(name, pod),
        names: () => graph.names('pods'),
      }),
      ...this.#follow({
        kind: 'PV',
        group: '',
        plural: 'persistentvolumes',
        read: readVolume,
        set: (name, content) => graph.setVolume(name, content),
        names: () => graph.names('volumes'),
      }),
      ...this.#follow({
        kind: 'VolumeAttachment',
        group: 'storage.k8s.io',
        plural: 'volumeattachments',
        read: readNodeName,
        set: (name, node) => graph.setAttachment(name, node),
        names: () => graph.names('attachments'),
      }),
      ...this.#follow({
        kind: 'ResourceSlice',
        group: 'resource.k8s.io',
        plural: 'resourceslices',
        read: readNodeName,
        set: (name, node) => graph.setSlice(name, node),
        names: () => graph.names('slices'),
      }),
    ]
    await Promise.all(this.#resources.map((informer) => informer.start()))
    this.#isFilled = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#resources.map((informer) => informer[Symbol.asyncDispose]()))
  }

  #setPod(name: string, pod: PodNames | undefined): Steps<void> | undefined {
    if (pod !== undefined && namesIn(pod) > NAMES_MAX) return this.#setLargePod(name, pod)
    this.graph.setPod(name, pod && atOnce(podContent(pod, this.#shared)))
    return undefined
  }

  *#setLargePod(name: string, pod: PodNames): Steps<void> {
    this.graph.setPod(name, yield* podContent(pod, this.#shared))
  }

  #follow<T>({ kind, group, plural, read, set, names }: Source<T>): Informer<T | undefined>[] {
    const { accessOf, log, time, clock, seconds } = this.#options
    const access = accessOf(group, plural)
    if (access === undefined) return []
    const { keys, reader } = access
    const shared = this.#shared
    const [adds, deletes] = [seconds.with(`Add${kind}`), seconds.with(`Delete${kind}`)]
    const informer = new Informer<T | undefined>({
      name: group === '' ? plural : `${plural}.${group}`,
      reader,
      range: keys.range(),
      read: (item) => {
        const place = keys.parse(item.key)
        if (place === undefined) return undefined
        const { namespace = '', name } = place
        return read(item, { namespace, name, shared })
      },
      prepare: (item, slices) => item.objectInParts(slices),
      set: (key, content) => {
        const startMs = clock.monotonicMs()
        const rest = set(key.slice(keys.prefix.length), content)
        const taken = content === undefined ? deletes : adds
        taken.observe((clock.monotonicMs() - startMs) / 1000)
        return rest
      },
      known: () => keysOf(keys, names()),
      log,
      ...(time === undefined ? {} : { time }),
    })
    return [informer]
  }
}

/**
 * Maximum number of names in a pod that is added to the graph at once. A pod with more names is
 * added in several steps, between which other work can run.
 */
const NAMES_MAX = 1024

const namesIn = ({ names }: PodNames): number =>
  names.reduce((count, [, list]) => count + list.length, 0)

/**
 * Returns the keys in the store for objects in the graph. A key is the prefix of the resource
 * followed by the object name.
 */
function* keysOf({ prefix }: ResourceKeys, names: Iterable<string>): Generator<string> {
  for (const name of names) yield prefix + name
}

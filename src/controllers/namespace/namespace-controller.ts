/**
 * The namespace-controller. It deletes the content of each namespace that is being deleted, reports
 * the remaining objects in the conditions of the namespace, and finalizes it.
 */
import type { Gates } from '../../api/gates.ts'
import { fieldsOf, type KubeObject, textsOf } from '../../api/object.ts'
import { request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import { createNow } from '../../api/timestamps.ts'
import { Informer } from '../../storage/cache/informer.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { systemTime, type Time } from '../../lib/time/timers.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Resource } from '../../registry/resource.ts'
import { headOf, type ObjectHead } from '../object-head.ts'
import type { QueueMetrics } from '../../lib/telemetry/queue-metrics.ts'
import type { CacheAccessOf } from '../cache-access.ts'
import type { RemoteContent } from '../remote/remote-content.ts'
import { objectPath } from '../served-resources.ts'
import { WorkQueue } from '../../lib/concurrency/work-queue.ts'
import { undiscoveredText, withConditions } from './conditions.ts'
import { deleteContent } from './delete-content.ts'
import { outcomeOrThrow } from '../write-outcome.ts'

/** Number of workers, as in kube-controller-manager. */
const NAMESPACES_MAX = 10
/**
 * Delay between the deletion of a namespace and the deletion of its content. Replicas of
 * kube-apiserver on the same database can still create objects in the namespace until their caches
 * contain the deletion. Replicas of Keelson cannot, because they check the namespace in the
 * transaction that stores an object. kube-controller-manager waits 5 s, because its informers lag
 * further behind.
 */
const REPLICAS_MS = 2_000
/**
 * First delay before the remaining objects are checked again. The delay doubles, up to about half
 * of the time until these objects are expected to be gone.
 */
const LEFT_MS_FIRST = 500
/**
 * Maximum number of attempts if other clients write the status or the finalizers at the same time.
 */
const WRITE_TRIES = 5

const finalizer = 'kubernetes'

export type NamespaceControllerOptions = {
  readonly handle: Handler
  readonly registry: Registry
  readonly accessOf: CacheAccessOf
  /** Whether other processes can use the same database. */
  readonly hasReplicas: boolean
  readonly metrics: QueueMetrics
  readonly gates: Gates
  readonly clock: Clock
  readonly log: Log
  /** Clock and timers. Defaults to the system clock and timers. */
  readonly time?: Time
  /**
   * Returns the resources of remote API servers, whose objects are also deleted. Absent if there
   * are no remote servers.
   */
  readonly remote?: (() => RemoteContent) | undefined
}

type Ending = {
  /** The uid of the namespace. It distinguishes the namespace from a new one with the same name. */
  readonly uid: string
  /**
   * Time on the monotonic clock until which replicas of kube-apiserver can still create objects in
   * the namespace.
   */
  readonly beginMs: number
  /** Delay before the next check if objects remain. */
  waitMs: number
}

export class NamespaceController implements AsyncDisposable {
  readonly #options: NamespaceControllerOptions
  readonly #stopping = new AbortController()
  readonly #queue: WorkQueue
  readonly #informer: Informer<string> | undefined
  readonly #resource: Resource | undefined
  readonly #now: () => string
  /** Namespaces that are being deleted, by name. */
  readonly #ending = new Map<string, Ending>()

  constructor(options: NamespaceControllerOptions) {
    const { registry, accessOf, metrics, clock, log, time = systemTime } = options
    this.#options = options
    this.#now = createNow(clock.wallMs)
    this.#queue = new WorkQueue({
      name: 'the deletion of a namespace',
      workersMax: NAMESPACES_MAX,
      work: (name) => this.#work(name),
      log,
      timers: time,
      measured: { metrics, as: 'namespace', monotonicMs: clock.monotonicMs },
    })
    this.#resource = registry.find({ group: '', version: 'v1', plural: 'namespaces' })
    if (this.#resource === undefined) return
    const { keys, reader } = accessOf(this.#resource)
    this.#informer = new Informer<string>({
      isBackground: true,
      name: 'namespaces',
      reader,
      range: keys.range(),
      read: (item) => endingUid(headOf(item)),
      set: (key, uid = '') => this.#set(key.slice(keys.prefix.length), uid),
      known: () => Array.from(this.#ending.keys(), (name) => keys.key(undefined, name)),
      log,
      time,
    })
    // The promise returned by `start` never rejects, so it need not be awaited here.
    void this.#informer.start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await Promise.all([this.#informer?.[Symbol.asyncDispose](), this.#queue[Symbol.asyncDispose]()])
  }

  /**
   * Records the state of a namespace. `uid` is its uid if it is being deleted, and otherwise empty.
   */
  #set(name: string, uid: string): void {
    if (uid === '') this.#ending.delete(name)
    else if (this.#ending.get(name)?.uid !== uid) {
      const { clock, hasReplicas } = this.#options
      const delayMs = hasReplicas ? REPLICAS_MS : 0
      this.#ending.set(name, { uid, beginMs: clock.monotonicMs() + delayMs, waitMs: LEFT_MS_FIRST })
      if (delayMs === 0) this.#queue.add(name)
      else this.#queue.addAfter(name, delayMs)
    }
  }

  /**
   * Processes a namespace once. Returns a delay in milliseconds if objects remain and the namespace
   * must be checked again.
   */
  async #work(name: string): Promise<number | undefined> {
    const namespace = await this.#read(name)
    if (namespace === undefined || namespace.metadata.deletionTimestamp === undefined)
      return undefined
    if (finalizersOf(namespace).length === 0) return undefined
    const {
      handle,
      registry,
      accessOf,
      gates,
      clock,
      log,
      time = systemTime,
      remote,
    } = this.#options
    const ending = this.#ending.get(name)
    // The watch has not reported the deletion of this namespace yet. When it does, the namespace is
    // queued.
    if (ending === undefined || ending.uid !== namespace.metadata.uid) return undefined
    const earlyMs = ending.beginMs - clock.monotonicMs()
    if (earlyMs > 0) return earlyMs
    const { signal } = this.#stopping
    const isEnding = async (): Promise<boolean> => {
      const { uid, deletionTimestamp } = (await this.#read(name))?.metadata ?? {}
      return uid === namespace.metadata.uid && deletionTimestamp !== undefined
    }
    const podsFirst = gates.isOn('OrderedNamespaceDeletion')
    const { wallMs } = clock
    const parts = {
      handle,
      registry,
      accessOf,
      isEnding,
      podsFirst,
      wallMs,
      time,
      signal,
      remote: remote?.(),
    }
    const deleted = await deleteContent(namespace, parts)
    if (signal.aborted) return undefined
    const { estimateSeconds, undiscovered = [] } = deleted
    // An unreachable server may have objects in the namespace, so the namespace is kept.
    const faults =
      undiscovered.length === 0
        ? deleted.faults
        : [undiscoveredText(undiscovered), ...deleted.faults]
    const isDone = faults.length === 0 && estimateSeconds === 0
    // If nothing is left and no other finalizer exists, the next write removes the namespace, so
    // conditions are not needed.
    if (!isDone || !isLast(namespace)) {
      await this.#change(namespace, 'status', (current) =>
        withConditions(current, deleted, this.#now()),
      ).catch((error: unknown) =>
        log('warn', 'failed to write the conditions of a namespace', {
          name,
          error: String(error),
        }),
      )
    }
    if (faults.length > 0) throw new Error(faults.join(', '))
    if (!isDone) return nextWait(ending, estimateSeconds)
    await this.#change(namespace, 'finalize', withoutFinalizer)
    return undefined
  }

  async #read(name: string): Promise<KubeObject | undefined> {
    if (this.#resource === undefined) return undefined
    const { keys, reader } = this.#options.accessOf(this.#resource)
    return (await reader.get(keys.key(undefined, name), 'latest')).item?.object()
  }

  /**
   * Writes a part of the namespace, unless the namespace no longer exists or `decide` returns
   * undefined.
   */
  async #change(
    { metadata: { uid, name = '' } }: KubeObject,
    subresource: 'status' | 'finalize',
    decide: (namespace: KubeObject) => KubeObject | undefined,
  ): Promise<void> {
    for (let tries = 0; tries < WRITE_TRIES; tries++) {
      const namespace = await this.#read(name)
      const body = namespace?.metadata.uid === uid ? namespace && decide(namespace) : undefined
      if (body === undefined || this.#resource === undefined) return
      const path = `${objectPath(this.#resource, undefined, name)}/${subresource}`
      const { signal } = this.#stopping
      const response = await request(this.#options.handle, { method: 'PUT', path, body, signal })
      if (outcomeOrThrow(path, response) === 'done') return
    }
    throw new Error(
      `writing the ${subresource} of namespace ${name} failed because of too many conflicts`,
    )
  }
}

const endingUid = ({ uid, isMarked }: ObjectHead): string => (isMarked ? uid : '')

function nextWait(ending: Ending, estimateSeconds: number): number {
  const wait = ending.waitMs
  ending.waitMs *= 2
  return Math.min(wait, 1000 * (Math.floor(estimateSeconds / 2) + 1))
}

const finalizersOf = (namespace: KubeObject): readonly string[] =>
  textsOf(fieldsOf(namespace['spec'])['finalizers'])

/** Whether this controller's finalizer is the only one left. */
const isLast = (namespace: KubeObject): boolean =>
  finalizersOf(namespace).every((one) => one === finalizer) &&
  (namespace.metadata.finalizers ?? []).length === 0

function withoutFinalizer(namespace: KubeObject): KubeObject | undefined {
  const finalizers = finalizersOf(namespace)
  if (!finalizers.includes(finalizer)) return undefined
  const rest = finalizers.filter((one) => one !== finalizer).toSorted()
  return { ...namespace, spec: { ...fieldsOf(namespace['spec']), finalizers: rest } }
}

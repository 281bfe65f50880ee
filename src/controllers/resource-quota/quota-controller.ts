/**
 * The resourcequota-controller. It writes the limits of each quota, and the usage of the objects in
 * its namespace, to the status of the quota. For new objects, the admission plugin increases the
 * usage. The controller counts the usage again when limits change, when objects are deleted or use
 * less, and every five minutes.
 */
import type { Gates } from '../../api/gates.ts'
import { type Fields, fieldsOf, type Json, type KubeObject } from '../../api/object.ts'
import { request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import type { Quantity } from '../../api/quantity.ts'
import {
  isSameList,
  printResourceList,
  readResourceList,
  type ResourceList,
} from '../../api/resource-list.ts'
import type { OpenCharges } from '../../admission/resource-quota/open-charges.ts'
import { Evaluators } from '../../admission/resource-quota/evaluators.ts'
import type { ObjectEvent } from '../../storage/cache/event.ts'
import { contentOf, Informer } from '../../storage/cache/informer.ts'
import { printOrdered } from '../../objects/codec/json.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { orAborted } from '../../lib/concurrency/or-aborted.ts'
import { eachItem, inParts, once } from '../../lib/scheduling/parts.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import { systemTime, systemTimers, type Timer } from '../../lib/time/timers.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Resource } from '../../registry/resource.ts'
import { ChangesInformer } from '../changes-informer.ts'
import type { QueueMetrics } from '../../lib/telemetry/queue-metrics.ts'
import type { CacheAccessOf } from '../cache-access.ts'
import { onRegistryChange } from '../registry-changes.ts'
import type { RemoteApis } from '../remote/remote-content.ts'
import { objectPath, servedResources } from '../served-resources.ts'
import { WorkQueue } from '../../lib/concurrency/work-queue.ts'
import { CountedNames } from './counted-names.ts'
import { RemoteCounts } from './remote-counts.ts'
import { type CountedResource, isSameUse, limitsOf, usageOf } from './usage.ts'
import { outcomeOrThrow, requireChange } from '../write-outcome.ts'

/** Number of workers and resync interval, as in kube-controller-manager. */
const WORKERS_MAX = 5
const RESYNC_MS = 5 * 60_000

export type QuotaControllerOptions = {
  readonly handle: Handler
  readonly registry: Registry
  readonly accessOf: CacheAccessOf
  readonly gates: Gates
  readonly metrics: QueueMetrics
  /** Writes that admission has charged and that have not finished yet. */
  readonly openCharges: OpenCharges
  readonly clock: Clock
  readonly log: Log
  /** Remote API servers, if any. */
  readonly remote?: RemoteApis | undefined
}

/**
 * The last known state of a quota: its namespace, the names of the limited resources, and the
 * limits as text, which shows whether they have changed.
 */
type QuotaEntry = {
  readonly namespace: string
  readonly names: readonly string[]
  readonly limits: string
}

export class QuotaController implements AsyncDisposable {
  readonly #options: QuotaControllerOptions
  readonly #stopping = new AbortController()
  readonly #evaluators: Evaluators
  readonly #queue: WorkQueue
  readonly #resource: Resource | undefined
  readonly #informer: Informer<QuotaEntry> | undefined
  readonly #registryChanges: Disposable
  readonly #resync: Timer
  readonly #quotas = new Map<string, QuotaEntry>()
  /** The keys of the quotas, by namespace. */
  readonly #inNamespace = new Map<string, Set<string>>()
  readonly #names = new CountedNames()
  readonly #changes = new Map<
    string,
    { readonly counted: CountedResource; readonly informer: ChangesInformer }
  >()
  readonly #ending = new Set<Promise<void>>()
  readonly #remote: RemoteCounts | undefined
  readonly #remoteChanges: Disposable | undefined
  #counted: readonly CountedResource[]

  constructor(options: QuotaControllerOptions) {
    const { handle, registry, accessOf, gates, metrics, clock, log, remote } = options
    this.#options = options
    this.#evaluators = new Evaluators(gates, clock)
    this.#queue = new WorkQueue({
      name: 'the status of a quota',
      workersMax: WORKERS_MAX,
      work: (key) => this.#count(key),
      log,
      measured: { metrics, as: 'resourcequota_primary', monotonicMs: clock.monotonicMs },
    })
    this.#counted = this.#countable()
    this.#registryChanges = onRegistryChange(registry, () => {
      this.#counted = this.#countable()
      // `#followChanges` also queues the quotas that limit a resource whose watch it replaces.
      this.#followChanges()
    })
    if (remote !== undefined) {
      const { signal } = this.#stopping
      const onChange = (name: string, namespace: string | undefined): void =>
        this.#addNamed(name, namespace)
      this.#remote = new RemoteCounts({
        apis: remote,
        handle,
        signal,
        log,
        time: systemTime,
        onChange,
      })
      this.#remoteChanges = onRegistryChange(remote, () =>
        this.#remote?.follow(new Set(this.#names.all())),
      )
    }
    this.#resync = systemTimers.every(RESYNC_MS, () => this.#addAll())
    this.#resource = registry.find({ group: '', version: 'v1', plural: 'resourcequotas' })
    if (this.#resource === undefined) return
    const { keys, reader } = accessOf(this.#resource)
    const readQuota = (quota: Fields, key: string, print: (hard: Json) => string): QuotaEntry => {
      const hard = fieldsOf(quota['spec'])['hard']
      const names = once('resources of a quota', () => Object.keys(fieldsOf(hard)))
      return { namespace: keys.parse(key)?.namespace ?? '', names, limits: print(hard ?? null) }
    }
    this.#informer = new Informer<QuotaEntry>({
      isBackground: true,
      name: 'resourcequotas',
      reader,
      range: keys.range(),
      read: (item) => readQuota(contentOf(item), item.key, JSON.stringify),
      readLarge: (object, key) => readQuota(object, key, printOrdered),
      set: (key, known) => this.#set(key, known),
      known: () => this.#quotas.keys(),
      log,
    })
    // The promise returned by `start` never rejects, so it need not be awaited here.
    void this.#informer.start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    this.#resync.close()
    this.#registryChanges[Symbol.dispose]()
    this.#remoteChanges?.[Symbol.dispose]()
    for (const id of [...this.#changes.keys()]) this.#endChanges(id)
    const others = [this.#informer, this.#queue, this.#remote].map((one) =>
      one?.[Symbol.asyncDispose](),
    )
    await Promise.all([...others, ...this.#ending])
  }

  #set(key: string, known: QuotaEntry | undefined): void {
    const before = this.#quotas.get(key)
    if (known === undefined) {
      this.#quotas.delete(key)
      if (before !== undefined) this.#inNamespace.get(before.namespace)?.delete(key)
      if (before !== undefined && this.#inNamespace.get(before.namespace)?.size === 0) {
        this.#inNamespace.delete(before.namespace)
      }
    } else {
      this.#quotas.set(key, known)
      const others = this.#inNamespace.get(known.namespace) ?? new Set<string>()
      this.#inNamespace.set(known.namespace, others.add(key))
    }
    // Ignore changes that leave the limits as they are, such as a write of the status.
    if (before?.limits === known?.limits) return
    if (this.#names.change(before?.names ?? [], known?.names ?? [])) this.#followChanges()
    if (known !== undefined) this.#queue.add(key)
  }

  #addAll(): void {
    for (const key of this.#quotas.keys()) this.#queue.add(key)
  }

  #countable(): CountedResource[] {
    const { registry, accessOf } = this.#options
    const resources = servedResources(registry, ['create', 'list', 'watch', 'delete'])
    return resources.flatMap((resource) => {
      const evaluator = resource.isNamespaced ? this.#evaluators.of({ resource }) : undefined
      if (evaluator === undefined) return []
      const { keys, reader } = accessOf(resource)
      return [{ resource, keys, reader, evaluator }]
    })
  }

  /** Watches the resources that quotas limit, and no others. */
  #followChanges(): void {
    if (this.#stopping.signal.aborted) return
    const names = [...this.#names.all()]
    this.#remote?.follow(new Set(names))
    const wanted = new Map(
      this.#counted
        // Bounded: only administrators create quotas, so there are few names to search
        .filter(({ evaluator }) => names.some(evaluator.measures))
        .map((counted) => [counted.keys.prefix, counted]),
    )
    for (const [id, { counted }] of this.#changes)
      if (wanted.get(id)?.reader !== counted.reader) this.#endChanges(id)
    for (const [id, counted] of wanted) {
      if (this.#changes.has(id)) continue
      const informer = new ChangesInformer({
        name: `${counted.resource.plural} of quotas`,
        access: counted,
        onChange: (change) => this.#onChange(counted, change),
        onStart: () => this.#addLimiting(this.#quotas.keys(), counted),
        log: this.#options.log,
      })
      this.#changes.set(id, { counted, informer })
    }
  }

  #endChanges(id: string): void {
    const informer = this.#changes.get(id)?.informer
    this.#changes.delete(id)
    if (informer === undefined) return
    const ending = informer[Symbol.asyncDispose]().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }

  /**
   * Queues the quotas whose usage may have changed. Created objects are ignored: the admission
   * plugin has already added their usage. A count at this moment could miss other objects that were
   * added to the usage but are not stored yet.
   */
  #onChange(counted: CountedResource, { type, item, previous }: ObjectEvent): void {
    if (type === 'ADDED') return
    const quotas = this.#inNamespace.get(counted.keys.parse(item.key)?.namespace ?? '')
    if (
      quotas === undefined ||
      (type === 'MODIFIED' && previous !== undefined && isSameUse(counted, previous, item))
    )
      return
    this.#addLimiting(quotas, counted)
  }

  #addLimiting(quotas: Iterable<string>, { evaluator }: CountedResource): void {
    for (const key of quotas)
      if (this.#quotas.get(key)?.names.some(evaluator.measures) === true) this.#queue.add(key)
  }

  #addNamed(name: string, namespace: string | undefined): void {
    const quotas =
      namespace === undefined ? this.#quotas.keys() : (this.#inNamespace.get(namespace) ?? [])
    for (const key of quotas)
      if (this.#quotas.get(key)?.names.includes(name) === true) this.#queue.add(key)
  }

  async #count(key: string): Promise<undefined> {
    if (this.#resource === undefined) return undefined
    const { keys, reader } = this.#options.accessOf(this.#resource)
    // Read the quota first: if a charge is added after this point, the write below fails, and the
    // quota is counted again.
    const quota = await (await reader.get(key, 'latest')).item?.objectInParts()
    const place = keys.parse(key)
    if (quota === undefined || place === undefined) return undefined
    // Wait until the objects of earlier charges are stored. An object that is charged but not
    // counted would allow another object to use the same amount.
    await orAborted(this.#options.openCharges.settled(place.namespace ?? ''), this.#stopping.signal)
    const slices = new Slices(systemTime, { isBackground: true, isExpensive: true })
    const limits = await inParts(() => limitsOf(quota), slices)
    const remote = this.#remote?.usageOf(quota, limits.keys()) ?? new Map()
    const counted = await usageOf(quota, limits, this.#counted)
    const body = await inParts(() => updateOf(quota, limits, [remote, counted]), slices)
    if (body === undefined) return undefined
    const path = `${objectPath(this.#resource, place.namespace, place.name)}/status`
    const { signal } = this.#stopping
    const response = await request(this.#options.handle, { method: 'PUT', path, body, signal })
    if (outcomeOrThrow(path, response) === 'done') return undefined
    const now = (await reader.get(key, 'latest')).item
    requireChange(path, quota.metadata.resourceVersion, now && String(now.revision))
    this.#queue.add(key)
    return undefined
  }
}

/**
 * Returns the JSON of the quota with its new status, or undefined if the status is already right.
 * The usage of a resource comes from the first list in `counts` that contains this resource. If no
 * list contains the resource, its usage comes from the old status. With `inParts`, this work can be
 * divided into parts.
 */
function updateOf(
  quota: KubeObject,
  limits: ResourceList,
  counts: readonly ResourceList[],
): Buffer | undefined {
  const status = fieldsOf(quota['status'])
  const lists = [...counts, readResourceList(status['used'])]
  const names = once('limited resources', () => [...limits.keys()])
  const used = eachItem('used amounts', names, newUsage, (amounts, name) => {
    const amount = lists.find((list) => list.has(name))?.get(name)
    if (amount !== undefined) amounts.set(name, amount)
    return true
  })
  if (isCurrent(status['hard'], limits) && isCurrent(status['used'], used)) return undefined
  const body = {
    ...quota,
    status: { hard: printResourceList(limits), used: printResourceList(used) },
  }
  return Buffer.from(printOrdered(body))
}

const newUsage = (): Map<string, Quantity> => new Map()

const isCurrent = (stored: Json | undefined, list: ResourceList): boolean =>
  stored !== undefined && isSameList(readResourceList(stored), list)

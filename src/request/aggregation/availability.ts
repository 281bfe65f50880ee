/**
 * Keeps the Available condition of APIServices up to date. A remote server is checked when its
 * APIService, Service or endpoints change. It is also checked every 30 seconds, because the network
 * between the servers can fail without such a change. An APIService of this server is always
 * available.
 */
import { type Fields, fieldsOf, itemsOf, type KubeObject, textOf } from '../../api/object.ts'
import { objectOf, request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import { createNow } from '../../api/timestamps.ts'
import type { InformerAccess } from '../../storage/cache/informer-by-name.ts'
import { Informer } from '../../storage/cache/informer.ts'
import { WorkQueue } from '../../lib/concurrency/work-queue.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Timers } from '../../lib/time/timers.ts'
import type { ServiceReference } from '../../net/outbound/service-address.ts'
import {
  type EndpointsSource,
  type GetEndpoints,
  serviceLabel,
} from '../../net/outbound/service-endpoints.ts'
import type { ApiService, Condition } from './api-service.ts'
import type { ApiServicesInformer, RegisteredApiService } from './api-services.ts'
import { serviceFault } from './check-service.ts'
import type { AvailabilityMetrics } from './metrics.ts'
import { Prober } from './probe.ts'
import type { Remote, RemoteOptions } from './remote.ts'

/** Interval between checks of a remote server, as in kube-apiserver. */
const CHECK_MS = 30_000
/**
 * Delay before a check after another server wrote a different condition. If another server does
 * this again within `CALM_MS`, the delay doubles.
 */
const CONTESTED_MS = 1_000
const CALM_MS = 120_000
/** Maximum number of concurrent checks, as in kube-apiserver. */
const WORKERS_MAX = 5

export type AvailabilityOptions = Pick<
  RemoteOptions,
  'clientCertificate' | 'dial' | 'getService'
> & {
  readonly apiServices: ApiServicesInformer
  readonly getEndpoints: GetEndpoints
  readonly endpointsSource: EndpointsSource
  /** Returns what an informer needs to watch a resource. Undefined if it is not served. */
  readonly accessOf: (plural: 'services' | EndpointsSource) => InformerAccess | undefined
  readonly handle: Handler
  readonly metrics: AvailabilityMetrics
  readonly clock: Clock
  readonly log: Log
}

export class Availability implements AsyncDisposable {
  readonly #options: AvailabilityOptions
  readonly #prober: Prober
  readonly #queue: WorkQueue
  readonly #stopping = new AbortController()
  /** Names of the APIServices that reference a Service, keyed by Service. */
  readonly #byService = new Map<string, Set<string>>()
  readonly #serviceOf = new Map<string, string>()
  /** The result of the last check, by name of the APIService. */
  readonly #decided = new Map<
    string,
    { readonly remote: Remote | undefined; readonly condition: Condition }
  >()
  /**
   * Delayed checks of APIServices whose condition another server has overwritten, keyed by the name
   * of the APIService. `ms` is the length of the last delay.
   */
  readonly #contested = new Map<
    string,
    { readonly timer: NodeJS.Timeout | undefined; readonly ms: number; readonly atMs: number }
  >()
  /** The last resourceVersion that this server wrote, by name of the APIService. */
  readonly #written = new Map<string, string>()
  /**
   * Informers of Services and endpoints. They are created when the first remote server is
   * registered.
   */
  #informer: readonly (Informer<true> | Informer<string>)[] = []
  #forget: (() => void) | undefined

  constructor(options: AvailabilityOptions, timers?: Timers) {
    this.#options = options
    const { clientCertificate, dial, log } = options
    this.#prober = new Prober(clientCertificate, dial)
    this.#queue = new WorkQueue({
      name: 'the availability of API servers',
      workersMax: WORKERS_MAX,
      work: (name) => this.#check(name),
      log,
      ...(timers === undefined ? {} : { timers }),
    })
  }

  start(): this {
    this.#forget = this.#options.apiServices.onChange((name, known) => this.#changed(name, known))
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#forget?.()
    for (const { timer } of this.#contested.values()) clearTimeout(timer)
    this.#stopping.abort()
    await this.#queue[Symbol.asyncDispose]()
    await Promise.all(this.#informer.map((one) => one[Symbol.asyncDispose]()))
    this.#prober[Symbol.dispose]()
  }

  #changed(name: string, known: RegisteredApiService | undefined): void {
    this.#index(name, known?.service.remote?.service)
    if (known?.remote !== undefined && this.#informer.length === 0) this.#follow()
    // Ignore the event that this server's own write caused.
    if (known !== undefined && this.#written.get(name) === known.service.resourceVersion) return
    const decided = this.#decided.get(name)
    const isContested =
      known !== undefined &&
      decided !== undefined &&
      decided.remote === known.remote &&
      !isSame(decided.condition, known.service.condition)
    if (isContested) this.#checkLater(name)
    else this.#queue.add(name)
  }

  /**
   * Checks an APIService after a delay. Without the delay, servers that compute different
   * conditions would continuously overwrite each other's conditions.
   */
  #checkLater(name: string): void {
    const before = this.#contested.get(name)
    if (before?.timer !== undefined) return
    const nowMs = this.#options.clock.monotonicMs()
    const isRepeated = before !== undefined && nowMs - before.atMs < CALM_MS
    const ms = isRepeated ? Math.min(before.ms * 2, CHECK_MS) : CONTESTED_MS
    const timer = setTimeout(() => {
      this.#contested.set(name, { timer: undefined, ms, atMs: this.#options.clock.monotonicMs() })
      this.#queue.add(name)
    }, ms).unref()
    this.#contested.set(name, { timer, ms, atMs: nowMs })
  }

  #index(name: string, place: ServiceReference | undefined): void {
    const key = place && `${place.namespace}/${place.name}`
    const before = this.#serviceOf.get(name)
    if (before === key) return
    if (before !== undefined) {
      const others = this.#byService.get(before)
      others?.delete(name)
      if (others?.size === 0) this.#byService.delete(before)
      this.#serviceOf.delete(name)
    }
    if (key === undefined) return
    this.#serviceOf.set(name, key)
    const all = this.#byService.get(key) ?? new Set<string>()
    this.#byService.set(key, all.add(name))
  }

  #follow(): void {
    const { endpointsSource } = this.#options
    this.#informer = [
      ...this.#followNamed('services'),
      ...(endpointsSource === 'endpoints'
        ? this.#followNamed(endpointsSource)
        : this.#followSlices(endpointsSource)),
    ]
    // Informers never reject: they log errors and retry.
    for (const one of this.#informer) void one.start()
  }

  /** Follows objects that have the name of the Service. */
  #followNamed(name: 'services' | 'endpoints'): Informer<true>[] {
    const { accessOf, log } = this.#options
    const access = accessOf(name)
    if (access === undefined) return []
    const { keys, reader } = access
    const range = keys.range()
    const set = (key: string): void => this.#checkService(key.slice(keys.prefix.length))
    return [
      new Informer<true>({ name, reader, range, read: () => true, set, known: () => [], log }),
    ]
  }

  #followSlices(name: EndpointsSource): Informer<string>[] {
    const { accessOf, log } = this.#options
    const access = accessOf(name)
    if (access === undefined) return []
    const services = new Map<string, string>()
    return [
      new Informer<string>({
        name,
        reader: access.reader,
        range: access.keys.range(),
        read: (item) => serviceOfSlice(item.peek()),
        readLarge: serviceOfSlice,
        set: (key, service) => {
          const before = services.get(key)
          if (service === undefined) services.delete(key)
          else services.set(key, service)
          for (const one of new Set([before, service])) this.#checkService(one ?? '')
        },
        known: () => services.keys(),
        log,
      }),
    ]
  }

  #checkService(service: string): void {
    for (const name of this.#byService.get(service) ?? []) this.#queue.add(name)
  }

  async #check(name: string): Promise<number | undefined> {
    const { apiServices, metrics } = this.#options
    const known = apiServices.get(name)
    if (known === undefined) {
      this.#written.delete(name)
      this.#decided.delete(name)
      clearTimeout(this.#contested.get(name)?.timer)
      this.#contested.delete(name)
      metrics.forget(name)
      return undefined
    }
    const { service, remote } = known
    const condition = remote === undefined ? isLocal : await this.#conditionOf(service, remote)
    if (this.#stopping.signal.aborted) return undefined
    this.#decided.set(name, { remote, condition })
    metrics.seen(name, condition)
    if (!isSame(condition, service.condition)) await this.#write(service, condition)
    return remote === undefined ? undefined : CHECK_MS
  }

  async #conditionOf(service: ApiService, remote: Remote): Promise<Condition> {
    const { getService, getEndpoints } = this.#options
    const { service: place } = remote.spec
    const { namespace, name } = place
    const found = await getService(namespace, name)
    const fault = await serviceFault(place, found, () => getEndpoints(namespace, name))
    if (fault !== undefined) return fault
    const why = await this.#prober.fault(service, () => remote.resolve(), this.#stopping.signal)
    return why === undefined
      ? passed
      : { status: 'False', reason: 'FailedDiscoveryCheck', message: why }
  }

  /** Writes the condition. If the write fails, the promise rejects and the check is retried. */
  async #write({ name }: ApiService, condition: Condition): Promise<void> {
    const { handle, clock, log, metrics } = this.#options
    const path = `/apis/apiregistration.k8s.io/v1/apiservices/${name}`
    const { signal } = this.#stopping
    const read = await request(handle, { method: 'GET', path, signal })
    if (read.status === NOT_FOUND) return
    if (read.status !== OK) throw new Error(`${path} cannot be read: status ${read.status}`)
    const { metadata, status } = fieldsOf(objectOf(read))
    const conditions = itemsOf(fieldsOf(status)['conditions'])
    const before = conditions.find(({ type }) => type === 'Available')
    const since =
      before?.['status'] === condition.status
        ? before['lastTransitionTime']
        : createNow(clock.wallMs)()
    const after: Fields = { type: 'Available', ...condition, lastTransitionTime: since }
    const { resourceVersion } = fieldsOf(metadata)
    const written = await request(handle, {
      method: 'PATCH',
      path: `${path}/status`,
      isMergePatch: true,
      body: {
        metadata: { resourceVersion },
        status: { conditions: [...conditions.filter((one) => one !== before), after] },
      },
      signal,
    })
    if (written.status === NOT_FOUND) return
    if (written.status !== OK)
      throw new Error(`${path}/status cannot be written: status ${written.status}`)
    this.#written.set(
      name,
      textOf(fieldsOf(fieldsOf(objectOf(written))['metadata'])['resourceVersion']),
    )
    if (isSame(condition, readCondition(before))) return
    const { status: now, reason, message: why } = condition
    log('info', 'the availability of an APIService changed', { name, status: now, reason, why })
    if (before?.['status'] === 'True' && condition.status !== 'True') metrics.lost(name, condition)
  }
}

/** Returns the namespace and name of the Service of an EndpointSlice. */
const serviceOfSlice = ({ metadata }: KubeObject): string =>
  `${metadata.namespace ?? ''}/${metadata.labels?.[serviceLabel] ?? ''}`

const OK = 200
const NOT_FOUND = 404

const isLocal: Condition = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
}
const passed: Condition = { status: 'True', reason: 'Passed', message: 'all checks passed' }

const readCondition = (found: Fields | undefined): Condition | undefined =>
  found && {
    status: textOf(found['status']),
    reason: textOf(found['reason']),
    message: textOf(found['message']),
  }

const isSame = (one: Condition, other: Condition | undefined): boolean =>
  one.status === other?.status && one.reason === other.reason && one.message === other.message

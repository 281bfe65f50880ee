import type { Handler } from '../api/request.ts'
import type { Objects } from '../api/object-access.ts'
import { createNow } from '../api/timestamps.ts'
import type { Config } from '../config/config.ts'
import { assert } from '../lib/errors.ts'
import type { Verbosity } from '../lib/telemetry/verbosity.ts'
import type { Egress } from '../net/egress/dialer.ts'
import type { EndpointRouting, GetService, WebhookClientOptions } from '../net/outbound/call.ts'
import { createGetEndpoints, type GetEndpoints } from '../net/outbound/service-endpoints.ts'
import { ReceivedAnswers } from '../net/outbound/received.ts'
import { PatternThread } from '../objects/cel/pattern-thread.ts'
import { YamlConverter } from '../objects/codec/yaml.ts'
import { builtInResources } from '../registry/built-in.ts'
import { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import type { Access, AccessOf, ResourceAccess } from '../request/resource-access.ts'
import { createSystemObjects } from '../request/verbs/system-objects.ts'
import type { Cache } from '../storage/cache/cache.ts'
import type { MeasuredEngine } from '../storage/measured-engine.ts'
import type { Store } from '../storage/store.ts'
import type { Environment } from './environment.ts'
import type { PlaneMetrics } from './plane-metrics.ts'

/** The storage of a control plane's objects. */
export type PlaneStorage = {
  readonly cache: Cache
  readonly store: Store
  /**
   * Returns the separate database that stores the objects of the resource. Returns undefined if the
   * main database stores them.
   */
  readonly overrideOf: (
    resource: Resource,
  ) => { readonly cache: Cache; readonly store: Store } | undefined
  /** The metrics of the requests to the main database. */
  readonly requestCounts: Pick<MeasuredEngine, 'measureOnly' | 'forget'>
}

export type PlaneCoreOptions = {
  readonly config: Config
  readonly environment: Environment & { readonly verbosity: Verbosity }
  readonly storage: PlaneStorage
  readonly egress: Egress
  readonly metrics: PlaneMetrics
  /** Maximum number of bytes that all requests together may hold in memory. */
  readonly requestBytes: number
}

/**
 * The core of a control plane: configuration, storage, registry, and internal access to objects.
 * All subsystems of the control plane share it.
 */
export class PlaneCore implements AsyncDisposable {
  readonly config: Config
  readonly environment: PlaneCoreOptions['environment']
  readonly storage: PlaneStorage
  readonly egress: Egress
  readonly metrics: PlaneMetrics
  readonly registry: Registry
  /** Reads and writes objects for the server itself. */
  readonly objects: Objects
  /** Options for calls to webhooks. */
  readonly calls: WebhookClientOptions & { readonly routing: EndpointRouting | undefined }
  readonly getEndpoints: GetEndpoints
  readonly yaml: YamlConverter
  readonly patterns = new PatternThread()
  #access: ResourceAccess | undefined
  #handle: Handler | undefined

  constructor({ config, environment, storage, egress, metrics, requestBytes }: PlaneCoreOptions) {
    this.config = config
    this.environment = environment
    this.storage = storage
    this.egress = egress
    this.metrics = metrics
    this.registry = createRegistry(config, environment, metrics)
    this.objects = createSystemObjects(this.registry, this.accessOf)
    const { random } = environment
    const getService: GetService = (namespace, name) =>
      this.objects.get(servicesId, { namespace, name }, 'any')
    this.getEndpoints = createGetEndpoints(this.objects, config.release)
    const routing = config.aggregation.callsEndpoints
      ? { getEndpoints: this.getEndpoints, random }
      : undefined
    this.calls = { getService, routing, received: new ReceivedAnswers(), dials: egress }
    this.yaml = new YamlConverter(requestBytes)
  }

  /**
   * Connects the subsystems after all of them are built, because they depend on each other.
   * Admission and access control read objects through the same resource access that they protect.
   * They also send requests to the pipeline that contains them.
   */
  connect({ access, handle }: { readonly access: ResourceAccess; readonly handle: Handler }): void {
    this.#access = access
    this.#handle = handle
  }

  readonly accessOf: AccessOf = (resource) => {
    assert(this.#access !== undefined, 'the control plane is connected before it reads objects')
    return this.#access.of(resource)
  }

  /**
   * Returns access to a resource of the API group by the name of the resource. Returns undefined if
   * the resource is not served.
   */
  accessIn(group: string, version = 'v1'): (plural: string) => Access | undefined {
    return (plural) => {
      const resource = this.registry.find({ group, version, plural })
      return resource && this.accessOf(resource)
    }
  }

  /** Handles requests of the server to itself. */
  readonly handle: Handler = (request, user) => {
    assert(this.#handle !== undefined, 'the control plane is connected before it makes requests')
    return this.#handle(request, user)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.yaml[Symbol.asyncDispose](), this.patterns[Symbol.asyncDispose]()])
  }
}

const servicesId = { group: '', version: 'v1', plural: 'services' } as const

const createRegistry = (
  { release, admission, storage, cluster, featureGates, runtime }: Config,
  { clock }: Environment,
  { declarative }: PlaneMetrics,
): Registry =>
  new Registry(
    builtInResources({
      allowsPrivileged: admission.allowsPrivileged,
      storedAs: storage.media,
      ipFamily: cluster.services.ranges[0]?.family ?? 'IPv4',
      gates: featureGates,
      isServed: runtime.isServed,
      now: createNow(clock.wallMs),
      declarative,
    }),
    release,
  )

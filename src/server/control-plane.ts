/**
 * Builds one control plane: the resources that it serves, the storage of their objects, and access
 * control. A process can have any number of control planes on one database, each with its own key
 * prefix. No state is global.
 */
import type { Handler } from '../api/request.ts'
import type { ClientAuthorities } from '../access/authentication/client-authorities.ts'
import type { ConfiguredAuthorizers } from '../access/authorization/configured.ts'
import type { OpenCharges } from '../admission/resource-quota/open-charges.ts'
import type { CacheAccess } from '../controllers/cache-access.ts'
import type { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import type { ServiceAllocators } from '../request/allocators/create-allocators.ts'
import type { FlowControl } from '../request/flow/flow-control.ts'
import type { Fillable } from '../storage/cache/first-fill.ts'
import { buildAccess, type TokenOptions } from './access/build-access.ts'
import { buildAdmission } from './admission/build-admission.ts'
import {
  type Aggregation,
  type AggregationOptions,
  buildAggregation,
} from './aggregation/build-aggregation.ts'
import { PlaneCore, type PlaneCoreOptions } from './plane-core.ts'
import { buildFlowControl } from './request/build-flow-control.ts'
import { buildPipeline, type ServerHooks } from './request/build-pipeline.ts'
import { buildCrds, buildResources } from './resources/build-resources.ts'
import type { StoreRoles } from './resources/informed-writes.ts'

export type ControlPlaneOptions = {
  readonly core: PlaneCoreOptions
  readonly tokens: TokenOptions
  readonly aggregation: AggregationOptions
  readonly hooks: ServerHooks
}

/**
 * Result of a start. `graphFilled` resolves when the node authorizer has read all pods. It is
 * undefined if the node authorizer is not configured.
 */
export type StartedPlane = { readonly graphFilled: Promise<void> | undefined }

export type ControlPlane = AsyncDisposable & {
  readonly handle: Handler
  /**
   * Resolves when the control plane has read everything that it needs to process requests: roles,
   * policies, webhooks, APIServices and custom resources. Until then, it can serve only health
   * checks and similar requests (DegradedApi).
   */
  readonly start: () => Promise<StartedPlane>
  /**
   * Starts API Priority and Fairness. Never rejects. Can be called at any time; until then,
   * requests use the mandatory priority levels.
   */
  readonly startFlowControl: () => Promise<void>
  /** API Priority and Fairness. Undefined if only the number of requests is limited. */
  readonly flowControl: FlowControl | undefined
  /** Whether the node authorizer has read all pods. True if there is no node authorizer. */
  readonly isFilled: () => boolean
  readonly aggregation: Aggregation
  readonly authorizers: ConfiguredAuthorizers
  /** The CAs of client certificates, which are replaced when their files change. */
  readonly authorities: ClientAuthorities
  /** Writes that were charged to quotas and have not finished. */
  readonly openCharges: OpenCharges
  readonly registry: Registry
  /**
   * Returns read access for controllers to the objects of a resource. If a webhook converts the
   * objects, they are read in the storage version.
   */
  readonly readAccessOf: (resource: Resource) => CacheAccess
  readonly allocation: ServiceAllocators
  readonly storeRoles: StoreRoles
  /** The resources that can be loaded into the cache before they are requested. */
  readonly fillable: () => Fillable[]
}

export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const core = new PlaneCore(options.core)
  const flow = buildFlowControl(core)
  const accessControl = buildAccess(core, options.tokens)
  const admission = buildAdmission(core, accessControl.authorize)
  const aggregation = buildAggregation(core, options.aggregation)
  const resources = buildResources(core, accessControl, admission)
  const { access, allocation, storeRoles } = resources
  const flowControl = flow?.flowControl
  const systems = { accessControl, aggregation, flowControl, access }
  const handle = buildPipeline(core, systems, options.hooks)
  core.connect({ access, handle })
  const crds = buildCrds(core, access)
  aggregation.apiServices.onChange((name, known) => {
    const [version = '', group = ''] = name.split(/\.(.*)/s)
    if (known === undefined) crds?.announceAgain(group, version)
  })
  const { nodes } = accessControl
  const owned = new AsyncDisposableStack()
  for (const one of [core, accessControl, admission, aggregation]) owned.use(one)
  const start = async (): Promise<StartedPlane> => {
    await Promise.all([accessControl.start(), admission.start(), aggregation.start()])
    // If the start of the server has failed in the meantime, do not start further components.
    if (owned.disposed) throw new Error('the control plane was stopped while it started')
    // Resolves when the graph of the node authorizer is complete, and never rejects. This takes
    // seconds if there are many pods. Until then, the server is not ready, and a node is denied
    // access to objects that are not in the graph.
    const graphFilled = nodes?.start()
    if (crds !== undefined) await owned.use(crds).start()
    return { graphFilled }
  }
  return {
    handle,
    start,
    startFlowControl: async () => {
      if (flow !== undefined) await owned.use(flow).start()
    },
    flowControl,
    isFilled: () => nodes?.isFilled !== false,
    aggregation,
    authorizers: accessControl.authorizers,
    authorities: accessControl.authenticators.authorities,
    openCharges: admission.openCharges,
    registry: core.registry,
    readAccessOf: (resource) => access.ofStored(resource.versions.converted?.() ?? resource),
    allocation,
    storeRoles,
    fillable: () => access.fillable(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

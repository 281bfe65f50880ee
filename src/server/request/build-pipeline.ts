/** Builds the request pipeline of a control plane. */
import type { Handler } from '../../api/request.ts'
import type { KubeObject } from '../../api/object.ts'
import { reviewedToken } from '../../access/authentication/bearer-token.ts'
import { explainAccess, hintsFor } from '../../access/authorization/why.ts'
import { type KnownResources, readWhyQuery } from '../../access/authorization/why-query.ts'
import { assert } from '../../lib/errors.ts'
import { named } from '../../lib/telemetry/log.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Audit } from '../../request/audit/audit.ts'
import type { DocumentsOptions, Documents } from '../../request/discovery/documents.ts'
import { createDispatch, type Dispatch } from '../../request/dispatch.ts'
import { Cors } from '../../request/filters/cors.ts'
import { InFlight } from '../../request/filters/in-flight.ts'
import { dumpFlows } from '../../request/flow/dump.ts'
import type { FlowControl } from '../../request/flow/flow-control.ts'
import { createPipeline, type PipelineOptions } from '../../request/pipeline.ts'
import type { ResourceAccess } from '../../request/resource-access.ts'
import { SlowRequests } from '../../request/slow-requests.ts'
import type { Traces } from '../../request/tracing/tracing.ts'
import { createHandlers } from '../../request/verbs/subresources/all.ts'
import type { SubresourceAccess } from '../../request/verbs/subresources/handler.ts'
import type { AccessControl } from '../access/build-access.ts'
import type { Aggregation } from '../aggregation/build-aggregation.ts'
import type { PlaneCore } from '../plane-core.ts'

/** Functions that requests need. The server that contains the control plane provides them. */
export type ServerHooks = {
  /** Traces requests. Undefined if tracing is disabled. */
  readonly traces: Traces | undefined
  /** The audit log. Undefined if auditing is disabled. */
  readonly audit: Audit | undefined
  readonly server: PipelineOptions['server']
  /** Checks the components of the cluster, and returns ComponentStatuses. */
  readonly readComponents: () => Promise<readonly KubeObject[]>
  /**
   * Creates the discovery documents and other documents about the server. They depend on the
   * resources that the server serves.
   */
  readonly createDocuments: (
    registry: Registry,
    answers: Pick<DocumentsOptions, 'explainAccess' | 'dumpFlows' | 'remote'>,
  ) => Documents
}

type Subsystems = {
  readonly accessControl: AccessControl
  readonly aggregation: Aggregation
  readonly flowControl: FlowControl | undefined
  readonly access: ResourceAccess
}

export function buildPipeline(core: PlaneCore, systems: Subsystems, hooks: ServerHooks): Handler {
  const { config, environment, registry, metrics } = core
  const { accessControl, aggregation, flowControl } = systems
  const { clock, log, ids } = environment
  const { corsOrigins } = config.serving
  const handle = createPipeline({
    release: config.release,
    clock,
    log: named(log, 'handle'),
    newAuditId: ids.uid,
    server: hooks.server,
    cors: corsOrigins.length === 0 ? undefined : new Cors(corsOrigins),
    constantHeaders:
      config.serving.strictTransportSecurity === null
        ? {}
        : { 'strict-transport-security': config.serving.strictTransportSecurity },
    context: {
      requestTimeoutMs: config.requests.timeoutMs,
      onContext: environment.onContext,
    },
    authenticate: accessControl.authenticators.authenticate,
    authorize: accessControl.authorize,
    hintsFor: (caller, rejected) =>
      hintsFor(accessControl.authorizers.chain.links, caller, rejected),
    authorizationMetrics: metrics.authorization,
    limits: { flowControl, inFlight: new InFlight(config.requests.inFlight) },
    routing: { registry, apiServices: aggregation.apiServices },
    observers: observersOf(core, hooks),
    serving: {
      proxy: aggregation.proxy,
      dispatch: dispatchOf(core, systems, hooks),
      documents: documentsOf(core, systems, hooks),
    },
  })
  return environment.aroundRequest?.(handle) ?? handle
}

const observersOf = (
  { environment: { log, verbosity }, registry, metrics }: PlaneCore,
  { audit, traces }: ServerHooks,
): PipelineOptions['observers'] => ({
  metrics: metrics.requests,
  isServed: (info) => hasSubresource(registry.find(info), info.subresource),
  audit,
  traces,
  verbosity,
  slow: new SlowRequests(named(log, 'handle')),
})

const hasSubresource = (resource: Resource | undefined, subresource: string): boolean =>
  resource !== undefined &&
  (subresource === '' || resource.subresources.some(({ name }) => name === subresource))

function dispatchOf(
  core: PlaneCore,
  { accessControl, access }: Subsystems,
  { readComponents }: ServerHooks,
): Dispatch {
  const { config, environment, objects, egress, metrics } = core
  const { authorize, authorizers, authenticators, serviceAccounts } = accessControl
  const { findHost, random } = environment
  return createDispatch({
    access,
    cache: core.storage.cache,
    readComponents,
    handlers: createHandlers({
      askAboutToken: async (text, audiences) => {
        const token = reviewedToken(text)
        return token === undefined
          ? { kind: 'none' }
          : authenticators.authenticateToken(token, audiences)
      },
      askAboutAccess: async (user, attributes, waiting) => authorize(user, attributes, waiting),
      hasSelectors: config.featureGates.isOn('AuthorizeWithSelectors'),
      askAboutRights: authorizers.chain.rightsOf,
      requestToken: serviceAccounts?.requestToken,
    }),
    subresourceAccess: ({ resource }) => ({
      own: access.of(resource),
      get pods() {
        return podsOf(core)
      },
      objects,
      kubelet: config.cluster.kubelet,
      dial: egress.cluster,
      logMetrics: metrics.logs,
      gates: config.featureGates,
      findHost,
      tunnelBytesPerSecondMax: config.serving.tunnelBytesPerSecondMax,
      random,
    }),
  })
}

const podsId = { group: '', version: 'v1', plural: 'pods' } as const

function podsOf({ registry, accessOf }: PlaneCore): SubresourceAccess['pods'] {
  const resource = registry.find(podsId)
  assert(resource !== undefined, 'pods are served where a request is about a pod')
  return { resource, access: accessOf(resource) }
}

function documentsOf(
  { environment: { clock }, registry }: PlaneCore,
  { accessControl, aggregation, flowControl }: Subsystems,
  { createDocuments }: ServerHooks,
): Documents {
  const { chain } = accessControl.authorizers
  const known = knownResources(registry, aggregation)
  return createDocuments(registry, {
    remote: aggregation.documents,
    explainAccess: ({ query, signal }) =>
      explainAccess(chain.links, readWhyQuery(query, known), { signal }),
    dumpFlows: ({ path, query }) =>
      flowControl &&
      dumpFlows(path, query, {
        levels: () => flowControl.levels(),
        now: { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() },
      }),
  })
}

/**
 * Determines whether a resource exists. The resources of aggregated API servers are not known here.
 * Therefore every resource in one of their groups counts as existing.
 */
function knownResources(registry: Registry, { apiServices }: Aggregation): KnownResources {
  const isAggregated = (group: string): boolean =>
    [...apiServices.all()].some(
      ({ service, remote }) => remote !== undefined && service.group === group,
    )
  return {
    find: (name, group) => {
      const resources = group === undefined ? registry.all() : registry.inGroup(group)
      return (
        resources.find(({ plural }) => plural === name) ??
        resources.find(({ discovery: { singular, shortNames } }) =>
          [singular, ...shortNames].includes(name),
        ) ??
        (group !== undefined && isAggregated(group) ? { plural: name, group } : undefined)
      )
    },
    names: () => new Set(registry.all().map(({ plural }) => plural)),
  }
}

/**
 * Wires one control plane together: the resources that it serves, where their objects are stored, and who may access them. A
 * process can have any number of them on one database, each below its own prefix; nothing in here is global.
 */
import type { RequestContext } from '../api/context.ts'
import { createAccounts } from './access/accounts.ts'
import { admissionGroup } from '../admission/admission.ts'
import { createNamespaceBy } from '../admission/namespace-auto-provision.ts'
import type { PluginParts } from '../admission/plugins.ts'
import type { PodSecurityMetrics } from '../admission/pod-security/metrics.ts'
import type { ConditionMetrics } from '../admission/match/condition-metrics.ts'
import type { PolicyMetrics } from '../admission/policies/metrics.ts'
import { OpenCharges } from '../admission/resource-quota/open-charges.ts'
import { FollowedHooks } from '../admission/webhooks/followed-hooks.ts'
import type { AdmissionMetrics } from '../admission/metrics.ts'
import type { HookMetrics } from '../admission/webhooks/metrics.ts'
import { FollowedApiServices } from '../request/aggregation/api-services.ts'
import { Availability } from '../request/aggregation/availability.ts'
import type { AvailabilityMetrics } from '../request/aggregation/metrics.ts'
import { createProxy } from '../request/aggregation/proxy.ts'
import type { RemoteParts } from '../request/aggregation/remote.ts'
import type { ServiceAllocators } from '../request/allocators/create-allocators.ts'
import type { AllocatorMetrics } from '../request/allocators/metrics.ts'
import type { KubeObject } from '../api/object.ts'
import type { HandleAs } from '../api/own-request.ts'
import type { Audit } from '../request/audit/audit.ts'
import { SlowRequests } from '../request/slow-requests.ts'
import type { Traces } from '../request/tracing/tracing.ts'
import { DECISIONS, DETAILS, Verbosity } from '../lib/verbosity.ts'
import type { Cache } from '../storage/cache/cache.ts'
import type { Fillable } from '../storage/cache/first-fill.ts'
import type { ReadAccess } from '../controllers/read-access.ts'
import { PatternThread } from '../objects/cel/pattern-thread.ts'
import { YamlConverter } from '../objects/codec/yaml.ts'
import type { Config } from '../config/config.ts'
import type { Definitions } from '../controllers/definitions.ts'
import { createDefinitions } from './resources/definitions.ts'
import type { DocumentParts, Documents } from '../request/discovery/documents.ts'
import type { Egress } from '../net/egress/dialer.ts'
import { createDispatch } from '../request/dispatch.ts'
import type { AccountMetrics } from '../access/authentication/account-metrics.ts'
import { reviewedToken } from '../access/authentication/bearer-token.ts'
import type { AuthenticationMetrics } from '../access/authentication/metrics.ts'
import type { ExternalSigner } from '../access/authentication/signer/external-signer.ts'
import type { ClientAuthorities } from '../access/authentication/client-authorities.ts'
import { createAuthenticators } from './access/authenticators.ts'
import { celAuthorizer } from '../access/authorization/cel-authorizer.ts'
import type { ConfiguredAuthorizers } from '../access/authorization/configured.ts'
import type { AuthorizationMetrics } from '../access/authorization/metrics.ts'
import type { FollowedGraph } from '../access/authorization/node/followed-graph.ts'
import { dumpFlows } from '../request/flow/dump.ts'
import { FlowControl } from '../request/flow/flow-control.ts'
import { flowGroup, FollowedSchemas } from '../request/flow/followed-schemas.ts'
import type { FlowMetrics } from '../request/flow/metrics.ts'
import { explainAccess } from '../access/authorization/why.ts'
import { readWhyQuery } from '../access/authorization/why-query.ts'
import { Cors } from '../request/filters/cors.ts'
import { InFlight } from '../request/filters/in-flight.ts'
import type { RequestMetrics } from '../request/filters/request-metrics.ts'
import { createPipeline, type Handle } from '../request/pipeline.ts'
import type { IssuanceMetrics } from '../request/issuance-metrics.ts'
import type { JwtIssuers } from './access/jwt-issuers.ts'
import type { ParseToken } from '../access/authentication/parse-token.ts'
import { assert } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import { InProgress } from '../lib/in-progress.ts'
import { dialDirect } from '../lib/dial.ts'
import { type Log, named } from '../lib/log.ts'
import { systemTimers, type Timers } from '../lib/timers.ts'
import { FollowedRoles } from '../access/rbac/followed-roles.ts'
import { isOfRoles, rbacGroup } from '../access/rbac/role.ts'
import { builtInResources } from '../registry/built-in.ts'
import type { DeclarativeReport } from '../registry/declarative.ts'
import { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import { ConnectedRemotes } from '../request/aggregation/remote-documents.ts'
import { type Access, type AccessOf, ResourceAccess } from '../request/resource-access.ts'
import type { Key } from '../storage/engine.ts'
import type { Store } from '../storage/store.ts'
import type { Ids } from '../api/ids.ts'
import { createOwnObjects } from '../request/verbs/own-objects.ts'
import { createNow } from '../api/timestamps.ts'
import { createHandlers } from '../request/verbs/subresources/all.ts'
import type { LogMetrics } from '../request/verbs/subresources/log-metrics.ts'
import type { SubresourceAccess } from '../request/verbs/subresources/handler.ts'
import type { FindHost } from '../request/verbs/subresources/find-host.ts'
import type { EndpointRouting, GetService } from '../net/outbound/call.ts'
import { credentialsByHost } from '../net/outbound/credentials-by-host.ts'
import { ReceivedAnswers } from '../net/outbound/received.ts'
import { createAdmission, createImageReviewer } from './admission/admission-chain.ts'
import { createAllocation } from './resources/allocation.ts'
import { createAuthorizers, createNodeGraph } from './access/authorizers.ts'
import { createStoreOf, createStoreRoles, type StoreRoles } from './resources/followed-writes.ts'
import { createPolicies, type Policies } from './admission/policies.ts'
import {
  createAuthorizeCreate,
  createAuthorizeUnsafeDelete,
  createConfirmGrant,
} from './resources/write-permissions.ts'

/** Inputs from outside of the configuration, so that a test can replay them. */
export type Surroundings = {
  readonly clock: Clock
  readonly log: Log
  /** Absent: as little as possible is logged. */
  readonly verbosity?: Verbosity
  readonly ids: Ids
  /** Returns a number from 0 to below 1. */
  readonly random: () => number
  readonly findHost: FindHost
  /** Called with each request before it is authenticated: the context tells later who made it. */
  readonly onContext?: (context: RequestContext) => void
  /** Around every request, also those of the server itself. */
  readonly aroundRequest?: (handle: Handle) => Handle
}

export type ControlPlaneParts = {
  /** What requests may hold in memory together. */
  readonly requestBytes: number
  readonly cache: Cache
  readonly store: Store
  /** The database that has the objects of a resource, if it is another one. */
  /** Absent: all connections go straight. */
  readonly egress?: Egress
  readonly overrideOf?: (
    resource: Resource,
  ) => { readonly cache: Cache; readonly store: Store } | undefined
  readonly metrics: RequestMetrics
  readonly flowMetrics: FlowMetrics
  readonly authorizationMetrics: AuthorizationMetrics
  readonly policyMetrics: PolicyMetrics
  readonly conditionMetrics: ConditionMetrics
  readonly hookMetrics: HookMetrics
  readonly admissionMetrics: AdmissionMetrics
  readonly podSecurityMetrics: PodSecurityMetrics
  readonly declarativeReporter: DeclarativeReport
  readonly accountMetrics: AccountMetrics
  readonly issuanceMetrics: IssuanceMetrics
  readonly logMetrics: LogMetrics
  readonly allocatorMetrics: AllocatorMetrics
  readonly authenticationMetrics: AuthenticationMetrics
  /** Undefined: service account tokens are signed by a key of the configuration, or there are none. */
  readonly signer: ExternalSigner | undefined
  /** Undefined: no issuer of JWTs is configured. */
  readonly issuers: Pick<JwtIssuers, 'authenticate'> | undefined
  /** The one that the issuers have, too. */
  readonly parseToken: ParseToken
  /** Undefined: nothing is traced. */
  readonly traces: Traces | undefined
  /** Undefined: nothing is audited. */
  readonly audit: Audit | undefined
  /** How remote API servers are reached. Absent in tests: none is. */
  readonly aggregation?: Pick<RemoteParts, 'clientCertificate' | 'ownAddress' | 'dial'>
  /** Whether the server stops, and clients are to go elsewhere. */
  readonly isLeaving: () => boolean
  /** Nothing is stored below this key any longer: its metrics are removed. */
  readonly uncountKeys: (prefix: Key) => void
  /** Checks the components of the cluster, and returns ComponentStatuses. */
  readonly readComponents: () => Promise<readonly KubeObject[]>
  /** Creates the documents about the server, which depend on what it serves. */
  readonly createDocuments: (
    registry: Registry,
    answers: Pick<DocumentParts, 'explainAccess' | 'dumpFlows' | 'remote'>,
  ) => Documents
}

export type ControlPlane = AsyncDisposable & {
  readonly handle: Handle
  /** To be started before the first request is accepted. */
  readonly definitions: Definitions | undefined
  /** The same. Without RBAC, too: nobody grants what he does not have, whoever decides. */
  readonly roles: FollowedRoles
  /** The same: until then no write is checked against policies. */
  readonly policies: Policies['followed']
  /** To be started at once, and filled before the server is ready. Undefined: there is no node authorizer. */
  readonly nodes: FollowedGraph | undefined
  readonly authorizers: ConfiguredAuthorizers
  /** To be started at any time: before that, requests are those of the mandatory levels. Undefined: they are limited by their number alone. */
  readonly flows: FollowedSchemas | undefined
  readonly flowControl: FlowControl | undefined
  /** Writes that were charged to quotas, until they have ended. */
  readonly openCharges: OpenCharges
  /** To be started before the first request is accepted. */
  readonly hooks: FollowedHooks
  /** The same: until then every request is answered here. */
  readonly apiServices: FollowedApiServices
  /** Keeps the condition of APIServices current, from then on. */
  readonly startAvailability: (
    metrics: AvailabilityMetrics,
    timers: Timers | undefined,
  ) => AsyncDisposable
  /** To be started when those are, and before the server is ready. */
  readonly remoteDocuments: ConnectedRemotes
  readonly registry: Registry
  /** How controllers read the objects of a resource: without a webhook, in the version of storage if only that converts. */
  readonly readAccessOf: (resource: Resource) => ReadAccess
  readonly allocation: ServiceAllocators
  /** Creates in progress, by namespace. */
  readonly creates: InProgress
  readonly storeRoles: StoreRoles
  /** The CAs of client certificates, to be changed when their files are. */
  readonly authorities: ClientAuthorities
  /** The resources that may be loaded into the cache before they are requested. */
  readonly fillable: () => Fillable[]
}

export function createControlPlane(
  config: Config,
  parts: ControlPlaneParts,
  surroundings: Surroundings,
): ControlPlane {
  const { clock, log, ids, random, findHost, verbosity = new Verbosity(0) } = surroundings
  const { cache, store, metrics, egress = {}, overrideOf = () => undefined } = parts
  const mainOr = (resource: Resource): Store => overrideOf(resource)?.store ?? store
  const { allowsPrivileged, etcd, services } = config
  const ipFamily = services.ranges[0]?.family ?? 'IPv4'
  const { isServed } = config.runtime
  const now = createNow(clock.wallMs)
  const options = {
    allowsPrivileged,
    storedAs: etcd.media,
    ipFamily,
    gates: config.featureGates,
    isServed,
    now,
  }
  const registry = new Registry(
    builtInResources({ ...options, declarative: parts.declarativeReporter }),
  )
  const accessOf: AccessOf = (resource) => access.of(resource)
  /** Of the resources of a group, by their plural; undefined: the resource is not served. */
  const accessIn =
    (group: string, version = 'v1') =>
    (plural: string): Access | undefined => {
      const resource = registry.find({ group, version, plural })
      return resource && accessOf(resource)
    }
  const flowControl = !config.hasFairness
    ? undefined
    : new FlowControl({
        time: { ...systemTimers, ...clock },
        metrics: parts.flowMetrics,
        seats: config.inFlight.readOnlyMax + config.inFlight.mutatingMax,
        countObjects: (info) => {
          const resource = registry.find(info)
          return resource && cache.objectsOf(accessOf(resource).keys.prefix)
        },
        requestTimeoutMs: config.requestTimeoutMs,
      })
  const flows =
    flowControl && new FollowedSchemas({ accessOf: accessIn(flowGroup), log, flowControl })
  const roles = new FollowedRoles({ accessOf: accessIn(rbacGroup), log })
  const policies = createPolicies(config, { registry, accessIn, ...parts, log })
  const seconds = parts.authorizationMetrics.graphSeconds
  const nodes = createNodeGraph(config, { registry, accessOf, log, clock, seconds })
  const received = new ReceivedAnswers()
  const getService: GetService = (namespace, name) =>
    objects.get(servicesId, { namespace, name }, 'any')
  const getEndpoints: GetService = (namespace, name) =>
    objects.get(endpointsId, { namespace, name }, 'any')
  const routing: EndpointRouting | undefined = config.callsEndpoints
    ? { getEndpoints, random }
    : undefined
  const calls = { getService, routing, received, dials: egress }
  const { mutatingWebhookUsers, validatingWebhookUsers } = config.admission
  const hooks = new FollowedHooks({
    registry,
    accessOf: accessIn(admissionGroup),
    calls,
    mutatingCredentials:
      mutatingWebhookUsers === null ? undefined : credentialsByHost(mutatingWebhookUsers, clock),
    validatingCredentials:
      validatingWebhookUsers === null
        ? undefined
        : credentialsByHost(validatingWebhookUsers, clock),
    onGone: (name, type) => {
      parts.hookMetrics.forget(name, type)
      parts.conditionMetrics.forgetHook(name, type)
    },
    log: named(log, 'webhooks'),
  })
  const remotes: RemoteParts = { getService, routing, ...(parts.aggregation ?? nothingRemote) }
  const apiServices = new FollowedApiServices({
    access: () => accessIn('apiregistration.k8s.io')('apiservices'),
    remotes,
    log: named(log, 'aggregation'),
  })
  const hasUid = config.featureGates.isOn('RemoteRequestHeaderUID')
  const proxy = createProxy({ apiServices, hasUid, clock })
  const remoteDocuments = new ConnectedRemotes(apiServices, proxy, named(log, 'aggregation'))
  const yaml = new YamlConverter(parts.requestBytes)
  const patterns = new PatternThread()
  const authorizers = createAuthorizers(config, {
    roles: roles.index,
    graph: nodes?.graph,
    metrics: parts.authorizationMetrics,
    log: named(log, 'access'),
    random,
    answerPattern: (question) => patterns.answer(question),
    dial: egress.controlplane,
    logsDecisions: () => verbosity.isOn(DECISIONS, 'access'),
  })
  const { authorize, rightsOf } = authorizers.chain
  const ownHandle: HandleAs = (request, user) => handle(request, user)
  const objects = createOwnObjects(registry, accessOf)
  const expressions: ExpressionParts = {
    convertByWebhook: async (object, from, to) => {
      const [converted] = (await accessOf(from).convertTo?.([object], { from, to })) ?? []
      assert(converted !== undefined, 'a webhook converts every object, or fails')
      return converted
    },
    authorizerOf: (context, requestResource) => ({
      ...celAuthorizer({ authorize, user: context.user, requestResource, waiting: context }),
    }),
    answerPattern: (question) => patterns.answer(question),
  }
  const allocation = createAllocation(config, {
    cache,
    store,
    registry,
    accessOf,
    handle: ownHandle,
    metrics: parts.allocatorMetrics,
    surroundings,
  })
  const imageReviewer = createImageReviewer(config)
  const openCharges = new OpenCharges()
  const creates = new InProgress()
  const access = new ResourceAccess({
    creates,
    config,
    registry,
    cache,
    cacheOf: (resource) => overrideOf(resource)?.cache ?? cache,
    storeOf: createStoreOf(mainOr, { roles, policies: policies.followed, hooks }),
    metrics,
    admission: createAdmission(config, {
      registry,
      authorize,
      objects,
      createNamespace: createNamespaceBy(ownHandle),
      metrics: parts.admissionMetrics,
      policies: {
        ...expressions,
        validating: policies.validating,
        mutating: policies.mutating,
        registry,
        metrics: parts.policyMetrics,
        conditionMetrics: parts.conditionMetrics,
      },
      hooks,
      hookParts: {
        ...expressions,
        objects,
        newId: ids.uid,
        clock,
        metrics: parts.hookMetrics,
        conditionMetrics: parts.conditionMetrics,
        convertYaml: (bytes) => yaml.convert(bytes),
      },
      podSecurityMetrics: parts.podSecurityMetrics,
      imageReviewer,
      openCharges,
      surroundings,
    }),
    authorizeCreate: createAuthorizeCreate(authorize),
    authorizeUnsafeDelete: config.featureGates.isOn('AllowUnsafeMalformedObjectDeletion')
      ? createAuthorizeUnsafeDelete(authorize)
      : undefined,
    confirmGrantOf: (resource) =>
      isOfRoles(resource) ? createConfirmGrant(roles, resource.plural, authorize) : undefined,
    onUpdatedOf: ({ group, plural }) =>
      group === 'certificates.k8s.io' && plural === 'certificatesigningrequests'
        ? (request, previous) => parts.issuanceMetrics.count(request, previous)
        : undefined,
    allocator: allocation.allocator,
    yaml,
    patterns,
    calls,
    clock,
    ids,
    random,
  })
  const accounts = createAccounts(config, {
    parse: parts.parseToken,
    objects,
    handle: ownHandle,
    signer: parts.signer,
    metrics: parts.accountMetrics,
    clock,
    log,
  })
  const authenticators = createAuthenticators(config, {
    accounts,
    issuers: parts.issuers,
    metrics: parts.authenticationMetrics,
    objects,
    clock,
    random,
    log: named(log, 'access'),
    dial: egress.controlplane,
  })
  const { authenticate, authenticateToken, authorities } = authenticators
  const groupOf = (plural: string): string | undefined =>
    registry.all().find((one) => one.plural === plural)?.group
  const handleRequest = createPipeline({
    clock,
    log: named(log, 'handle'),
    newAuditId: ids.uid,
    isLeaving: parts.isLeaving,
    cors:
      config.serving.corsOrigins.length === 0 ? undefined : new Cors(config.serving.corsOrigins),
    constantHeaders:
      config.strictTransportSecurity === null
        ? {}
        : { 'strict-transport-security': config.strictTransportSecurity },
    context: {
      requestTimeoutMs: config.requestTimeoutMs,
      onContext: surroundings.onContext,
    },
    authenticate,
    authorize,
    onDecided: (decision, spent) => {
      parts.authorizationMetrics.decided(decision, spent.authorizationMs)
      metrics.filtered(spent)
    },
    limits: { flowControl, inFlight: new InFlight(config.inFlight) },
    routing: { registry, isRemote: (path) => apiServices.remoteAt(path) !== undefined },
    observers: {
      metrics,
      isServed: (info) => hasSubresource(registry.find(info), info.subresource),
      audit: parts.audit,
      traces: parts.traces,
      logsRequests: () => verbosity.isOn(DETAILS, 'handle'),
      slow: new SlowRequests(named(log, 'handle')),
    },
    serving: {
      proxy,
      dispatch: createDispatch({
        access,
        cache,
        readComponents: parts.readComponents,
        handlers: createHandlers({
          askAboutToken: async (text, audiences) => {
            const token = reviewedToken(text)
            return token === undefined ? { kind: 'none' } : authenticateToken(token, audiences)
          },
          askAboutAccess: async (user, attributes, waiting) => authorize(user, attributes, waiting),
          hasSelectors: config.featureGates.isOn('AuthorizeWithSelectors'),
          askAboutRights: async (user, namespace) => rightsOf(user, namespace),
          requestToken: accounts?.requestToken,
        }),
        subresourceAccess: ({ resource }) => ({
          own: access.of(resource),
          get pods() {
            return podsOf(registry, accessOf)
          },
          objects,
          kubelet: config.kubelet,
          dial: egress.cluster,
          logMetrics: parts.logMetrics,
          gates: config.featureGates,
          findHost,
          tunnelBytesPerSecondMax: config.serving.tunnelBytesPerSecondMax,
          random,
        }),
      }),
      documents: parts.createDocuments(registry, {
        remote: remoteDocuments,
        explainAccess: ({ query, signal }) =>
          explainAccess(authorizers.chain.links, readWhyQuery(query, groupOf), { signal }),
        dumpFlows: ({ path, query }) =>
          flowControl &&
          dumpFlows(path, query, {
            levels: () => flowControl.levels(),
            now: { wallMs: clock.wallMs(), monotonicMs: clock.monotonicMs() },
          }),
      }),
    },
  })
  const handle = surroundings.aroundRequest?.(handleRequest) ?? handleRequest
  const uncount = (resource: Resource): void => {
    metrics.forget(resource)
    if (registry.inGroup(resource.group).length === 0)
      parts.uncountKeys(access.keysOf(resource).prefix)
  }
  const definitions = createDefinitions({
    registry,
    accessOf,
    storedAccessOf: (resource) => access.ofStored(resource),
    keysOf: (resource) => access.keysOf(resource),
    retire: (resource) => access.retire(resource),
    uncount,
    handle: ownHandle,
    life: () => cache.databaseLife,
    log,
  })
  apiServices.onChange((name, known) => {
    const [version = '', group = ''] = name.split(/\.(.*)/s)
    if (known === undefined) definitions?.announceAgain(group, version)
  })
  const dispose = async (): Promise<void> => {
    authorizers[Symbol.dispose]()
    authenticators[Symbol.dispose]()
    imageReviewer?.[Symbol.dispose]()
    await Promise.all([yaml[Symbol.asyncDispose](), patterns[Symbol.asyncDispose]()])
  }
  return {
    handle,
    registry,
    readAccessOf: (resource) => access.ofStored(resource.converted?.() ?? resource),
    allocation,
    creates,
    definitions,
    roles,
    policies: policies.followed,
    nodes,
    flows,
    flowControl,
    openCharges,
    hooks,
    apiServices,
    startAvailability: (availabilityMetrics, timers) =>
      new Availability(
        {
          ...remotes,
          apiServices,
          getEndpoints,
          accessOf: accessIn(''),
          handle: ownHandle,
          metrics: availabilityMetrics,
          clock,
          log: named(log, 'aggregation'),
        },
        timers,
      ).start(),
    remoteDocuments,
    storeRoles: createStoreRoles({ registry, accessOf, storeOf: mainOr, roles }),
    authorities,
    authorizers,
    fillable: () => access.fillable(),
    [Symbol.asyncDispose]: dispose,
  }
}

const hasSubresource = (resource: Resource | undefined, subresource: string): boolean =>
  resource !== undefined &&
  (subresource === '' || resource.subresources.some(({ name }) => name === subresource))

/** Connections are direct, and without a certificate. */
const nothingRemote = {
  clientCertificate: () => undefined,
  ownAddress: () => undefined,
  dial: dialDirect,
}

const endpointsId = { group: '', version: 'v1', plural: 'endpoints' } as const
const servicesId = { group: '', version: 'v1', plural: 'services' } as const
const podsId = { group: '', version: 'v1', plural: 'pods' } as const

function podsOf(registry: Registry, accessOf: AccessOf): SubresourceAccess['pods'] {
  const resource = registry.find(podsId)
  assert(resource !== undefined, 'where a pod is meant, pods are served')
  return { resource, access: accessOf(resource) }
}

/** What expressions of policies and webhooks need. */
type ExpressionParts = Pick<
  PluginParts['policies'],
  'convertByWebhook' | 'authorizerOf' | 'answerPattern'
>

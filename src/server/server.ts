/**
 * The composition root: builds each part from those below it, in order, and stops them in the reverse order. Nothing is global, so
 * a process can have any number of servers.
 */
import { hostname, totalmem } from 'node:os'
import { AdmissionMetrics } from '../admission/metrics.ts'
import { ClientCertificate } from '../request/aggregation/client-certificate.ts'
import { HookMetrics } from '../admission/webhooks/metrics.ts'
import { AllocatorMetrics } from '../request/allocators/metrics.ts'
import { createAudit } from '../request/audit/create-audit.ts'
import { PodSecurityMetrics } from '../admission/pod-security/metrics.ts'
import { ConditionMetrics } from '../admission/match/condition-metrics.ts'
import { PolicyMetrics } from '../admission/policies/metrics.ts'
import { AuthenticationMetrics } from '../access/authentication/metrics.ts'
import { createAccountMetrics } from '../access/authentication/account-metrics.ts'
import { AuthorizationMetrics } from '../access/authorization/metrics.ts'
import { FirstFill } from '../storage/cache/first-fill.ts'
import type { Config } from '../config/config.ts'
import { type ControlPlane, createControlPlane, type Surroundings } from './control-plane.ts'
import { identityHeaderTest } from '../api/identity-headers.ts'
import type { Handler } from '../api/request.ts'
import { joinPems } from '../access/authentication/client-authorities.ts'
import { identityHeadersOf } from './access/authenticators.ts'
import type { Bootstrap } from '../controllers/bootstrap.ts'
import { Signers } from '../controllers/certificates/signers.ts'
import { serverName } from '../controllers/identity-lease.ts'
import { createChecks } from '../request/discovery/checks.ts'
import type { Egress } from '../net/egress/dialer.ts'
import { checkComponents } from '../request/discovery/components.ts'
import { createDocuments } from '../request/discovery/documents.ts'
import { addServerMetrics, countChecks } from '../request/discovery/server-metrics.ts'
import { FlowMetrics } from '../request/flow/metrics.ts'
import { RequestMetrics } from '../request/filters/request-metrics.ts'
import { Listener } from '../net/http/listener.ts'
import { ListenerMetrics } from '../net/http/metrics.ts'
import type { Handle } from '../request/pipeline.ts'
import { etcdServers, openStorage } from './storage/open-storage.ts'
import { createReloaders, loadCertificate } from './reload.ts'
import { type Stopping, stopAll } from './stop-all.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { type Dial, dialDirect } from '../lib/dial.ts'
import { type Log, named } from '../lib/log.ts'
import { lookUp } from '../lib/look-up.ts'
import { createParseToken } from '../access/authentication/parse-token.ts'
import { IssuanceMetrics } from '../request/issuance-metrics.ts'
import { createJwtIssuers } from './access/jwt-issuers.ts'
import { addBudgetMetrics } from '../lib/budget-metrics.ts'
import { ByteBudget } from '../lib/byte-budget.ts'
import { planMemory } from '../lib/memory-plan.ts'
import { Metrics } from '../lib/metrics.ts'
import { orAborted } from '../lib/or-aborted.ts'
import { addProcessMetrics, addStartTime, openFilesMax } from '../lib/process-metrics.ts'
import { inTime, systemTimers, type Time, type Timers } from '../lib/timers.ts'
import { type ModuleLevel, Verbosity } from '../lib/verbosity.ts'
import { createDebugPages } from '../request/debug/debug-pages.ts'
import { Profiles } from '../request/debug/profiler.ts'
import { DeclarativeReporter } from '../registry/declarative.ts'
import type { ExporterParts } from '../request/tracing/exporter.ts'
import type { Tracing } from '../request/tracing/tracing.ts'
import { rangeOf } from '../storage/keys.ts'
import type { OpenedEngine } from '../storage/open-engine.ts'
import { ServerAddresses } from '../storage/server-addresses.ts'
import { randomIds } from '../api/ids.ts'
import { messageOf } from '../lib/message-of.ts'
import { createFindHost } from '../request/verbs/subresources/find-host.ts'
import { LogMetrics } from '../request/verbs/subresources/log-metrics.ts'
import { issuerOf, startSigner } from './access/account-issuer.ts'
import { reloadAuthorization } from './access/authorizers.ts'
import { createClusterObjects } from './cluster-objects.ts'
import { UntilKnown } from '../request/until-known.ts'
import { startLater, startLoops } from './loops.ts'
import { hostPort } from '../lib/host-port.ts'

/**
 * Requests under way may take as long as any request when the server stops, but no longer than this: a server in a pod or a systemd
 * service is usually killed after half a minute.
 */
const STOP_GRACE_MS_MAX = 25_000

/** All roles and policies of a large cluster are read in less. Beyond it they cannot be, and the server listens without them. */
const KNOWN_MS_MAX = 5_000

/** Some turns of the event loop: for the first request of a test. */
const LOOPS_DELAY_MS = 20

/** How long it may take to publish new client CAs for extension API servers. */
const PUBLISH_MS_MAX = 30_000

export const realSurroundings = (log: Log): Surroundings => ({
  clock: systemClock,
  log,
  ids: randomIds,
  random: Math.random,
  findHost: createFindHost(lookUp),
})

type ServerParts = Pick<Server, 'url' | 'bootstrapped' | 'failed' | 'reloadCertificate' | 'stop'>

export class Server implements AsyncDisposable {
  readonly url: string
  /** Resolves when the objects that every cluster begins with are there and what readiness waits for is in memory, or the server stops. */
  readonly bootstrapped: Promise<void>
  /** Resolves with the reason if a part of the server could not be started after it had begun to serve: it is to be ended. */
  readonly failed: Promise<unknown>
  /** Reads the serving certificate and the client CAs again now. Never fails. */
  readonly reloadCertificate: () => Promise<void>
  readonly #stop: () => Promise<void>
  #stopping: Promise<void> | undefined

  constructor({ url, bootstrapped, failed, reloadCertificate, stop }: ServerParts) {
    this.url = url
    this.bootstrapped = bootstrapped
    this.failed = failed
    this.reloadCertificate = reloadCertificate
    this.#stop = stop
  }

  /** Fails readiness first, answers the requests under way, then stops everything. Fails if that takes too long. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

/** What a test puts in place of parts of a server, or between them (src/entry/testing). A server of its own has none of it. */
export type Seams = {
  /** Instead of the engine that the configuration names; the server ends it. */
  readonly engine?: OpenedEngine
  /** The engine that the configuration names, if it is being opened already; the server ends it. */
  readonly opening?: Promise<OpenedEngine>
  /** Identifies the server among those that share a database. Absent: it is new. */
  readonly uid?: string
  /** The objects that every cluster begins with are there: nothing is checked or read before the server is ready. */
  readonly isPrepared?: boolean
  /** No other server shares the database: its controllers need no election. */
  readonly isAlone?: boolean
  /** Nothing is written but by requests: the server has no loops and no controllers. */
  readonly isPassive?: boolean
  /** Of what is due at a time of the clock. Absent: those of the system. */
  readonly timers?: Timers
  /** Between clients and the server. The server's own requests do not pass it. */
  readonly aroundHandler?: (handle: Handle) => Handler
  /** Instead of listening at the address of the configuration. */
  readonly listen?: (listener: Listener) => Promise<void>
  /** Gives up a start that waits for what cannot be read yet, with its reason. */
  readonly signal?: AbortSignal
}

/** Resolves when clients can connect. If it fails, the error says what to do about it, and nothing is left running. */
export async function startServer(
  config: Config,
  surroundings: Surroundings,
  seams: Seams = {},
): Promise<Server> {
  const { clock, log } = surroundings
  const startMs = clock.monotonicMs()
  await using parts = new AsyncDisposableStack()
  const { certificate, files } = loadCertificate(config, clock)

  const metrics = new Metrics(config.metrics, log).countOwn()
  const { random } = surroundings
  const egress = await createEgressOf(config, metrics, clock)
  const memory = planMemory({
    ...config.memory,
    totalBytes: totalmem(),
    constrainedBytes: process.constrainedMemory(),
    filesMax: openFilesMax(),
  })
  const audit = await createAudit(config.audit, {
    metrics,
    clock,
    random,
    log: named(log, 'audit'),
    requestBytes: memory.requestBytes,
    dial: egress.controlplane,
  })
  if (audit !== undefined) parts.use(audit)

  const hasIdentity = config.featureGates.isOn('APIServerIdentity')
  const serverId = hasIdentity ? serverName(hostname()) : ''
  const tracing = await createTracing(config, {
    clock,
    log: named(log, 'tracing'),
    metrics,
    resource: { 'service.name': 'apiserver', 'service.instance.id': serverId },
    dial: egress.controlplane,
  })
  if (tracing !== undefined) parts.use(tracing)
  const time = { ...systemTimers, ...clock }
  const budget = new ByteBudget(memory.requestBytes)
  addBudgetMetrics(metrics, budget)
  const storage = await openStorage(config, parts, {
    opened: seams.engine ?? seams.opening,
    cacheBytes: memory.cacheBytes,
    tracing,
    dial: egress.etcd,
    serverId,
    metrics,
    time,
    random,
    log,
  })
  const { root, engine, store, cache, overrides, encryption } = storage
  const { monotonicMs } = clock

  const sliMetrics = new Metrics(config.metrics)
  addStartTime(sliMetrics, clock)
  parts.use(addProcessMetrics(metrics, clock, { isShared: seams.engine !== undefined, log }))
  addServerMetrics(metrics, config.featureGates)
  const heldBytes = (): number => cache.stats().slabBytes
  const readyMsMax = config.serving.fillMsMax
  const firstFill = parts.use(
    new FirstFill({ count: (range) => store.count(range), heldBytes, readyMsMax, log }),
  )
  const phase: Phase = {
    bootstrap: undefined,
    nodes: undefined,
    address: undefined,
    remotes: { areListed: false },
    isStopping: false,
    isLeaving: false,
  }
  const etcdFault = (): string | undefined =>
    cache.isLive ? undefined : 'nothing is heard from etcd'
  const checks = createChecks({
    etcdFault,
    isStarted: () => true,
    isFilled: () => firstFill.isDone && phase.nodes?.isFilled !== false,
    areRemotesListed: () => phase.remotes.areListed,
    hasProxyClient: config.proxyClient !== null,
    hasIdentity,
    isBootstrapped: () => phase.bootstrap?.isDone ?? false,
    isStopping: () => phase.isStopping,
    others: [...encryption.checks, ...overrides.checks],
    livezGraceMs: config.serving.livezGraceMs,
    upMs: () => clock.monotonicMs() - startMs,
  })
  const serverAddress = hostPort({ host: config.externalHost, port: config.port })
  const onChecked = countChecks(sliMetrics)
  const signer = await startSigner(config, { time, log, metrics })
  if (signer !== undefined) parts.use(signer)
  const issuer = issuerOf(config, serverAddress, signer)
  const parseToken = createParseToken()
  const jwtIssuers = createJwtIssuers(config, { parse: parseToken, time, log, metrics, serverId })
  if (jwtIssuers !== undefined) parts.use(jwtIssuers)
  const verbosity =
    surroundings.verbosity ?? new Verbosity(config.logging.verbosity, config.logging.modules)
  const debug = {
    profiles: new Profiles(log),
    setVerbosity: (level: number) => {
      verbosity.level = level
      log('info', 'the verbosity was changed', { v: level })
    },
    setModules: (modules: readonly ModuleLevel[]) => {
      verbosity.setModules(modules)
      log('info', 'the verbosity of parts was changed', { modules })
    },
  }
  const debugPages = createDebugPages({ ...debug, hasProfiles: config.hasProfiles })
  if (config.debugSocketPath !== null) {
    const { openDebugSocket } = await import('../request/debug/debug-socket.ts')
    parts.use(
      await openDebugSocket(
        config.debugSocketPath,
        createDebugPages({ ...debug, hasProfiles: true }),
      ),
    )
  }
  const requestMetrics = new RequestMetrics(metrics, { monotonicMs })
  const flowMetrics = new FlowMetrics(metrics, monotonicMs())
  const proxyClient = new ClientCertificate(config.proxyClient, named(log, 'aggregation'))
  const plane = createControlPlane(
    config,
    {
      requestBytes: memory.requestBytes,
      cache,
      store,
      egress,
      overrideOf: overrides.of,
      metrics: requestMetrics,
      flowMetrics,
      authorizationMetrics: new AuthorizationMetrics(metrics),
      policyMetrics: new PolicyMetrics(metrics),
      conditionMetrics: new ConditionMetrics(metrics),
      hookMetrics: new HookMetrics(metrics),
      issuanceMetrics: new IssuanceMetrics(metrics),
      logMetrics: new LogMetrics(metrics),
      allocatorMetrics: new AllocatorMetrics(metrics, monotonicMs),
      admissionMetrics: new AdmissionMetrics(metrics, clock.monotonicMs),
      podSecurityMetrics: new PodSecurityMetrics(metrics),
      declarativeReporter: new DeclarativeReporter(metrics, log),
      accountMetrics: createAccountMetrics(metrics),
      authenticationMetrics: new AuthenticationMetrics(metrics),
      signer,
      issuers: jwtIssuers,
      parseToken,
      audit,
      traces: tracing,
      isLeaving: () => phase.isLeaving,
      aggregation: {
        clientCertificate: () => proxyClient.current,
        ownAddress: () => phase.address,
        dial: dialRemote(egress, () => phase.address),
      },
      uncountKeys: (prefix) => engine.forget(prefix),
      readComponents: () =>
        checkComponents([
          { servers: etcdServers(config), fault: etcdFault() },
          ...overrides.health(),
        ]),
      createDocuments: (registry, answers) =>
        createDocuments({
          registry,
          serverAddress,
          checks,
          onChecked,
          metrics,
          sliMetrics,
          issuer,
          clock,
          gates: config.featureGates,
          emulatedMinor: config.emulation.minor,
          flagValues: config.flagValues,
          ...answers,
          debugPages,
        }),
    },
    { ...surroundings, verbosity },
  )
  parts.use(plane)
  metrics.onPrint(() => {
    plane.flowControl?.noteMetrics()
    const { readOnly, mutating } = flowMetrics.kinds
    requestMetrics.inQueue.readOnly.value = readOnly.waiting
    requestMetrics.inQueue.mutating.value = mutating.waiting
  })
  const known = startKnown(plane, parts, phase)
  // Awaited below. If the listener cannot be made, that is told, and not that this was cut short by it.
  known.catch(() => undefined)
  const { authorities } = plane
  const { requestHeader } = config.authentication
  const limits = {
    connectionsMax: memory.connections,
    connectionsPerClientMax: Math.ceil(memory.connections / 2),
    ...(config.streamsPerConnectionMax === null
      ? {}
      : { streamsMax: config.streamsPerConnectionMax }),
  }
  const untilKnown = new UntilKnown({
    handle: seams.aroundHandler?.(plane.handle) ?? plane.handle,
    isServed: (info) => plane.registry.find(info) !== undefined,
    newAuditId: surroundings.ids.uid,
    log,
  })
  const listener = new Listener({
    handler: untilKnown.handle,
    ...certificate,
    clientCaPem: joinPems(plane.authorities.pems),
    isIdentityHeader: identityHeaderTest(
      requestHeader === null ? undefined : identityHeadersOf(requestHeader),
    ),
    tlsMinVersion: config.tlsMinVersion,
    tlsCiphers: config.tlsCiphers ?? undefined,
    servesHttp2: config.servesHttp2,
    compresses: config.featureGates.isOn('APIResponseCompression'),
    takesCbor: config.featureGates.isOn('CBORServingAndStorage'),
    endsUnauthenticated: config.featureGates.isOn('UnauthenticatedHTTP2DOSMitigation'),
    isWeighedLater: config.hasFairness,
    budget,
    goaway: { chance: config.serving.goawayChance, random },
    namedCertificates: config.serving.namedCertificates,
    limits,
    metrics: new ListenerMetrics(metrics),
    log: named(log, 'http'),
  })
  const { watchGraceMs } = config
  const graceMs = Math.min(config.requestTimeoutMs, STOP_GRACE_MS_MAX)
  const isEarly = seams.listen === undefined && (await isLate(known, time))
  if (isEarly) {
    log(
      'warn',
      'roles, policies, webhooks or definitions cannot be read yet: most requests are refused',
    )
    parts.defer(() => listener.close({ graceMs, watchGraceMs }))
    await listen(listener, config)
  }
  const { graphFilled } = await (isEarly ? orAborted(known, seams.signal) : known)
  untilKnown.open()
  const objects = createClusterObjects(config, plane, {
    // By requests if those are audited: upstream records these writes like any other.
    createAll: audit === undefined ? plane.storeRoles : undefined,
    isPrepared: seams.isPrepared === true,
    clock,
    log,
  })
  const bootstrap = parts.use(objects.bootstrap)
  phase.bootstrap = bootstrap
  if (!isEarly) parts.defer(() => listener.close({ graceMs, watchGraceMs }))
  const signers = new Signers(config.signing)
  const fileReloaders = createReloaders(config, {
    listener,
    certificate,
    files,
    authorities,
    renewSigner: (...renewed) => signers.renew(...renewed),
    proxyClient,
    onAuthorities: () => void objects.publishIfPossible(AbortSignal.timeout(PUBLISH_MS_MAX)),
    log,
  })
  const authorizationReloader = reloadAuthorization(config, {
    authorizers: plane.authorizers,
    metrics,
    serverId,
    clock,
    log,
  })
  const reloaders = [...fileReloaders, ...authorizationReloader].map((one) => parts.use(one))
  // A test that is to be answered at once waits for what it reads, and for nothing else.
  const filled = firstFill.run(seams.isPrepared === true ? [] : plane.fillable(), rangeOf(root))
  const listening = isEarly ? undefined : (seams.listen?.(listener) ?? listen(listener, config))
  await Promise.all([listening, bootstrap.start()])
  phase.address = { host: loopbackOf(config.bindAddress), port: listener.port }
  // Never fails. Most flow schemas are written only now, so there is nothing to wait for.
  if (plane.flows !== undefined) void parts.use(plane.flows).start()
  const uid = seams.uid ?? surroundings.ids.uid()
  const { promise: failed, resolve: onFailed } = Promise.withResolvers<unknown>()
  const start = (): AsyncDisposable =>
    startLoops(config, plane, {
      objects,
      records: new ServerAddresses(store, root),
      port: listener.port,
      uid,
      isAlone: seams.isAlone === true,
      signers,
      certificatePem: certificate.certificatePem,
      metrics,
      onFailed,
      clock,
      timers: seams.timers,
      log,
    })
  // Where nothing is left to be done at the start, first requests go first.
  const startDue = (): AsyncDisposable =>
    seams.isPrepared === true ? startLater(start, { delayMs: LOOPS_DELAY_MS, onFailed }) : start()
  const loops = seams.isPassive === true ? [] : [startDue()]
  const stopping: Stopping = {
    phase,
    loops,
    listener,
    parts: parts.move(),
    delayMs: config.stopDelayMs,
    times: { graceMs, watchGraceMs },
    sendsRetryAfter: config.serving.sendsRetryAfter,
    log,
  }
  const url = `https://${hostPort({ host: config.bindAddress, port: listener.port })}`
  const others = [jwtIssuers?.reloader, encryption.reloader].filter((one) => one !== undefined)
  const looking = [...reloaders, ...others]
  const reloadCertificate = async (): Promise<void> =>
    void (await Promise.all(looking.map((reloader) => reloader.look())))
  const bootstrapped = Promise.all([bootstrap.ended, filled, graphFilled]).then(() => undefined)
  return new Server({ url, bootstrapped, failed, reloadCertificate, stop: () => stopAll(stopping) })
}

/** No proxy is needed to reach this server itself. */
function dialRemote({ cluster }: Egress, ownAddress: () => Phase['address']): Dial {
  if (cluster === undefined) return dialDirect
  return (host, port, signal) => {
    const own = ownAddress()
    const isOwn = own?.host === host && own.port === port
    return isOwn ? dialDirect(host, port, signal) : cluster(host, port, signal)
  }
}

/** Without a configuration nothing of it is loaded. */
async function createEgressOf({ egress }: Config, metrics: Metrics, clock: Clock): Promise<Egress> {
  if (egress === null) return {}
  const { createEgress } = await import('../net/egress/dialer.ts')
  return createEgress(egress, metrics, clock)
}

/** Undefined: nothing is traced, and nothing of it is loaded. */
async function createTracing(
  { tracing }: Config,
  parts: ExporterParts,
): Promise<Tracing | undefined> {
  if (tracing === null) return undefined
  const loaded = await import('../request/tracing/tracing.ts')
  return new loaded.Tracing(tracing, parts)
}

/** What the checks of health look at, and what is made after them. */
type Phase = {
  bootstrap: Bootstrap | undefined
  nodes: ControlPlane['nodes']
  /** Where this server listens, for itself. */
  address: { readonly host: string; readonly port: number } | undefined
  /** Whether aggregated discovery has every APIService. */
  readonly remotes: { areListed: boolean }
  isStopping: boolean
  isLeaving: boolean
}

/** `graphFilled`: settled when the node authorizer's graph shows all pods; undefined: there is none. */
type Known = { readonly graphFilled: Promise<void> | undefined }

/** Resolves when the server knows what it decides requests by: roles, policies, webhooks, and which resources there are. */
async function startKnown(
  plane: ControlPlane,
  parts: AsyncDisposableStack,
  phase: Phase,
): Promise<Known> {
  await Promise.all(
    [plane.roles, ...plane.policies, plane.hooks, plane.apiServices].map((one) =>
      parts.use(one).start(),
    ),
  )
  // Never fails. Until then the server is not ready.
  void parts
    .use(plane.remoteDocuments)
    .start()
    .then(() => (phase.remotes.areListed = true))
  phase.nodes = plane.nodes
  // Never fails. Of many pods it takes seconds; until then the server is not ready, and a node is denied what the graph does not show.
  const graphFilled = plane.nodes === undefined ? undefined : parts.use(plane.nodes).start()
  if (plane.definitions !== undefined) await parts.use(plane.definitions).start()
  return { graphFilled }
}

const isLate = (work: Promise<unknown>, time: Time): Promise<boolean> =>
  inTime<boolean>(
    work.then(() => false),
    KNOWN_MS_MAX,
    { late: () => true, timers: time },
  )

async function listen(listener: Listener, { port, bindAddress, serving }: Config): Promise<void> {
  try {
    await listener.listen(port, bindAddress, { reusePort: serving.sharesPort })
  } catch (cause) {
    const why = messageOf(cause)
    throw new Error(`cannot listen (${why}): choose another --secure-port or --bind-address`, {
      cause,
    })
  }
}

/** Where a server that is bound to this address is reached from its own machine. */
const loopbackOf = (address: string): string =>
  address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address

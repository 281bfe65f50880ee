/**
 * The composition root: builds each part of the server from the parts below it, in order. To stop
 * the server, stop-all.ts stops the background tasks and the listener first, and then the other
 * parts in reverse order. No state is global, so a process can have any number of servers.
 */
import type { Config } from '../config/config.ts'
import { Signers } from '../controllers/certificates/signers.ts'
import { addBudgetMetrics, ByteBudget } from '../lib/bytes/byte-budget.ts'
import { hostPort } from '../lib/net/hosts.ts'
import { named } from '../lib/telemetry/log.ts'
import { orAborted } from '../lib/concurrency/or-aborted.ts'
import { withTimeout, type Time } from '../lib/time/timers.ts'
import type { Certificate } from '../lib/x509/certificates.ts'
import type { Listener, StopTimes } from '../net/http/listener.ts'
import { ClientCertificate } from '../request/aggregation/client-certificate.ts'
import { FirstFill } from '../storage/cache/first-fill.ts'
import { rangeOf } from '../storage/keys.ts'
import { ServerAddresses } from '../storage/server-addresses.ts'
import { reloadAuthorization } from './access/authorizers.ts'
import { openTokens } from './access/tokens.ts'
import { buildServing, listenAt, loopbackOf, type Serving } from './build-serving.ts'
import { addCertificateMetrics } from './certificate-metrics.ts'
import { buildPlane, type PlaneOptions } from './build-plane.ts'
import { type ClusterObjects, createClusterObjects } from './cluster-objects.ts'
import type { ControlPlane, StartedPlane } from './control-plane.ts'
import type { Environment } from './environment.ts'
import { createHealth } from './health.ts'
import { startLater, startBackgroundTasks } from './background-tasks.ts'
import { createReloaders, loadCertificate, type ServerReloadOptions } from './reload.ts'
import { createServerCore, type ServerCore } from './server-core.ts'
import { stopAll } from './stop-all.ts'
import { openStorage } from './storage/open-storage.ts'
import { addOwnMetrics, openAudit, openDebugPages, openTracing } from './telemetry.ts'
import type { TestHooks } from './test-hooks.ts'

/**
 * Maximum time that requests in progress can take when the server stops, even if their own timeout
 * is longer. A server in a pod or a systemd service is usually killed after half a minute.
 */
const STOP_GRACE_MS_MAX = 25_000

/**
 * How long the server waits for roles, policies, webhooks and CustomResourceDefinitions before it
 * starts to listen without them. Reading them takes less time, even in a large cluster.
 */
const KNOWN_MS_MAX = 5_000

/**
 * Delay of the background tasks with the test hook `isPrepared`. It is a few ticks of the event
 * loop, so that the first request of a test is handled before the tasks.
 */
const LOOPS_DELAY_MS = 20

/** Maximum time to publish new client CAs for extension API servers. */
const PUBLISH_MS_MAX = 30_000

type ServerOptions = Pick<Server, 'url' | 'bootstrapped' | 'failed' | 'reloadCertificate' | 'stop'>

export class Server implements AsyncDisposable {
  readonly url: string
  /**
   * Resolves when the server is ready, or when it stops. The server is ready when the initial
   * objects of a cluster exist, and all data that requests need is in memory.
   */
  readonly bootstrapped: Promise<void>
  /**
   * Resolves to the error if a part of the server fails to start after the server has begun to
   * serve requests. The server must then be stopped.
   */
  readonly failed: Promise<unknown>
  /** Reads the serving certificate and the client CAs again. Never rejects. */
  readonly reloadCertificate: () => Promise<void>
  readonly #stop: () => Promise<void>
  #stopping: Promise<void> | undefined

  constructor({ url, bootstrapped, failed, reloadCertificate, stop }: ServerOptions) {
    this.url = url
    this.bootstrapped = bootstrapped
    this.failed = failed
    this.reloadCertificate = reloadCertificate
    this.#stop = stop
  }

  /**
   * Reports the server as not ready, completes the requests in progress, and then stops everything.
   * Rejects if this takes too long.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

/**
 * State that the steps of a start share. `owned` is disposed when the server stops, or if the start
 * fails.
 */
type Start = {
  readonly core: ServerCore
  readonly owned: AsyncDisposableStack
  readonly testHooks: TestHooks
}

/**
 * Starts a server. Resolves when clients can connect. If the start fails, the error explains how to
 * fix the problem, and all parts that were already started are stopped.
 */
export async function startServer(
  config: Config,
  environment: Environment,
  testHooks: TestHooks = {},
): Promise<Server> {
  await using owned = new AsyncDisposableStack()
  const core = await createServerCore(config, environment)
  const start = { core, owned, testHooks }
  const served = loadCertificate(config, environment.clock)
  const parts = await openParts(start)
  const { plane, storage, firstFill } = parts
  const starting = plane.start()
  // Prevent an unhandled rejection. `starting` is awaited in `untilStarted`, unless the listener
  // cannot be created. In that case, the error of the listener is reported instead.
  starting.catch(() => undefined)
  const { certificate } = served
  const serving = buildServing(core, plane, { certificate, budget: parts.budget, testHooks })
  const { listener } = serving
  const { graphFilled, isListening } = await untilStarted(start, starting, serving)
  const objects = createObjects(start, parts)
  const bootstrap = owned.use(objects.bootstrap)
  core.state.isBootstrapped = () => bootstrap.isDone
  if (!isListening) owned.defer(() => listener.close(stopTimes(config)))
  const signers = new Signers(config.controllers.signing)
  const reloadCertificate = startReloading(start, {
    ...parts,
    ...served,
    listener,
    objects,
    signers,
  })
  // With the test hook `isPrepared`, no data is loaded in advance, so that a test waits only for
  // the data that it reads.
  const fillable = testHooks.isPrepared === true ? [] : plane.fillable()
  const filled = firstFill.run(fillable, rangeOf(storage.root))
  const listen = testHooks.listen ?? ((one: Listener) => listenAt(one, config))
  await Promise.all([isListening ? undefined : listen(listener), bootstrap.start()])
  core.state.address = { host: loopbackOf(config.network.bindAddress), port: listener.port }
  // The start of API Priority and Fairness never rejects. It is not awaited, because most
  // FlowSchemas are created only after this point.
  void plane.startFlowControl()
  const background = { plane, storage, objects, signers, certificate, port: listener.port }
  const { tasks, failed } = startBackground(start, background)
  const remaining = owned.move()
  return new Server({
    url: `https://${hostPort({ host: config.network.bindAddress, port: listener.port })}`,
    bootstrapped: Promise.all([bootstrap.ended, filled, graphFilled]).then(() => undefined),
    failed,
    reloadCertificate,
    stop: () =>
      stopAll({
        phase: core.state,
        tasks,
        listener,
        parts: remaining,
        delayMs: config.serving.stopDelayMs,
        times: stopTimes(config),
        sendsRetryAfter: config.serving.sendsRetryAfter,
        log: environment.log,
      }),
  })
}

const stopTimes = ({ requests, serving }: Config): StopTimes => ({
  graceMs: Math.min(requests.timeoutMs, STOP_GRACE_MS_MAX),
  watchGraceMs: serving.watchGraceMs,
})

type ServerFields = Pick<PlaneOptions, 'storage' | 'tokens' | 'audit' | 'proxyClient'> & {
  readonly plane: ControlPlane
  readonly firstFill: FirstFill
  /** Maximum number of bytes that all requests together may hold in memory. */
  readonly budget: ByteBudget
}

/** Opens all parts of the server that the listener needs. */
async function openParts({ core, owned, testHooks }: Start): Promise<ServerFields> {
  const { config, environment, metrics, memory, time, egress, serverId } = core
  const { random, log } = environment
  const audit = await openAudit(core)
  if (audit !== undefined) owned.use(audit)
  const tracing = await openTracing(core)
  if (tracing !== undefined) owned.use(tracing)
  const budget = new ByteBudget(memory.requestBytes, memory.neededBytesMax)
  addBudgetMetrics(metrics, budget)
  const storage = await openStorage(config, owned, {
    opened: testHooks.engine ?? testHooks.opening,
    cacheBytes: memory.cacheBytes,
    tracing,
    dial: egress.etcd,
    serverId,
    metrics,
    time,
    random,
    log,
  })
  owned.use(addOwnMetrics(core, testHooks.engine !== undefined))
  const { cache, store } = storage
  const firstFill = owned.use(
    new FirstFill({
      count: (range) => store.count(range),
      heldBytes: () => cache.stats().slabBytes,
      readyMsMax: config.serving.fillMsMax,
      log,
    }),
  )
  const health = createHealth(core, storage, { firstFill, plane: () => plane })
  const tokens = await openTokens(core, owned)
  const debugPages = await openDebugPages(core, owned)
  const proxyClient = new ClientCertificate(
    config.aggregation.proxyClient,
    named(log, 'aggregation'),
  )
  const options = { storage, tokens, health, audit, tracing, debugPages, proxyClient }
  const plane: ControlPlane = owned.use(buildPlane(core, options))
  return { plane, storage, tokens, audit, proxyClient, firstFill, budget }
}

/**
 * Resolves when the control plane has started. If this takes long, the server starts to listen
 * earlier, and refuses most requests until the control plane has started.
 */
async function untilStarted(
  { core: { config, environment, time }, owned, testHooks }: Start,
  starting: Promise<StartedPlane>,
  { listener, open }: Serving,
): Promise<StartedPlane & { readonly isListening: boolean }> {
  const isListening = testHooks.listen === undefined && (await isLate(starting, time))
  if (isListening) {
    environment.log(
      'warn',
      'cannot read roles, policies, webhooks or CustomResourceDefinitions yet; most requests are refused until they are read (see /readyz)',
    )
    owned.defer(() => listener.close(stopTimes(config)))
    await listenAt(listener, config)
  }
  const started = await (isListening ? orAborted(starting, testHooks.signal) : starting)
  open()
  return { ...started, isListening }
}

const isLate = (work: Promise<unknown>, time: Time): Promise<boolean> =>
  withTimeout<boolean>(
    work.then(() => false),
    KNOWN_MS_MAX,
    { onTimeout: () => true, timers: time },
  )

const createObjects = (
  { core: { config, environment }, testHooks }: Start,
  { plane, audit }: ServerFields,
): ClusterObjects =>
  createClusterObjects(config, plane, {
    // If auditing is enabled, the roles are created by requests, because kube-apiserver audits
    // these writes like all others.
    createAll: audit === undefined ? plane.storeRoles : undefined,
    isPrepared: testHooks.isPrepared === true,
    clock: environment.clock,
    log: environment.log,
  })

type ReloadOptions = ServerFields &
  Pick<ServerReloadOptions, 'listener' | 'certificate' | 'files'> & {
    readonly objects: ClusterObjects
    readonly signers: Signers
  }

/**
 * Watches the files that can change while the server runs. Returns a function that reads all of
 * them again.
 */
function startReloading(
  { core: { config, environment, metrics, serverId }, owned }: Start,
  { plane, storage, tokens, proxyClient, objects, signers, ...serving }: ReloadOptions,
): () => Promise<void> {
  const { clock, log } = environment
  const files = createReloaders(config, {
    ...serving,
    authorities: plane.authorities,
    renewSigner: (...renewed) => signers.renew(...renewed),
    proxyClient,
    onAuthorities: () => void objects.publishIfPossible(AbortSignal.timeout(PUBLISH_MS_MAX)),
    log,
  })
  addCertificateMetrics(metrics, () => files.map(({ first }) => first))
  const { authorizers } = plane
  const authorization = reloadAuthorization(config, { authorizers, metrics, serverId, clock, log })
  const own = [...files, ...authorization].map((one) => owned.use(one))
  const others = [tokens.reloader, storage.encryption.reloader].filter((one) => one !== undefined)
  const all = [...own, ...others]
  return async () => void (await Promise.all(all.map((one) => one.check())))
}

type BackgroundOptions = Pick<ServerFields, 'plane' | 'storage'> & {
  readonly objects: ClusterObjects
  readonly signers: Signers
  readonly certificate: Certificate
  readonly port: number
}

/** Starts background tasks and controllers. `failed` resolves if any of them cannot be started. */
function startBackground(
  { core: { config, environment, metrics }, testHooks }: Start,
  { plane, storage, objects, signers, certificate, port }: BackgroundOptions,
): { readonly tasks: readonly AsyncDisposable[]; readonly failed: Promise<unknown> } {
  const { promise: failed, resolve: onFailed } = Promise.withResolvers<unknown>()
  if (testHooks.isPassive === true) return { tasks: [], failed }
  const { clock, log, ids } = environment
  const uid = testHooks.uid ?? ids.uid()
  const start = (): AsyncDisposable =>
    startBackgroundTasks(config, plane, {
      objects,
      records: new ServerAddresses(storage.store, storage.root),
      port,
      uid,
      isAlone: testHooks.isAlone === true,
      signers,
      certificatePem: certificate.certificatePem,
      metrics,
      onFailed,
      clock,
      timers: testHooks.timers,
      log,
    })
  // With the test hook `isPrepared`, the tasks have no work to do at startup. Start them later, so
  // that they do not delay the first requests.
  const isLater = testHooks.isPrepared === true
  const task = isLater ? startLater(start, { delayMs: LOOPS_DELAY_MS, onFailed }) : start()
  return { tasks: [task], failed }
}

/**
 * A Kubernetes API server in this process, for a test: everything in memory, nothing to install,
 * nothing left behind.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKubeconfig, type Kubeconfig } from '../../api/kubeconfig.ts'
import type { Handler } from '../../api/request.ts'
import type { Config } from '../../config/config.ts'
import { type Log, silent } from '../../lib/telemetry/log.ts'
import { nodeFault } from '../../lib/process/node-version.ts'
import { Restores } from '../../lib/concurrency/restores.ts'
import type { Certificate } from '../../lib/x509/certificates.ts'
import { rootOf } from '../../storage/keys.ts'
import { type EngineState, MemoryEngine } from '../../storage/memory/memory-engine.ts'
import { boot, type BootedServer } from './boot.ts'
import { offsetOf, TestClock } from './clock.ts'
import { configure, type ConfigureOptions } from './configure.ts'
import { Control, type ControlledCluster } from './control.ts'
import {
  adminName,
  createCredentials,
  createForkCredentials,
  type Credentials,
  issueClient,
  type TestUser,
} from './credentials.ts'
import { LazyListener } from './lazy-listener.ts'
import { Faults, type FrozenServer } from './faults.ts'
import { History, type HistoryFilter, type Write } from './history.ts'
import { ask, type TestRequest, type TestResponse } from './own-client.ts'
import { InitialStates } from './initial-states.ts'
import { isSameObject, Snapshot } from './snapshot.ts'
import { type NotYet, waitFor, type WaitOptions } from './wait-for.ts'
import { Writes } from './writes.ts'

export type ClusterOptions = ConfigureOptions & {
  /** What the server logs; nothing by default. */
  readonly log?: Log
  /** The time of day at the start; the real one by default. */
  readonly now?: Date | string
  /**
   * Whether programs in other languages can set faults, fork and so on over HTTPS, under
   * /keelson/testing/. Not by default.
   */
  readonly servesControl?: boolean
}

/** Ready when it returns: the default namespaces, roles and service accounts are there. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const fault = nodeFault()
  if (fault !== undefined) throw new Error(`keelson/testing ${fault}`)
  const credentials = createCredentials()
  const config = configure(options, credentials)
  const offsetMs = options.now === undefined ? 0 : offsetOf(options.now)
  const authorityPem = credentials.authority.certificatePem
  const state = await initialStates.get(options, { nowMs: Date.now() + offsetMs, authorityPem })
  const cluster = await Cluster.open({
    options,
    config,
    credentials,
    state,
    isOrigin: true,
    offsetMs,
  })
  try {
    await cluster.ready()
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

/** What clusters of the same options begin with. */
const initialStates = new InitialStates()

type ClusterState = {
  readonly options: ClusterOptions
  readonly config: Config
  readonly credentials: Credentials
  /** Undefined: it begins with nothing. */
  readonly state: EngineState | undefined
  /** False: of a fork. */
  readonly isOrigin: boolean
  /** Of the clock. */
  readonly offsetMs: number
}

export class Cluster implements AsyncDisposable, ControlledCluster {
  /** `https://127.0.0.1:PORT` */
  readonly url: string
  /** A bearer token of a member of system:masters. */
  readonly token: string
  /** PEM. */
  readonly certificateAuthority: string
  /** Of a member of system:masters. */
  readonly clientCertificate: { readonly certificatePem: string; readonly keyPem: string }
  /** With the client certificate in it. */
  readonly kubeconfig: Kubeconfig
  /** What goes wrong between clients and the server. */
  readonly faults: Faults
  /** The time of day of the server. */
  readonly clock: TestClock
  readonly #parts: ClusterState
  readonly #listener: LazyListener
  readonly #engine: MemoryEngine
  readonly #history: History
  readonly #writes = new Writes()
  readonly #restores = new Restores()
  /** The state before the first write of the test. */
  #begun: EngineState | undefined
  #running: Promise<BootedServer> | undefined
  #control: Control | undefined
  #folder: string | undefined
  #stopping: Promise<void> | undefined
  readonly #stopped = new Set<() => void>()

  /** @internal */
  static async open(parts: ClusterState): Promise<Cluster> {
    const connected = Promise.withResolvers<void>()
    const listener = await LazyListener.open(connected.resolve)
    const cluster = new Cluster(parts, listener)
    // A failure is told to whoever waits for the server.
    void connected.promise.then(() => cluster.ready()).catch(() => undefined)
    return cluster
  }

  private constructor(parts: ClusterState, listener: LazyListener) {
    const { config, credentials, state, isOrigin, offsetMs } = parts
    this.#parts = parts
    this.#listener = listener
    this.clock = new TestClock({
      offsetMs,
      onMoving: () => void this.#begin(),
      onMoved: () => this.#onMoved(),
    })
    this.#history = new History({
      wallMs: this.clock.clock.wallMs,
      root: rootOf(config.storage.prefix),
    })
    this.faults = new Faults({ freeze: () => this.#freeze() })
    this.#engine = this.#createEngine(state)
    if (!isOrigin) this.#begun = state
    this.url = listener.url
    this.token = credentials.token
    this.certificateAuthority = credentials.authority.certificatePem
    this.clientCertificate = credentials.admin
    this.kubeconfig = this.#kubeconfigOf(adminName, credentials.admin)
  }

  /**
   * Resolves when clients are answered. A fork starts its server when it is first used; this does
   * it before.
   */
  async ready(): Promise<void> {
    await this.#run()
  }

  /** Of another user, with a client certificate. Roles and bindings say what he may do. */
  kubeconfigFor(user: TestUser): Kubeconfig {
    return this.#kubeconfigOf(user.name, issueClient(this.#parts.credentials.clientAuthority, user))
  }

  /** The path of the kubeconfig as a file, which is removed when the cluster stops. */
  kubeconfigFile(): string {
    this.#folder ??= mkdtempSync(join(tmpdir(), 'keelson-testing-'))
    const path = join(this.#folder, 'kubeconfig')
    writeFileSync(path, JSON.stringify(this.kubeconfig, undefined, 2), { mode: 0o600 })
    return path
  }

  /**
   * A typed client of `@kubernetes/client-node`, which the caller has installed: `await
   * cluster.client(CoreV1Api)`.
   */
  async client<T>(api: new (configuration: never) => T, user?: TestUser): Promise<T> {
    const { KubeConfig } = await import('@kubernetes/client-node')
    const kubeconfig = new KubeConfig()
    kubeconfig.loadFromString(
      JSON.stringify(user === undefined ? this.kubeconfig : this.kubeconfigFor(user)),
    )
    const factory: { makeApiClient(constructor: unknown): unknown } = kubeconfig
    const client = factory.makeApiClient(api)
    if (!(client instanceof api))
      throw new TypeError(`${api.name} is no API of @kubernetes/client-node`)
    return client
  }

  /** A request of the test itself: without a connection, and without faults. */
  async request<T = unknown>(request: TestRequest): Promise<TestResponse<T>> {
    const { handle } = await this.#run()
    this.#beforeRequest(request.method ?? 'GET')
    return await this.#restores.begin(() => ask<T>(handle, request, this.#history))
  }

  /**
   * Waits until the condition returns something that is not empty, and returns that. It is checked
   * at each write and some times a second; while it throws, it does not hold.
   */
  waitFor<T>(condition: () => T | NotYet | Promise<T | NotYet>, options?: WaitOptions): Promise<T> {
    return waitFor(condition, (run) => this.#writes.onNext(run), options)
  }

  /**
   * All writes since the cluster was ready, the oldest first, or those that the filter names. The
   * last 64 MB of objects are kept.
   */
  history(filter: HistoryFilter = {}): Write[] {
    return this.#history.read(filter)
  }

  /**
   * Another cluster that begins with the state of this one; both go on by themselves. They share
   * what neither changes, so a fork takes the same time however much there is. Its server starts
   * with its first request.
   */
  async fork(): Promise<Cluster> {
    await this.#run()
    const offsetMs = this.clock.offsetMs
    const forked = { ...this.#parts, ...this.#accessOfFork(), offsetMs }
    return await Cluster.open({ ...forked, state: this.#engine.state(), isOrigin: false })
  }

  /** Clients that ask for a fork over HTTPS get no rights in this cluster by it. */
  #accessOfFork(): Pick<ClusterState, 'config' | 'credentials'> {
    const { options, config, credentials } = this.#parts
    if (options.servesControl !== true) return { config, credentials }
    const own = createForkCredentials(credentials)
    return { config: configure({ ...options, log: silent }, own), credentials: own }
  }

  /** The state of now, for `restore`. */
  snapshot(): Snapshot {
    this.#begin()
    return new Snapshot(this.#engine.state())
  }

  /**
   * Makes all objects what they were. That is done by writes: resourceVersions go on, and clients
   * that watch are told what changes, so that controllers may go on running. Writes that were
   * decided on before it are refused, those of the server's controllers as well as those of
   * clients; requests that come meanwhile wait. Returns when the server decides by the restored
   * state: roles, policies, webhooks, definitions and controllers.
   */
  async restore({ state }: Snapshot): Promise<void> {
    await this.#run()
    this.#begin()
    const leases = `${rootOf(this.#parts.config.storage.prefix)}leases/kube-system/apiserver-`
    // The server's own lease is about the server, not about its objects.
    const isKept = (key: string): boolean => key.startsWith(leases)
    const rewind = (): void => this.#engine.rewind(state, { isKept, isSameObject })
    await this.#restores.restore(() => this.#history.restoring(rewind))
  }

  /**
   * As new: the objects that it began with (of a fork: those at the fork), no faults, no history.
   * The clock goes on.
   */
  async reset(): Promise<void> {
    await this.#run()
    this.faults.clear()
    this.#control?.clear()
    await this.restore(new Snapshot(this.#begin()))
    this.#history.clear()
  }

  /** Answers requests under way, ends watches, and leaves nothing behind. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #run(): Promise<BootedServer> {
    if (this.#stopping !== undefined)
      return Promise.reject(new Error('the cluster has been stopped'))
    this.#running ??= this.#start()
    return this.#running
  }

  async #start(): Promise<BootedServer> {
    const { config, options, state } = this.#parts
    const booted = await boot(config, {
      engine: this.#engine,
      restores: this.#restores,
      clock: this.clock,
      log: options.log ?? silent,
      isPrepared: state !== undefined,
      history: this.#history,
      around: (handle) => this.#around(handle),
      listen: (listener) => this.#listener.handOver(listener),
    })
    await booted.server.bootstrapped
    if (state === undefined) await initialStates.settled(config, this.#engine, this.#writes)
    this.#history.start()
    return booted
  }

  #around(handle: Handler): Handler {
    const faulty = this.faults.around((request) => this.#restores.begin(() => handle(request)))
    const counted: Handler = (request) => {
      this.#beforeRequest(request.method)
      return faulty(request)
    }
    if (this.#parts.options.servesControl !== true) return counted
    this.#control ??= new Control(this)
    return this.#control.around(handle, counted)
  }

  /** Until a test writes, all that changes is the server's own work at the beginning. */
  #beforeRequest(method: string): void {
    if (this.#begun === undefined && method !== 'GET' && method !== 'HEAD') this.#begin()
  }

  /** The state that `reset` goes back to. */
  #begin(): EngineState {
    if (this.#begun !== undefined) return this.#begun
    this.#begun = this.#engine.state()
    if (this.#parts.state === undefined) initialStates.keep(this.#parts.options, this.#begun)
    return this.#begun
  }

  #createEngine(state: EngineState | undefined): MemoryEngine {
    const { time } = this.clock
    const options = {
      // Leases end in a request's name if the timer was started in one.
      time: {
        ...time,
        every: (ms: number, run: () => void) => time.every(ms, () => this.#history.outside(run)),
      },
      onCommit: (commit: Parameters<History['add']>[0]) => {
        this.#history.add(commit, ({ key, revision }) => this.#engine.peek(key, revision - 1))
        this.#writes.notify()
      },
    }
    return state === undefined ? new MemoryEngine(options) : MemoryEngine.from(state, options)
  }

  #onMoved(): void {
    this.#history.outside(() => this.#engine.endDueLeases())
  }

  /**
   * A server on the state of now, which is started when it is asked. Nothing is written there, by
   * the server or the end of a lease: the resourceVersion of a list would go past writes that the
   * list does not show, and a watch from there would never tell them.
   */
  #freeze(): FrozenServer {
    const { config, options } = this.#parts
    const { time } = this.clock
    const frozenMs = time.monotonicMs()
    const engine = MemoryEngine.from(this.#engine.state(), {
      time: { ...time, monotonicMs: () => frozenMs },
    })
    const parts = {
      engine,
      clock: this.clock,
      log: options.log ?? silent,
      isPrepared: true,
      isPassive: true,
    }
    let booting: Promise<BootedServer> | undefined
    return {
      handler: async (request) => {
        booting ??= boot(config, { ...parts, listen: async () => undefined })
        const { handle } = await booting
        return handle(request)
      },
      [Symbol.asyncDispose]: async () => {
        const booted = await booting?.catch(() => undefined)
        await (booted === undefined ? engine[Symbol.asyncDispose]() : booted.server.stop())
      },
    }
  }

  /**
   * Calls back when the cluster has stopped.
   * @internal
   */
  onStopped(run: () => void): void {
    this.#stopped.add(run)
  }

  async #stop(): Promise<void> {
    await this.#control?.end()
    await this.faults.end()
    const running = await this.#running?.catch(() => undefined)
    if (running === undefined) await this.#engine[Symbol.asyncDispose]()
    else {
      this.#begin()
      await running.server.stop()
    }
    this.#listener.close()
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
    for (const run of this.#stopped) run()
  }

  #kubeconfigOf(name: string, certificate: Certificate): Kubeconfig {
    const { url, certificateAuthority } = this
    return createKubeconfig({
      url,
      name: clusterName,
      certificateAuthority,
      login: { name, certificate },
    })
  }
}

/** In kubeconfigs. */
const clusterName = 'keelson'

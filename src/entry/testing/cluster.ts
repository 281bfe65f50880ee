/**
 * A Kubernetes API server in the process of a test. It stores everything in memory, needs no
 * installation, and leaves nothing behind.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKubeconfig, type Kubeconfig } from '../../api/kubeconfig.ts'
import type { Handler } from '../../api/request.ts'
import type { Config } from '../../config/config.ts'
import { makeTemporaryFolder, orExplain, temporaryAdvice } from '../../lib/process/files.ts'
import { type Log, silent } from '../../lib/telemetry/log.ts'
import { Restores } from '../../lib/concurrency/restores.ts'
import type { Certificate } from '../../lib/x509/certificates.ts'
import { rootOf } from '../../storage/keys.ts'
import { type EngineState, MemoryEngine } from '../../storage/memory/memory-engine.ts'
import type { ApiClient } from '../apply/api-client.ts'
import { ResourceTypes } from '../apply/resource-types.ts'
import { apply, type ApplySource } from './apply.ts'
import { boot, type BootedServer } from './boot.ts'
import { checkNode } from './check-node.ts'
import { checkOptions } from './check-options.ts'
import type { AddedResources } from './check-resource.ts'
import { offsetOf, TestClock } from './clock.ts'
import { configure, type ConfigureOptions } from './configure.ts'
import { Control } from './control.ts'
import {
  adminName,
  createCredentials,
  createForkCredentials,
  type Credentials,
  issueClient,
  type TestUser,
} from './credentials.ts'
import { Expectation, type ObjectReference } from './expectation.ts'
import { LazyListener } from './lazy-listener.ts'
import { Faults, type FrozenServer } from './faults.ts'
import { History, isLeaseOfServer } from './history.ts'
import { ask, type TestRequest, type TestResponse } from './own-client.ts'
import { InitialStates } from './initial-states.ts'
import type { HistoryFilter } from './recorded-request.ts'
import { isSameObject, Snapshot } from './snapshot.ts'
import type { TimelineEntry } from './timeline.ts'
import type { NotYet, WaitOptions } from './wait-for.ts'
import { Waits } from './waits.ts'
import type { StoredObject, Write } from './write.ts'
import { Writes } from './writes.ts'

export type ClusterOptions = ConfigureOptions & {
  /** Receives the log entries of the server. Nothing is logged by default. */
  readonly log?: Log
  /** The initial time of the server's clock. The default is the real time. */
  readonly now?: Date | string
  /**
   * Whether programs in other languages can control the cluster over HTTPS under /keelson/testing/,
   * for example to set faults and create forks. The default is false.
   */
  readonly servesControl?: boolean
}

/**
 * Starts a cluster. When the promise resolves, the cluster is ready: the default namespaces, roles
 * and service accounts exist. Fails if an option is unknown.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  checkNode()
  checkOptions(options, Object.keys(optionNames))
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

const optionNames: Readonly<Record<keyof ClusterOptions, true>> = {
  controllers: true,
  flags: true,
  kubernetes: true,
  log: true,
  now: true,
  servesControl: true,
}

/**
 * The states from which clusters start. Clusters with the same options start from the same state.
 */
const initialStates = new InitialStates()

type ClusterState = {
  readonly options: ClusterOptions
  readonly config: Config
  readonly credentials: Credentials
  /** The state from which the cluster starts. Undefined if the cluster starts without objects. */
  readonly state: EngineState | undefined
  /** Whether the cluster is not a fork. */
  readonly isOrigin: boolean
  /** How far the clock of the cluster is ahead of the real clock, in milliseconds. */
  readonly offsetMs: number
}

/** A Kubernetes API server in the process of a test. `startCluster` and `fork` create one. */
export class Cluster implements AsyncDisposable {
  /** The address of the server: `https://127.0.0.1:PORT`. */
  readonly url: string
  /** A bearer token of a member of system:masters. */
  readonly token: string
  /** The certificate authority of the server, in PEM. */
  readonly certificateAuthority: string
  /** The client certificate of a member of system:masters. */
  readonly clientCertificate: { readonly certificatePem: string; readonly keyPem: string }
  /** A kubeconfig with the client certificate. */
  readonly kubeconfig: Kubeconfig
  /** Injects faults between clients and the server. */
  readonly faults: Faults
  /** The clock of the server. */
  readonly clock: TestClock
  readonly #parts: ClusterState
  readonly #listener: LazyListener
  readonly #engine: MemoryEngine
  readonly #history: History
  readonly #writes = new Writes()
  readonly #waits = new Waits({
    onWrite: (run) => this.#writes.onNext(run),
    timeline: (filter) => this.timeline(filter),
  })
  readonly #client: ApiClient = (request) => this.request(request)
  readonly #types = new ResourceTypes(this.#client)
  readonly #restores = new Restores()
  /**
   * The state before the first write of the test, which `reset` restores. Undefined until that
   * write.
   */
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
    // Ignore errors here, because they are reported to callers of `ready`.
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
      revision: () => this.#engine.stats().revision,
      root: rootOf(config.storage.prefix),
    })
    this.faults = new Faults({
      release: config.release,
      addedResources: () => this.#addedResources(),
      freeze: () => this.#freeze(),
      onRefused: (...refused) => this.#history.refuse(...refused),
    })
    this.#engine = this.#createEngine(state)
    if (!isOrigin) this.#begun = state
    this.url = listener.url
    this.token = credentials.token
    this.certificateAuthority = credentials.authority.certificatePem
    this.clientCertificate = credentials.admin
    this.kubeconfig = this.#kubeconfigOf(adminName, credentials.admin)
  }

  /**
   * Resolves when the server serves clients. A fork starts its server on first use; this method
   * starts it earlier.
   */
  async ready(): Promise<void> {
    await this.#run()
  }

  /**
   * Returns a kubeconfig for another user, with a client certificate. Roles and bindings determine
   * the permissions of the user.
   */
  kubeconfigFor(user: TestUser): Kubeconfig {
    return this.#kubeconfigOf(user.name, issueClient(this.#parts.credentials.clientAuthority, user))
  }

  /**
   * Writes the kubeconfig to a file and returns the path of the file. The file is removed when the
   * cluster stops.
   */
  kubeconfigFile(): string {
    this.#folder ??= makeTemporaryFolder('keelson-testing-')
    const path = join(this.#folder, 'kubeconfig')
    const text = JSON.stringify(this.kubeconfig, undefined, 2)
    orExplain(this.#folder, temporaryAdvice, () => writeFileSync(path, text, { mode: 0o600 }))
    return path
  }

  /**
   * Returns a typed client of `@kubernetes/client-node`, which the caller must install. Example:
   * `await cluster.client(CoreV1Api)`.
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
      throw new TypeError(`${api.name} is not an API of @kubernetes/client-node`)
    return client
  }

  /** Sends a request on behalf of the test, without a connection and without faults. */
  async request<T = unknown>(request: TestRequest): Promise<TestResponse<T>> {
    const { handle } = await this.#run()
    this.#beforeRequest(request.method ?? 'GET')
    this.#waits.noteRead(request.path)
    return await this.#restores.begin(() => ask<T>(handle, request, this.#history))
  }

  /**
   * Applies manifests with server-side apply: those of a folder or file, of a text with YAML
   * documents or JSON, or objects. Namespaces and CustomResourceDefinitions are applied first.
   * Returns the applied objects in the order of the manifests. If a manifest is not valid, throws
   * an error that names the file, the line and the reason.
   */
  apply(source: ApplySource): Promise<StoredObject[]> {
    return apply(source, this.#client)
  }

  /**
   * Waits until the condition returns a value that is not empty, and returns that value. The
   * condition is checked at each write and several times a second, even if it throws. If it never
   * holds, the promise is rejected at the timeout. The error contains the last value of the
   * condition, and the last writes and refused requests of the objects that the condition reads
   * with `cluster.request`. If the condition reads no objects in this way, the error contains the
   * last requests for all objects.
   */
  waitFor<T>(condition: () => T | NotYet | Promise<T | NotYet>, options?: WaitOptions): Promise<T> {
    return this.#waits.wait(condition, options)
  }

  /**
   * Returns checks of an object. Each check waits until it holds. Example: `await
   * cluster.expect(pod).toHaveCondition('Ready', 'True')`.
   */
  expect(object: ObjectReference): Expectation {
    return new Expectation(object, {
      client: this.#client,
      types: this.#types,
      waits: this.#waits,
    })
  }

  /**
   * Returns the writes since the cluster became ready, the oldest first. The filter selects some of
   * them. The history is limited to 64 MB of objects.
   */
  history(filter: HistoryFilter = {}): Write[] {
    return this.#history.read(filter)
  }

  /**
   * Returns the writes and the refused requests since the cluster became ready, the oldest first.
   * The filter selects some of them. A write contains the changed fields instead of the objects.
   * Only the newest 10,000 refused requests are included. Data of Secrets is never included.
   * Refused reads by `cluster.request`, and every `get` of an object that does not exist, are left
   * out.
   */
  timeline(filter: HistoryFilter = {}): TimelineEntry[] {
    return this.#history.timeline(filter)
  }

  /**
   * Returns another cluster that starts with the state of this one. After that, both are
   * independent. They share unchanged objects, so the duration of a fork does not depend on the
   * number of objects. The server of the fork starts with the first request to it.
   */
  async fork(): Promise<Cluster> {
    await this.#run()
    const offsetMs = this.clock.offsetMs
    const forked = { ...this.#parts, ...this.#accessOfFork(), offsetMs }
    return await Cluster.open({ ...forked, state: this.#engine.state(), isOrigin: false })
  }

  /**
   * Returns the credentials of a fork. A fork that a client creates over HTTPS gets separate
   * credentials, so that the client does not gain permissions in this cluster.
   */
  #accessOfFork(): Pick<ClusterState, 'config' | 'credentials'> {
    const { options, config, credentials } = this.#parts
    if (options.servesControl !== true) return { config, credentials }
    const own = createForkCredentials(credentials)
    return { config: configure({ ...options, log: silent }, own), credentials: own }
  }

  /** Returns a snapshot of the current state, which can be passed to `restore`. */
  snapshot(): Snapshot {
    this.#begin()
    return new Snapshot(this.#engine)
  }

  /**
   * Restores all objects to the state of a snapshot. The objects are written again:
   * resourceVersions increase, and watches receive the changes, so that controllers can continue to
   * run. Writes that are based on the earlier state are rejected, both from the server's
   * controllers and from clients. Requests that arrive during the restore wait. Resolves when the
   * roles, policies, webhooks, CRDs and controllers of the restored state are in effect. Fails if
   * another cluster created the snapshot.
   */
  async restore(snapshot: Snapshot): Promise<void> {
    if (!(snapshot instanceof Snapshot))
      throw new TypeError('restore needs a snapshot, which cluster.snapshot() returns')
    const state = snapshot.stateFor(this.#engine)
    await this.#run()
    this.#begin()
    const root = rootOf(this.#parts.config.storage.prefix)
    const isKept = (key: string): boolean => isLeaseOfServer(key, root)
    const rewind = (): void => this.#engine.rewind(state, { isKept, isSameObject })
    await this.#restores.restore(() => this.#history.restoring(rewind))
  }

  /**
   * Restores the initial objects of the cluster (for a fork, the objects at the time of the fork).
   * Removes all faults and the history. The clock is not changed.
   */
  async reset(): Promise<void> {
    await this.#run()
    this.faults.clear()
    this.#control?.clear()
    await this.restore(new Snapshot(this.#engine, this.#begin()))
    this.#history.clear()
  }

  /**
   * Stops the cluster. Requests in progress are completed, watches end, and all resources are
   * released.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  /** Stops the cluster at the end of a block that begins with `await using`. */
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

  /**
   * Called before each request. If the request may be the first write of the test, saves the state
   * that `reset` restores. Until then, only the server itself has written.
   */
  #beforeRequest(method: string): void {
    if (this.#begun === undefined && method !== 'GET' && method !== 'HEAD') this.#begin()
  }

  /** Returns the state that `reset` restores. */
  #begin(): EngineState {
    if (this.#begun !== undefined) return this.#begun
    this.#begun = this.#engine.state()
    if (this.#parts.state === undefined) initialStates.keep(this.#parts.options, this.#begun)
    return this.#begun
  }

  #createEngine(state: EngineState | undefined): MemoryEngine {
    const { time } = this.clock
    const options = {
      // Run timers outside the asynchronous context of a request. Otherwise, if a lease expires,
      // this would be recorded as a write of the request that started the timer.
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

  #addedResources(): AddedResources {
    const root = rootOf(this.#parts.config.storage.prefix)
    const namesIn = (folder: string): string[] =>
      this.#engine
        .keysIn(`${root}${folder}/`)
        .map((key) => key.slice(root.length + folder.length + 1))
    return {
      definitions: namesIn('apiextensions.k8s.io/customresourcedefinitions'),
      apiServices: namesIn('apiregistration.k8s.io/apiservices'),
    }
  }

  #onMoved(): void {
    this.#history.outside(() => this.#engine.endDueLeases())
  }

  /**
   * Returns a server with a copy of the current state. The server starts with its first request.
   *
   * The state never changes: the server does not write, and leases do not expire. Otherwise the
   * resourceVersion of a list would include writes that the list does not contain, and a watch from
   * that version would not report them.
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
   * Calls `run` when the cluster has stopped.
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

/** The name of the cluster in kubeconfigs. */
const clusterName = 'keelson'

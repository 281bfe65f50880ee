/**
 * Restarts the replicas behind a load balancer one after the other, under load. No request of a
 * well-behaved client may fail, no watcher may lose an event, and watches must end at times that
 * are spread over the grace period.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN_TOKEN, type ApiServerProcess } from '../../support/harness/api-server.ts'
import { freePorts, startEtcd } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { until } from '../../support/harness/until.ts'
import { Balancer } from './balancer.ts'
import { readList, SoakClient } from './client.ts'
import { SteadyClient } from './steady-client.ts'
import { Watcher } from './watcher.ts'

export type RollingOptions = {
  readonly requestsPerSecond: number
  readonly watchers: number
  readonly replicas?: number
  /** Additional flags, such as --shutdown-send-retry-after. */
  readonly args?: readonly string[]
  readonly watchGraceSeconds: number
  /**
   * Time for which a replica continues to serve after SIGTERM. The load balancer must detect the
   * shutdown during this time.
   */
  readonly delaySeconds: number
  /**
   * Minimum number of responses between two restarts, given as the number of seconds in which the
   * intended load causes this many responses.
   */
  readonly calmSeconds?: number
  /** Called with progress messages. */
  readonly tell?: (line: string) => void
}

export type RollingResult = {
  readonly faults: readonly string[]
  readonly requests: number
  /**
   * Average number of responses per second. On a slow machine, it is less than the option
   * `requestsPerSecond`.
   */
  readonly requestsPerSecond: number
  /**
   * Number of requests that were retried because no server had begun to process them. `toldToWait`
   * is the number of responses that asked the client to retry later.
   */
  readonly refused: number
  readonly toldToWait: number
  readonly connections: number
  readonly events: number
  readonly resumes: number
  /**
   * How the watches of each replica ended: the number of watches, and the time from the first end
   * to the last.
   */
  readonly ends: readonly { readonly count: number; readonly ms: number }[]
  /** Median, 99th percentile and maximum of the request latency, in milliseconds. */
  readonly latency: readonly [number, number, number]
}

/**
 * Number of clients that send requests. With more clients, each network packet would hold only one
 * request, and sending the packets would take more CPU time than the requests.
 */
const CLIENTS = 12
/**
 * Number of objects that are read and written. Concurrent writes to one object are retried, so
 * there are many objects. The number is prime, so that the writes reach all objects.
 */
const OBJECTS = 997
const WATCHERS_PER_CLIENT = 25
/** Maximum number of writes per second in the namespace that the watchers watch. */
const WATCHED_WRITES_PER_SECOND_MAX = 10
/**
 * Maximum number of events per second for all watchers together. With more events, the watchers
 * would use the CPU time that the requests need.
 */
const EVENTS_PER_SECOND_MAX = 2_000
const WATCHED_OBJECTS = 20
const TICK_MS = 20
/**
 * Maximum number of requests in progress, given as the number of seconds in which the intended load
 * sends this many requests. A slow machine could not process more requests at once.
 */
const UNDER_WAY_SECONDS_MAX = 5
/** Default of `calmSeconds`. */
const CALM_SECONDS = 3
/**
 * Maximum duration of a calm period. It is long, because a slow machine cannot keep up with the
 * intended load. The clients detect requests that never get a response.
 */
const CALM_MS_MAX = 600_000
/**
 * Maximum time for a replica to stop. It includes the shutdown delay, the grace period, and
 * requests in progress on a busy machine.
 */
const STOP_MS_MAX = 120_000

const objectsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`

export async function restartInTurn(options: RollingOptions): Promise<RollingResult> {
  const {
    replicas = 3,
    watchGraceSeconds,
    delaySeconds,
    calmSeconds = CALM_SECONDS,
    args = [],
    tell: report = () => undefined,
  } = options
  await using etcd = await startEtcd()
  const ports = await freePorts(replicas)
  const flags = [
    `--shutdown-delay-duration=${delaySeconds}s`,
    `--shutdown-watch-termination-grace-period=${watchGraceSeconds}s`,
    '--max-requests-inflight=0',
    ...args,
  ]
  await using stack = new AsyncDisposableStack()
  const servers: ApiServerProcess[] = []
  // Start the servers one after the other. The first one creates the initial objects of a cluster.
  for (const port of ports)
    servers.push(stack.use(await startKeelson({ etcdUrl: etcd.clientUrl, port, args: flags })))
  const balancer = stack.use(new Balancer(ports))
  await balancer.listen()
  await until(() => ports.every((port) => balancer.isReady(port)), 'all replicas are ready')
  const load = stack.use(await Load.start(balancer.url, options))
  report('under load')
  await load.answers(calmSeconds)
  const ends: RollingResult['ends'][number][] = []
  for (const [at, server] of servers.entries()) {
    load.endedAtMs.length = 0
    report(`restarts ${at + 1} of ${servers.length}: ${load.progress}`)
    await server.restart('SIGTERM', STOP_MS_MAX)
    const ended = load.endedAtMs.toSorted((one, other) => one - other)
    ends.push({ count: ended.length, ms: (ended.at(-1) ?? 0) - (ended[0] ?? 0) })
    await until(() => balancer.isReady(ports[at] ?? 0), 'the replica is ready again')
    await load.answers(calmSeconds)
  }
  report('ends')
  return { ...(await load.end()), ends }
}

class Load implements AsyncDisposable {
  /** The times at which watches ended, as returned by performance.now(). */
  readonly endedAtMs: number[] = []
  readonly #clients: readonly SteadyClient[]
  readonly #watchers: readonly Watcher[]
  readonly #admin: SteadyClient
  readonly #resources = new DisposableStack()
  readonly #stopped = new AbortController()
  readonly #under = new Set<Promise<void>>()
  readonly #faults: string[] = []
  readonly #latencies: number[] = []
  readonly #requestsPerSecond: number
  readonly #writesPerSecond: number
  #requests = 0
  #startMs = 0
  #watching: Promise<void>[] = []
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  constructor(url: string, { watchers, requestsPerSecond }: RollingOptions) {
    this.#requestsPerSecond = requestsPerSecond
    this.#writesPerSecond = Math.min(
      WATCHED_WRITES_PER_SECOND_MAX,
      EVENTS_PER_SECOND_MAX / Math.max(watchers, 1),
    )
    const steady = (): SteadyClient => this.#resources.use(new SteadyClient(url, ADMIN_TOKEN))
    this.#admin = steady()
    this.#clients = Array.from({ length: CLIENTS }, steady)
    const soaking = Array.from({ length: Math.ceil(watchers / WATCHERS_PER_CLIENT) }, () =>
      this.#resources.use(new SoakClient(url)),
    )
    const [first] = soaking
    this.#watchers =
      first === undefined
        ? []
        : Array.from({ length: watchers }, (_, at) => {
            const client = soaking[Math.floor(at / WATCHERS_PER_CLIENT)] ?? first
            return new Watcher(client, objectsIn('watched'), {
              onEnd: () => this.endedAtMs.push(performance.now()),
            })
          })
  }

  static async start(url: string, options: RollingOptions): Promise<Load> {
    const load = new Load(url, options)
    await load.#begin()
    return load
  }

  async #begin(): Promise<void> {
    const requestsPerSecond = this.#requestsPerSecond
    for (const name of ['watched', 'busy']) {
      await this.#admin.call('POST', '/api/v1/namespaces', { metadata: { name } })
    }
    let made = 0
    const make = async (client: SteadyClient): Promise<void> => {
      while (made < OBJECTS) {
        const name = `own-${made++}`
        const { status, text } = await client.call('POST', objectsIn('busy'), {
          metadata: { name },
        })
        if (status !== 201) throw new Error(`${name}: ${status} ${text}`)
      }
    }
    await Promise.all(this.#clients.map(make))
    for (const watcher of this.#watchers) await watcher.list()
    this.#watching = this.#watchers.map((watcher) => watcher.run(this.#stopped.signal))
    this.#writing = this.#writeWatched()
    this.#startMs = performance.now()
    let begun = 0
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - this.#startMs) * requestsPerSecond) / 1000)
      // Skip overdue requests after a pause of the machine, instead of sending all of them at once.
      begun = Math.max(begun, due - requestsPerSecond)
      const underWayMax = UNDER_WAY_SECONDS_MAX * requestsPerSecond
      for (; begun < due && this.#under.size < underWayMax; begun++) this.#request(begun)
    }, TICK_MS)
  }

  get progress(): string {
    const seconds = (performance.now() - this.#startMs) / 1000
    return `${this.#requests} requests answered in ${seconds.toFixed(0)} s, ${this.#under.size} in progress`
  }

  /** Waits for the number of responses that the intended load causes in this many seconds. */
  async answers(seconds: number): Promise<void> {
    const wanted = this.#requests + seconds * this.#requestsPerSecond
    await until(
      () => this.#requests >= wanted || this.#faults.length > 0,
      `${wanted} requests were answered`,
      CALM_MS_MAX,
    )
  }

  /** Sends a request. Out of ten requests, seven are reads, two are writes and one is a list. */
  #request(count: number): void {
    const client = this.#clients[count % CLIENTS] ?? this.#admin
    const name = `own-${count % OBJECTS}`
    const path = `${objectsIn('busy')}/${name}`
    const kind = Math.floor(count / CLIENTS) % 10
    const object = { metadata: { name }, data: { value: `${count}` } }
    const [method, where, body] =
      kind < 7
        ? ['GET', path]
        : kind < 9
          ? ['PUT', path, object]
          : ['GET', `${objectsIn('busy')}?limit=5`]
    const startMs = performance.now()
    const asked = client.call(method ?? '', where ?? '', body).then(
      ({ status, text }) => {
        this.#latencies.push(performance.now() - startMs)
        this.#requests++
        if (status !== 200) this.#faults.push(`${method} ${where}: ${status} ${text.slice(0, 200)}`)
      },
      (error: unknown) => void this.#faults.push(String(error)),
    )
    this.#under.add(asked)
    void asked.finally(() => this.#under.delete(asked))
  }

  async #writeWatched(): Promise<void> {
    const there = new Set<string>()
    for (let count = 0; !this.#stopped.signal.aborted; count++) {
      const name = `seen-${count % WATCHED_OBJECTS}`
      const path = objectsIn('watched')
      // Each object is created, updated twice and deleted.
      const round = Math.floor(count / WATCHED_OBJECTS) % 4
      const object = { metadata: { name }, data: { value: `${count}` } }
      const answer = !there.has(name)
        ? await this.#admin.call('POST', path, object)
        : round === 3
          ? await this.#admin.call('DELETE', `${path}/${name}`)
          : await this.#admin.call('PUT', `${path}/${name}`, object)
      if (answer.status > 201)
        this.#faults.push(`${name}: ${answer.status} ${answer.text.slice(0, 200)}`)
      if (round === 3) there.delete(name)
      else there.add(name)
      await sleep(1000 / this.#writesPerSecond)
    }
  }

  /** Waits for the requests in progress, and returns the result. */
  async end(): Promise<Omit<RollingResult, 'ends'>> {
    clearInterval(this.#timer)
    await Promise.all(this.#under)
    const seconds = (performance.now() - this.#startMs) / 1000
    this.#stopped.abort()
    await this.#writing.catch((error: unknown) => this.#faults.push(String(error)))
    const { items } = readList(
      JSON.parse((await this.#admin.call('GET', objectsIn('watched'))).text),
    )
    const isThere = (watcher: Watcher): boolean =>
      watcher.state.size === items.length &&
      items.every(({ metadata }) => watcher.state.get(metadata.name) === metadata.resourceVersion)
    await until(() => this.#watchers.every(isThere), 'every watcher has the state of a list').catch(
      () =>
        void this.#faults.push(
          `${this.#watchers.filter((one) => !isThere(one)).length} watchers lost events`,
        ),
    )
    for (const watcher of this.#watchers) this.#faults.push(...watcher.faults)
    const clients = [this.#admin, ...this.#clients]
    const sorted = this.#latencies.toSorted((one, other) => one - other)
    const share = (part: number): number =>
      Math.round(sorted[Math.floor(part * (sorted.length - 1))] ?? 0)
    return {
      faults: this.#faults,
      requests: this.#requests,
      requestsPerSecond: Math.round(this.#requests / seconds),
      refused: sum(clients.map(({ refused }) => refused)),
      toldToWait: sum(clients.map(({ toldToWait }) => toldToWait)),
      connections: sum(clients.map(({ connections }) => connections)),
      events: sum(this.#watchers.map(({ events }) => events)),
      resumes: sum(this.#watchers.map(({ resumes }) => resumes)),
      latency: [share(0.5), share(0.99), share(1)],
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#stopped.abort()
    this.#resources.dispose()
    await Promise.allSettled([...this.#watching, ...this.#under, this.#writing])
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, one) => all + one, 0)
}

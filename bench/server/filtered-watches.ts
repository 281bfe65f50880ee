/**
 * Loads with thousands of watches that each match few changes, while Pods change 2,000 times per
 * second. The cost of an event should grow with the number of matching watches, not with the total
 * number of watches. For comparison, the same changes are also made without any watch.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Figures, h2load } from './h2load.ts'
import { Http2Client } from './http2-client.ts'
import { inLanes } from './lanes.ts'
import { APPS, appName, createManyPods, nodeName, podName, podsPath } from './many-pods.ts'
import { cpuSeconds } from './process-usage.ts'
import type { Target } from './targets.ts'
import type { Workload, WorkloadOptions } from './workloads.ts'

const pods = { namespace: 'bench-watched', count: 8000, nodes: 5000 }
const CHANGES_PER_SECOND = 2000
/**
 * Share of the Pods that are changed while watches are open. Each of these Pods is changed once.
 * The remaining Pods are changed while no watch is open.
 */
const WATCHED_SHARE = 3 / 4
/** Number of watches per connection. By default, servers allow this number of streams. */
const WATCHES_PER_CONNECTION = 100
const LANES = 16
/** Wait after the last change, so that the last events arrive. */
const SETTLE_MS = 1000

type Watches = {
  readonly name: string
  readonly about: string
  readonly count: number
  readonly path: (at: number) => string
}

const all = '/api/v1/pods?watch=1'
const watches: readonly Watches[] = [
  {
    name: 'watch-by-node',
    about: 'the Pods of a node each',
    count: pods.nodes,
    path: (at) => `${all}&fieldSelector=spec.nodeName%3D${nodeName(at)}`,
  },
  {
    name: 'watch-by-label',
    about: 'the 1 % with a label',
    count: 500,
    path: (at) => `${all}&labelSelector=app%3D${appName(at % APPS)}`,
  },
  {
    name: 'watch-by-name',
    about: 'one Pod each',
    count: pods.nodes,
    path: (at) =>
      `${podsPath(pods.namespace)}?watch=1&fieldSelector=metadata.name%3D${podName(at)}`,
  },
  {
    name: 'watch-by-namespace',
    about: 'one unused namespace each',
    count: 1000,
    path: (at) => `${podsPath(`elsewhere-${at}`)}?watch=1`,
  },
]

export function filteredWatches({ scale, directory }: WorkloadOptions): Workload[] {
  return watches.map((kind) => ({
    name: kind.name,
    about: `${kind.count} watches of ${kind.about} while ${pods.count} Pods change, ${CHANGES_PER_SECOND} a second`,
    prepare: (target) => createManyPods(target, pods),
    warmUps: 1,
    run: (target) => measure(target, kind, { scale, directory }),
  }))
}

async function measure(
  target: Target,
  { count, path }: Watches,
  { scale, directory }: WorkloadOptions,
): Promise<Figures> {
  const paths = Array.from(
    { length: pods.count },
    (_, at) => `${podsPath(pods.namespace)}/${podName(at)}/status`,
  )
  const changed = Math.round(pods.count * scale)
  const unwatched = Math.round(changed * (1 - WATCHED_SHARE))
  const change = (uri: readonly string[]): Promise<Figures> => changePods(target, uri, directory)
  const alone = await change(paths.slice(0, unwatched))
  using watching = new WatchCounter(target)
  await watching.start(count, path)
  const cpuBefore = cpuSeconds(target.pid)
  const figures = await change(paths.slice(unwatched, changed))
  await sleep(SETTLE_MS)
  const cpuMicros = ((cpuSeconds(target.pid) - cpuBefore) / (changed - unwatched)) * 1e6
  const note = `${watching.events} events seen of ${changed - unwatched} changes; an unwatched change takes ${alone.cpuMicros.toFixed(0)} µs`
  return { ...figures, cpuMicros, note }
}

/**
 * Changes each Pod once, with a single client of h2load. Several clients would each change the
 * first Pods, because every client of h2load starts at the beginning of the list of URLs.
 */
function changePods(target: Target, uri: readonly string[], directory: string): Promise<Figures> {
  const status = {
    message: `changed at ${Date.now()}`,
    conditions: [{ type: 'Ready', status: 'True' }],
  }
  return h2load(
    target,
    {
      uri,
      amount: { requests: uri.length },
      perSecond: CHANGES_PER_SECOND,
      clients: 1,
      streams: 64,
      method: 'PATCH',
      headers: {
        'content-type': 'application/strategic-merge-patch+json',
        accept: 'application/json',
      },
      body: JSON.stringify({ status }),
    },
    directory,
  )
}

/** Opens watches from the current state, a hundred per connection, and counts their events. */
class WatchCounter implements Disposable {
  readonly #target: Target
  readonly #clients: Http2Client[] = []
  #events = 0

  constructor(target: Target) {
    this.#target = target
  }

  get events(): number {
    return this.#events
  }

  async start(count: number, path: (at: number) => string): Promise<void> {
    for (let at = 0; at < count; at += WATCHES_PER_CONNECTION)
      this.#clients.push(new Http2Client(this.#target))
    const list =
      (await this.#clients[0]?.ask({ path: `${podsPath(pods.namespace)}?limit=1` }))?.toString(
        'utf8',
      ) ?? ''
    const version = /"resourceVersion":"(\d+)"/.exec(list)?.[1]
    await inLanes({ count, lanes: LANES }, async (at) => {
      const client = this.#clients[Math.floor(at / WATCHES_PER_CONNECTION)]
      await client?.watch({ path: `${path(at)}&resourceVersion=${version}` }, (piece) =>
        this.#count(piece),
      )
    })
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients) client[Symbol.dispose]()
  }

  /**
   * Counts newlines. Each event ends with a newline, and the JSON that a server sends contains no
   * others.
   */
  #count(piece: Buffer): void {
    for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) this.#events++
  }
}

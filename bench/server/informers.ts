/**
 * Loads that start informers for all Pods, in JSON and in protobuf. An informer starts either with
 * one list or with a streaming list (KEP-3157), and accepts any resourceVersion. In some loads, the
 * server has been used before (warm). In others, it has just become ready (cold), or its start is
 * also measured (restart). kube-apiserver reads all objects before it reports that it is ready;
 * Keelson reads them for the first request.
 */
import { filteredPods } from './filtered-lists.ts'
import { type Figures, h2load } from './h2load.ts'
import { Http2Client } from './http2-client.ts'
import { measureLanes } from './lanes.ts'
import { createManyPods, podsPath } from './many-pods.ts'
import { cpuSeconds } from './process-usage.ts'
import type { Target } from './targets.ts'
import type { Workload, WorkloadOptions } from './workloads.ts'

const STARTS = 6
const json = 'application/json'
const protobuf = 'application/vnd.kubernetes.protobuf'
const path = podsPath(filteredPods.namespace)
const listPath = `${path}?resourceVersion=0`
const streaming =
  'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'
/** Annotation of the bookmark that follows the last initial object of a streaming list. */
const END = 'k8s.io/initial-events-end'

type Start = {
  readonly name: string
  readonly about: string
  readonly start: (client: Http2Client) => Promise<number>
  /** Accept header of informers that start with a list. */
  readonly listed?: string
}

const starts: readonly Start[] = [
  {
    name: 'informer-json',
    about: 'a list in JSON',
    start: (client: Http2Client) => list(client, json),
    listed: json,
  },
  {
    name: 'informer-protobuf',
    about: 'a list in protobuf',
    start: (client: Http2Client) => list(client, protobuf),
    listed: protobuf,
  },
  {
    name: 'informer-stream',
    about: 'a streaming list in JSON',
    start: (client: Http2Client) => stream(client, json),
  },
  {
    name: 'informer-stream-protobuf',
    about: 'a streaming list in protobuf',
    start: (client: Http2Client) => stream(client, `${protobuf};stream=watch`),
  },
]

export function informers({ scale, directory }: WorkloadOptions): Workload[] {
  const count = Math.max(2, Math.round(STARTS * scale))
  return starts.flatMap(({ name, about, start, listed }): Workload[] => [
    {
      name,
      about: `an informer of ${filteredPods.count} pods starts with ${about}`,
      prepare,
      run: (target) =>
        listed === undefined
          ? measure(target, start, count)
          : measureLists(target, { listed, count, directory }),
    },
    {
      name: `${name}-cold`,
      about: `an informer of ${filteredPods.count} pods starts with ${about}, the first one after the server has started`,
      prepare,
      warmUps: 0,
      run: async (target) => {
        if (target.restart === undefined)
          throw new Error(
            `${target.name}: this load restarts the server, which is not possible for this target`,
          )
        await target.restart('SIGTERM')
        return await measure(target, start, 1)
      },
    },
    {
      name: `${name}-restart`,
      about: `an informer of ${filteredPods.count} pods starts with ${about}, counted from the start of the server`,
      prepare,
      warmUps: 0,
      run: (target) => measureRestart(target, start),
    },
  ])
}

const prepare = (target: Target): Promise<void> => createManyPods(target, filteredPods)

/** Starts informers one after the other. Each uses a new connection, as real informers do. */
function measure(
  target: Target,
  start: (client: Http2Client) => Promise<number>,
  count: number,
): Promise<Figures> {
  return measureLanes(target, { count, lanes: 1 }, async () => {
    using client = new Http2Client(target)
    return await start(client)
  })
}

type Lists = { readonly listed: string; readonly count: number; readonly directory: string }

/**
 * Measures with h2load, because a client in Node uses two to three times as much CPU time for a
 * list as the server.
 */
function measureLists(target: Target, { listed, count, directory }: Lists): Promise<Figures> {
  const amount = { requests: count }
  const load = { uri: listPath, amount, clients: 1, streams: 1, headers: { accept: listed } }
  return h2load(target, load, directory)
}

/**
 * Restarts the server before each informer. The old server is killed, because a graceful shutdown
 * is not part of the measurement.
 */
async function measureRestart(
  target: Target,
  start: (client: Http2Client) => Promise<number>,
): Promise<Figures> {
  if (target.restart === undefined)
    throw new Error(
      `${target.name}: this load restarts the server, which is not possible for this target`,
    )
  const beganMs = performance.now()
  await target.restart('SIGKILL')
  using client = new Http2Client(target)
  const bytes = await start(client)
  const ms = performance.now() - beganMs
  const cpuMicros = cpuSeconds(target.pid) * 1e6
  return { failed: 0, perSecond: 1000 / ms, p50: ms, p99: ms, megabytes: bytes / 1e6, cpuMicros }
}

async function list(client: Http2Client, accept: string): Promise<number> {
  return (await client.ask({ path: listPath, headers: { accept } })).length
}

function stream(client: Http2Client, accept: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0
    let tail = ''
    const onData = (piece: Buffer): void => {
      bytes += piece.length
      const text = tail + piece.toString('latin1', Math.max(0, piece.length - TAIL_BYTES))
      if (text.includes(END)) resolve(bytes)
      tail = text.slice(-TAIL_BYTES)
    }
    client.watch({ path: `${path}?${streaming}`, headers: { accept } }, onData).catch(reject)
  })
}

/**
 * Number of bytes at the end of a chunk that are searched for the bookmark. A bookmark can extend
 * over two chunks, so the same number of bytes at the end of the previous chunk are also searched.
 */
const TAIL_BYTES = 2000

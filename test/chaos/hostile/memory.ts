/**
 * Checks that a server with a memory limit of 512 MB stays below this limit under loads that need
 * much memory: `node test/chaos/hostile/memory.ts`. The operating system does not enforce the
 * limit. Instead, the heap is limited as in a container of this size, and the resident memory is
 * measured continuously. The server must stay below the limit, respond to a well-behaved client
 * throughout, and be running at the end.
 *
 *   --seconds N   duration of each load (15).
 *   --only TEXT   runs only loads whose name contains it.
 */
import { connect as connectHttp2, type SecureClientSessionOptions } from 'node:http2'
import { totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, createSecureContext } from 'node:tls'
import { parseArgs } from 'node:util'
import { residentMiB } from '../../../bench/server/process-usage.ts'
import { planMemory } from '../../../src/lib/process/memory-plan.ts'
import type { ApiServerProcess } from '../../support/harness/api-server.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { startWitness } from './witness-thread.ts'

const LIMIT_MIB = 512
/** Heap limit that Node.js uses in a container of this size. */
const HEAP_MIB = 256
/**
 * The memory limits that Keelson would choose in a container of this size. They are passed as
 * flags, because this test cannot create such a container.
 */
const plan = planMemory({
  requestBytesMax: null,
  cacheBytesMax: null,
  totalBytes: totalmem(),
  constrainedBytes: LIMIT_MIB << 20,
  heapBytes: HEAP_MIB << 20,
  filesMax: Infinity,
})
const flags = [`--request-memory-max=${plan.requestBytes}`, `--cache-memory-max=${plan.cacheBytes}`]
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '15' }, only: { type: 'string', default: '' } },
})
const LOAD_MS = Number(values.seconds) * 1000
const REST_MS = 3_000
/**
 * Delay before a client that has lost its connection reconnects. Without it, the clients would
 * block the event loop of this program.
 */
const GONE_MS = 50
/** Maximum time to wait for the headers of responses. */
const BEGUN_MS = 1_000
const LARGE_OBJECTS = 150
const LARGE_BYTES = 1_000_000

const maps = '/api/v1/namespaces/default/configmaps'
const large = '/api/v1/namespaces/large/configmaps'

process.env['NODE_OPTIONS'] = `--max-old-space-size=${HEAP_MIB}`
await using etcd = await startEtcd()
await using server = await startKeelson({ etcdUrl: etcd.clientUrl, args: flags })
process.env['NODE_OPTIONS'] = ''

type Load = { readonly name: string; readonly run: (untilMs: number) => Promise<void> }

const authorization = `Bearer ${server.token}`
/**
 * Token of a user who has all permissions but is not in system:masters, so that flow control and
 * memory budgets apply.
 */
const ordinary = 'Bearer alice-token'
const port = Number(new URL(server.url).port)
/**
 * TLS context of all connections. It is shared because creating a context takes longer than a
 * handshake.
 */
const secureContext = createSecureContext()
const session = (options: SecureClientSessionOptions = {}) => {
  const made = connectHttp2(server.url, { rejectUnauthorized: false, secureContext, ...options })
  made.on('error', () => undefined)
  made.setMaxListeners(0)
  return made
}

async function call(
  made: ReturnType<typeof session>,
  headers: Record<string, string>,
  body?: string | Buffer,
): Promise<number> {
  if (made.destroyed || made.closed) {
    await sleep(GONE_MS)
    return 0
  }
  return new Promise((resolve) => {
    const stream = made.request({ authorization, 'content-type': 'application/json', ...headers })
    stream.on('error', () => resolve(0))
    stream.on('response', (answer) => resolve(answer[':status'] ?? 0))
    stream.on('close', () => resolve(0))
    // Destroy the stream at the end of the response. If a response ends before the whole request
    // body has been sent, Node.js would otherwise retain the stream and the body. After four such
    // streams, a session receives no more responses.
    stream.on('end', () => stream.destroy())
    stream.resume()
    stream.end(body)
  })
}

/**
 * Opens connections that are destroyed when the time is over, even if responses are pending.
 * Waiting for the responses would take minutes on a busy machine.
 */
function sessions(count: number, untilMs: number): ReturnType<typeof session>[] {
  const all = Array.from({ length: count }, () => session())
  setTimeout(
    () => {
      for (const one of all) one.destroy()
    },
    Math.max(0, untilMs - performance.now()),
  )
  return all
}

const repeat = (count: number, untilMs: number, once: () => Promise<unknown>): Promise<unknown> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      while (performance.now() < untilMs) await once()
    }),
  )

/**
 * Bodies of three megabytes that need many times as much memory when they are decoded: small values
 * and deep lists.
 */
const manyValues = `{"metadata":{"generateName":"x-"},"data":{${Array.from({ length: 150_000 }, (_, at) => `"k${at}":"v${at}"`).join(',')}}}`
const deep = `{"metadata":{"generateName":"x-"},"unknown":${'['.repeat(9_000)}${']'.repeat(9_000)}}`
const long = JSON.stringify({
  metadata: { generateName: 'x-' },
  data: { text: 'x'.repeat(2_500_000) },
})

/** Sends requests, each on its own connection, and does not read the responses. */
async function hold(
  path: string,
  count: number,
  untilMs: number,
  more: Record<string, string> = {},
): Promise<void> {
  const held = Array.from({ length: count }, () => {
    const made = session()
    const stream = made.request({ ':path': path, authorization, ...more })
    stream.on('error', () => undefined)
    stream.pause()
    return made
  })
  await sleep(Math.max(0, untilMs - performance.now()))
  for (const made of held) made.destroy()
}

/**
 * Opens HTTP/2 streams with flow-control windows of zero, so that the server has to buffer the
 * responses. Opens the connections one after the other.
 */
async function holdShort(connections: number, streams: number, untilMs: number): Promise<void> {
  const held: ReturnType<typeof session>[] = []
  for (let count = 0; count < connections && performance.now() < untilMs; count++) {
    const made = session({ settings: { initialWindowSize: 0 } })
    held.push(made)
    const begun = Array.from({ length: streams }, () => {
      const stream = made.request({ ':path': `${maps}/short?pretty=true`, authorization: ordinary })
      stream.on('error', () => undefined)
      stream.pause()
      return new Promise((resolve) => stream.on('response', resolve).on('close', resolve))
    })
    await Promise.race([Promise.all(begun), sleep(BEGUN_MS)])
  }
  await sleep(Math.max(0, untilMs - performance.now()))
  for (const made of held) made.destroy()
}

const loads: readonly Load[] = [
  {
    name: 'large bodies of many values, at once on 100 connections',
    run: async (untilMs) => {
      const all = sessions(100, untilMs)
      await Promise.all(
        all.map((one) =>
          repeat(1, untilMs, () => call(one, { ':method': 'POST', ':path': maps }, manyValues)),
        ),
      )
    },
  },
  {
    name: 'large bodies of one value, and deep ones',
    run: async (untilMs) => {
      const all = sessions(50, untilMs)
      const send = (body: string) => (one: ReturnType<typeof session>) =>
        repeat(1, untilMs, () => call(one, { ':method': 'POST', ':path': maps }, body))
      await Promise.all([...all.slice(0, 25).map(send(long)), ...all.slice(25).map(send(deep))])
    },
  },
  { name: 'readers of 150 MB who do not read', run: (untilMs) => hold(large, 200, untilMs) },
  {
    name: 'the same, compressed',
    run: (untilMs) => hold(large, 100, untilMs, { 'accept-encoding': 'gzip' }),
  },
  {
    name: 'the same as tables',
    run: (untilMs) =>
      hold(large, 100, untilMs, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }),
  },
  {
    name: 'watches that are sent everything and read nothing',
    run: (untilMs) =>
      hold(
        `${large}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        300,
        untilMs,
      ),
  },
  {
    name: 'watches of what is written all the time',
    run: async (untilMs) => {
      const [writer = session()] = sessions(1, untilMs)
      await Promise.all([
        hold(`${maps}?watch=1`, 500, untilMs),
        repeat(4, untilMs, () =>
          call(
            writer,
            { ':method': 'POST', ':path': maps },
            JSON.stringify({
              metadata: { generateName: 'w-' },
              data: { text: 'x'.repeat(200_000) },
            }),
          ),
        ),
      ])
    },
  },
  {
    name: 'lists without pause on 300 connections',
    run: async (untilMs) => {
      const all = sessions(300, untilMs)
      await Promise.all(all.map((one) => repeat(1, untilMs, () => call(one, { ':path': large }))))
    },
  },
  {
    name: 'short answers behind closed windows',
    run: (untilMs) => holdShort(120, 250, untilMs),
  },
  {
    name: 'two thousand connections',
    run: async (untilMs) => {
      const sockets = Array.from({ length: 2_000 }, () => {
        const options = { rejectUnauthorized: false, ALPNProtocols: ['h2'], secureContext }
        const socket = connect({ port, host: '127.0.0.1', ...options })
        socket.on('error', () => undefined)
        return socket
      })
      await sleep(Math.max(0, untilMs - performance.now()))
      for (const socket of sockets) socket.destroy()
    },
  },
]

async function prepare({ token }: ApiServerProcess): Promise<void> {
  const made = session()
  const post = (path: string, object: object): Promise<number> =>
    call(
      made,
      { ':method': 'POST', ':path': path, authorization: `Bearer ${token}` },
      JSON.stringify(object),
    )
  await post('/api/v1/namespaces', { metadata: { name: 'large' } })
  const apiGroup = 'rbac.authorization.k8s.io'
  await post(`/apis/${apiGroup}/v1/clusterrolebindings`, {
    metadata: { name: 'ordinary' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup, kind: 'User', name: 'alice' }],
  })
  for (let at = 0; at < LARGE_OBJECTS; at++) {
    const status = await post(large, {
      metadata: { name: `large-${at}` },
      data: { text: 'x'.repeat(LARGE_BYTES) },
    })
    if (status !== 201) throw new Error(`large-${at}: ${status}`)
  }
  const text = Array.from({ length: 3_000 }, (_, line) => `line ${line}`).join('\n')
  await post(maps, { metadata: { name: 'short' }, data: { text: text + 'x'.repeat(20_000) } })
  made.destroy()
}

let mostMiB = 0
let isOver = false
const faults: string[] = []
const watching = (async () => {
  while (!isOver) {
    mostMiB = Math.max(mostMiB, residentMiB(server.pid))
    await sleep(50)
  }
})()

await prepare(server)
console.log(`prepared: ${residentMiB(server.pid).toFixed(0)} MiB`)
for (const { name, run } of loads.filter((load) => load.name.includes(values.only))) {
  mostMiB = 0
  // Connect the well-behaved client before the load starts.
  const testify = await startWitness(server.url, ['/readyz', '/api/v1/namespaces/default'])
  await run(performance.now() + LOAD_MS)
  const { answered, slowestMs, failures } = await testify()
  await sleep(REST_MS)
  console.log(
    `${name}: ${mostMiB.toFixed(0)} MiB at most, ${residentMiB(server.pid).toFixed(0)} afterwards; ${answered} responses meanwhile, the slowest after ${(slowestMs / 1000).toFixed(1)} s`,
  )
  for (const failure of failures.slice(0, 3)) console.log(`  ${failure}`)
  if (mostMiB > LIMIT_MIB) faults.push(`${name}: ${mostMiB.toFixed(0)} MiB`)
  if (answered === 0) faults.push(`${name}: the well-behaved client did not get a response`)
}
isOver = true
await watching.catch(() => faults.push('the server process ended'))
const last = session()
if ((await call(last, { ':path': '/readyz' })) !== 200)
  faults.push('the server does not respond at the end')
last.destroy()
console.log(faults.length === 0 ? 'passed' : `failed:\n${faults.join('\n')}`)
process.exitCode = faults.length === 0 ? 0 : 1

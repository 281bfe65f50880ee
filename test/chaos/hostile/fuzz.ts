/**
 * Sends hostile input to a server: `npm run fuzz`. A server on a real etcd gets malformed requests
 * and attacks that are generated from a seed, while a well-behaved client continues its work. The
 * server must not crash, leave a promise rejection unhandled, or return an unexpected error. At the
 * end it must not hold more memory and connections than before. All traffic stays on 127.0.0.1.
 *
 *   --requests N   number of malformed requests (200,000).
 *   --short        12,000 requests, for CI.
 *   --seed S       repeats the random choices of an earlier run.
 */
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type ClientHttp2Session } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type ApiServerProcess, ADMIN_TOKEN } from '../../support/harness/api-server.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { Random } from '../simulation/random.ts'
import { type Attack, attacks } from './attacks.ts'
import { inspect, residentBytes } from './inspect.ts'
import { type HostileRequest, hostileRequest, NAMESPACE } from './requests.ts'
import { quantile, Witness } from './witness.ts'

const REQUESTS = 200_000
const REQUESTS_SHORT = 12_000
/** Number of connections, and number of concurrent requests on each of them. */
const LANES = 4
const REQUESTS_PER_LANE = 25
/** Time after which a missing response counts as a fault. */
const ANSWER_MS_MAX = 20_000
/**
 * Maximum growth of live memory after the first fifth of the run. Caches that are not yet full
 * cause some growth.
 */
const GROWTH_BYTES_MAX = 16 * 1024 * 1024
/**
 * Maximum time until the server has closed all connections. If a client disappears while responses
 * are pending, the server detects this after at most twice its longest timeout, which is 90 s.
 */
const LET_GO_MS_MAX = 200_000
/**
 * Maximum number of attempts to send a request if the server closes the connection without
 * processing it. Other requests of the same client can cause this several times in a row.
 */
const TRIES_MAX = 20
/** Time that the server needs to clean up closed connections. */
const SETTLE_MS = 2_000
/**
 * Maximum latencies of the well-behaved client: the 99th percentile and the slowest response. The
 * attackers share the machine's two cores.
 */
const WITNESS_P99_MS_MAX = 4_000
const WITNESS_MS_MAX = 20_000

/**
 * Number of additional connections and files that may be open at the end, because the server can
 * open some that are unrelated to the attacks.
 */
const FILES_LEFT_MAX = 3

class Verdict {
  readonly faults: string[] = []
  readonly statuses = new Map<number, number>()
  answered = 0
  unanswered = 0

  see(request: HostileRequest, status: number, text: string): void {
    this.answered++
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    if (status < 500 || !text.includes("the server's log says why")) return
    this.fault(
      `${status} to ${request.method} ${request.path.slice(0, 200)} ${request.body?.subarray(0, 200).toString() ?? ''}: ${text}`,
    )
  }

  fault(what: string): void {
    if (this.faults.length < 20) this.faults.push(what)
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string' },
      seed: { type: 'string' },
      short: { type: 'boolean', default: false },
    },
  })
  const requests = Number(values.requests ?? (values.short ? REQUESTS_SHORT : REQUESTS))
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
  console.log(`${requests} hostile requests and ${attacks.length} attacks, seed ${seed}`)
  await using etcd = await startEtcd()
  process.env['NODE_OPTIONS'] = '--inspect=127.0.0.1:0'
  await using server = await startKeelson({ etcdUrl: etcd.clientUrl })
  const verdict = await run(server, { requests, seed, rounds: values.short ? 1 : 10 })
  for (const fault of verdict.faults) console.log(`FAULT ${fault}`)
  if (verdict.faults.length > 0) {
    console.log(`repeat: node test/chaos/hostile/fuzz.ts --requests ${requests} --seed ${seed}`)
    process.exitCode = 1
  }
}

type Plan = { readonly requests: number; readonly seed: number; readonly rounds: number }

async function run(server: ApiServerProcess, { requests, seed, rounds }: Plan): Promise<Verdict> {
  const random = new Random(seed)
  const verdict = new Verdict()
  using inspector = await inspect(server.log)
  await prepare(server)
  const witness = new Witness(server.url)
  const witnessing = witness.run([
    `/api/v1/namespaces/${NAMESPACE}/configmaps/kept`,
    '/readyz',
    '/api/v1/namespaces',
  ])
  await sleep(500)
  const quietMs = [...witness.latenciesMs].sort((a, b) => a - b)
  const filesBefore = openFiles(server.pid)
  const startMs = performance.now()

  // Warm up code, connection pools and caches first; then measure.
  const warm = Math.floor(requests / 5)
  const siege = (part: string, count: number) =>
    runAttacks(server, { random: random.fork(part), rounds: count, verdict })
  const spraying = (part: string, count: number) =>
    spray(server, { random: random.fork(part), requests: count, verdict })
  const [begunFirst] = await Promise.all([siege('attacks at first', 1), spraying('first', warm)])
  await sleep(SETTLE_MS)
  const memoryBefore = await inspector.liveBytes()
  const [begunThen] = await Promise.all([
    siege('attacks', rounds),
    spraying('then', requests - warm),
  ])
  const begun = begunFirst + begunThen
  const seconds = (performance.now() - startMs) / 1000
  await letGo(server.pid, filesBefore)
  const memoryAfter = await inspector.liveBytes()
  witness.stop()
  await witnessing

  const latenciesMs = witness.latenciesMs.sort((a, b) => a - b)
  const filesLeft = openFiles(server.pid) - filesBefore
  const measured: Measurement = {
    seconds,
    begun,
    memoryBefore,
    memoryAfter,
    filesLeft,
    quietMs,
    latenciesMs,
  }
  report(server, verdict, measured)
  for (const failure of witness.failures.slice(0, 5))
    verdict.fault(`the well-behaved client: ${failure}`)
  if (verdict.unanswered > requests / 100)
    verdict.fault(`${verdict.unanswered} requests did not get a response`)
  judge(server, verdict, measured)
  return verdict
}

type Measurement = {
  readonly seconds: number
  /** Number of requests that attacks started. */
  readonly begun: number
  readonly memoryBefore: number
  readonly memoryAfter: number
  readonly filesLeft: number
  /**
   * Sorted latencies of the well-behaved client before the attacks. `latenciesMs` contains the
   * latencies of the whole run.
   */
  readonly quietMs: readonly number[]
  readonly latenciesMs: readonly number[]
}

function report({ pid }: ApiServerProcess, verdict: Verdict, measured: Measurement): void {
  const { seconds, begun, memoryBefore, memoryAfter, quietMs, latenciesMs } = measured
  const statuses = [...verdict.statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
  console.log(
    `${verdict.answered} answered, ${verdict.unanswered} cut off, ${begun} begun by attacks, in ${seconds.toFixed(0)} s`,
  )
  console.log(`statuses ${statuses.join(', ')}`)
  console.log(
    `live memory after the first fifth ${megabytes(memoryBefore)}, at the end ${megabytes(memoryAfter)}; resident ${megabytes(residentBytes(pid))}`,
  )
  console.log(
    `well-behaved client: ${latenciesMs.length} responses, median ${ms(latenciesMs, 0.5)} (alone ${ms(quietMs, 0.5)}), ` +
      `p99 ${ms(latenciesMs, 0.99)}, slowest ${ms(latenciesMs, 1)}`,
  )
}

const ms = (sorted: readonly number[], share: number): string =>
  `${quantile(sorted, share).toFixed(1)} ms`

function judge(server: ApiServerProcess, verdict: Verdict, measured: Measurement): void {
  const growth = measured.memoryAfter - measured.memoryBefore
  if (growth > GROWTH_BYTES_MAX) verdict.fault(`memory grew by ${megabytes(growth)}`)
  const { latenciesMs } = measured
  if (
    quantile(latenciesMs, 1) > WITNESS_MS_MAX ||
    quantile(latenciesMs, 0.99) > WITNESS_P99_MS_MAX
  ) {
    verdict.fault('the well-behaved client waited too long')
  }
  if (measured.filesLeft > FILES_LEFT_MAX)
    verdict.fault(`${measured.filesLeft} connections or files stayed open`)
  readLog(server, verdict)
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`

/** Creates objects, so that list requests of the attacks return something. */
async function prepare(server: ApiServerProcess): Promise<void> {
  const session = open(server.url)
  const post = async (path: string, body: unknown): Promise<void> => {
    const request = {
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      body: Buffer.from(JSON.stringify(body)),
    }
    const { status, text } = await ask(session, request)
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`)
  }
  await post('/api/v1/namespaces', { metadata: { name: NAMESPACE } })
  const data = { text: 'x'.repeat(10_000) }
  const names = ['kept', ...Array.from({ length: 100 }, (_, at) => `filler-${at}`)]
  for (const name of names)
    await post(`/api/v1/namespaces/${NAMESPACE}/configmaps`, { metadata: { name }, data })
  session.destroy()
}

function open(url: string): ClientHttp2Session {
  const session = connect(url, { rejectUnauthorized: false, maxSendHeaderBlockLength: 1 << 20 })
  session.on('error', () => undefined)
  return session
}

async function ask(
  session: ClientHttp2Session,
  { method, path, headers, body }: HostileRequest,
): Promise<{ status: number; text: string }> {
  const stream = session.request(
    { ':method': method, ':path': path, ...headers },
    { endStream: body === undefined },
  )
  stream.on('error', () => undefined)
  const timer = setTimeout(() => stream.destroy(new Error('no response in time')), ANSWER_MS_MAX)
  try {
    if (body !== undefined) stream.end(body)
    stream.setEncoding('utf8')
    // Start to read the body before the headers arrive. Otherwise the stream could end before it
    // has a reader, and Node.js would treat it as aborted.
    const [[head], text] = await Promise.all([once(stream, 'response'), readText(stream)])
    return { status: Number(head[':status']), text }
  } finally {
    clearTimeout(timer)
  }
}

async function readText(parts: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const part of parts) if (text.length < 2000) text += part
  return text
}

type Work = { readonly random: Random; readonly requests: number; readonly verdict: Verdict }

async function spray(server: ApiServerProcess, { random, requests, verdict }: Work): Promise<void> {
  let left = requests
  const lane = async (name: string): Promise<void> => {
    const choices = random.fork(name)
    let session = open(server.url)
    // The server closes a connection after an unauthenticated request. It did not process later
    // requests on the connection, so they can be retried (RFC 9113, section 8.7).
    const asked = async (request: HostileRequest): ReturnType<typeof ask> => {
      for (let tries = 1; ; tries++) {
        if (session.destroyed || session.closed) session = open(server.url)
        const used = session
        try {
          return await ask(used, request)
        } catch (error) {
          if (tries === TRIES_MAX || !/REFUSED_STREAM/.test(String(error))) throw error
          if (session === used) session = open(server.url)
        }
      }
    }
    const work = async (): Promise<void> => {
      while (left-- > 0) {
        const request = hostileRequest(choices)
        try {
          const { status, text } = await asked(request)
          verdict.see(request, status, text)
        } catch (error) {
          verdict.unanswered++
          if (/in time/.test(String(error)))
            verdict.fault(`no response to ${request.method} ${request.path.slice(0, 300)}`)
        }
      }
    }
    await Promise.all(Array.from({ length: REQUESTS_PER_LANE }, work))
    session.destroy()
  }
  await Promise.all(Array.from({ length: LANES }, (_, at) => lane(`lane ${at}`)))
}

type FuzzRun = { readonly random: Random; readonly rounds: number; readonly verdict: Verdict }

/**
 * Runs all attacks concurrently, each twice, in several rounds. Returns the number of requests that
 * they started.
 */
async function runAttacks(
  server: ApiServerProcess,
  { random, rounds, verdict }: FuzzRun,
): Promise<number> {
  const port = Number(new URL(server.url).port)
  let begun = 0
  const runOnce = async (attack: Attack, which: string): Promise<void> => {
    try {
      const requests = await attack.run(port, random.fork(`${attack.name} ${which}`))
      begun += requests
    } catch (error) {
      verdict.fault(`the attack ${attack.name} failed: ${String(error)}`)
    }
  }
  for (let round = 0; round < rounds; round++) {
    await Promise.all(
      attacks.flatMap((attack) => [runOnce(attack, `${round} a`), runOnce(attack, `${round} b`)]),
    )
  }
  return begun
}

/** Resolves when all connections are closed or the time limit is reached. */
async function letGo(pid: number, filesBefore: number): Promise<void> {
  const untilMs = performance.now() + LET_GO_MS_MAX
  do await sleep(SETTLE_MS)
  while (openFiles(pid) > filesBefore + FILES_LEFT_MAX && performance.now() < untilMs)
}

const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

function readLog(server: ApiServerProcess, verdict: Verdict): void {
  const bad = server.log
    .split('\n')
    .filter((line) =>
      /"level":"error"|unhandled|Unhandled|TypeError|RangeError|ReferenceError/.test(line),
    )
  for (const line of bad.slice(0, 5)) verdict.fault(`the server's log says ${line.slice(0, 1000)}`)
}

await main()

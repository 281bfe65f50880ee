/**
 * Runs many servers on one machine, as the suites of a large CI system do:
 * `node test/chaos/soak/many-servers.ts`. Each server is started, receives a write and is stopped.
 * While `--at-once` servers are running, all of them must respond to simultaneous requests. No
 * process, no folder and no entry in `keelson status` may be left behind.
 *
 *   --kind dev|testing   processes of the package, `keelson dev --ephemeral` (default), or
 *                        clusters of `keelson/testing` in this process.
 *   --total N            number of servers that are started and stopped (1000).
 *   --at-once N          number of servers that are alive at once (200).
 *   --starting N         number of servers that start at once (4).
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { startCluster } from '../../../src/entry/testing/index.ts'
import { installPackage } from '../../support/harness/package.ts'
import { until } from '../../support/harness/until.ts'

/** Maximum time to start a server while many other servers start on the machine. */
const START_MS_MAX = 120_000
const MEBIBYTE = 1 << 20
const configMaps = '/api/v1/namespaces/default/configmaps'
const first = { metadata: { name: 'first' } }

const { values } = parseArgs({
  options: {
    kind: { type: 'string', default: 'dev' },
    total: { type: 'string', default: '1000' },
    'at-once': { type: 'string', default: '200' },
    starting: { type: 'string', default: '4' },
  },
})
const total = Number(values.total)
const atOnce = Math.min(total, Number(values['at-once']))
const starting = Number(values.starting)

/** A server that is ready. */
type StartedServer = {
  readonly startMs: number
  /** Writes an object. Rejects if the write fails. */
  readonly write: () => Promise<void>
  /** Reads the object that `write` has written. Rejects if the object is missing. */
  readonly read: () => Promise<void>
  readonly stop: () => Promise<void>
}

type Kind = AsyncDisposable & {
  readonly start: () => Promise<StartedServer>
  /** Returns the memory of all running servers. */
  readonly memoryMiB: () => number
  /**
   * Returns the number of running servers according to `keelson status`, or undefined if it does
   * not list them.
   */
  readonly counted: () => Promise<number | undefined>
  readonly leftovers: () => Promise<readonly string[]>
}

async function main(): Promise<void> {
  await using kind = values.kind === 'testing' ? clustersHere() : await processes()
  const alive: StartedServer[] = []
  const startTimes: number[] = []
  const stopTimes: number[] = []
  let begun = 0
  let asked: Promise<void> | undefined
  const beganMs = performance.now()
  const lane = async (): Promise<void> => {
    while (begun < total) {
      begun++
      const one = await kind.start()
      startTimes.push(one.startMs)
      await one.write()
      alive.push(one)
      // No server is stopped while requests are sent to all servers.
      if (alive.length >= atOnce && startTimes.length < total)
        await (asked ??= tellOfAll(kind, alive, beganMs))
      // Stop one server before the next one starts. The last servers keep running.
      if (alive.length >= atOnce && begun < total) await stopOne()
    }
  }
  const stopOne = async (): Promise<void> => {
    const stopping = performance.now()
    await alive.shift()?.stop()
    stopTimes.push(performance.now() - stopping)
  }
  await Promise.all(Array.from({ length: Math.min(starting, total) }, lane))
  await tellOfAll(kind, alive, beganMs)
  while (alive.length > 0) await Promise.all(Array.from({ length: starting }, stopOne))
  console.log(`${startTimes.length} started and stopped in ${seconds(performance.now() - beganMs)}`)
  console.log(`start to first response: ${describe(startTimes)}; stop: ${describe(stopTimes)}`)
  const left = await kind.leftovers()
  for (const one of left) console.log(`FAULT left behind: ${one}`)
  if (left.length > 0) process.exitCode = 1
}

async function tellOfAll(
  kind: Kind,
  started: readonly StartedServer[],
  beganMs: number,
): Promise<void> {
  // Copy the list, because other servers start during the loop.
  const alive = [...started]
  const asking = performance.now()
  await Promise.all(alive.map((one) => one.read()))
  const answeredMs = performance.now() - asking
  const memory = kind.memoryMiB()
  const counted = await kind.counted()
  if (counted !== undefined && counted < alive.length) {
    console.log(`FAULT keelson status lists ${counted} of ${alive.length}`)
    process.exitCode = 1
  }
  const each = (memory / alive.length).toFixed(1)
  console.log(
    `${alive.length} alive after ${seconds(performance.now() - beganMs)}: all responded within ${answeredMs.toFixed(0)} ms, ${memory.toFixed(0)} MiB (${each} each)`,
  )
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

function describe(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number): string =>
    (sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN).toFixed(0)
  return `median ${at(0.5)} ms, 99 % within ${at(0.99)} ms, worst ${at(1)} ms`
}

async function processes(): Promise<Kind> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-many-'))
  const program = await installPackage(dir)
  const temporary = join(dir, 'tmp')
  mkdirSync(temporary)
  // All servers share a cache folder, like the servers of one user.
  const env = {
    PATH: process.env['PATH'],
    HOME: dir,
    XDG_CACHE_HOME: join(dir, 'cache'),
    TMPDIR: temporary,
  }
  const alive = new Set<ChildProcess>()
  const status = async (): Promise<number> => {
    const { stdout } = await promisify(execFile)(program, ['status'], {
      env,
      timeout: START_MS_MAX,
    })
    return stdout.split('\n').filter((line) => line.includes('https://')).length
  }
  return {
    start: () => startDev(program, env, alive),
    memoryMiB: () => [...alive].reduce((sum, { pid }) => sum + proportionalMiB(pid ?? 0), 0),
    counted: status,
    leftovers: async () => [
      ...[...alive].map(({ pid }) => `process ${pid}`),
      ...readdirSync(temporary).map((name) => join(temporary, name)),
      ...((await status()) === 0 ? [] : ['entries of keelson status']),
    ],
    [Symbol.asyncDispose]: async () => {
      for (const child of alive) child.kill('SIGKILL')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function startDev(
  program: string,
  env: NodeJS.ProcessEnv,
  alive: Set<ChildProcess>,
): Promise<StartedServer> {
  const startedMs = performance.now()
  const child = spawn(program, ['dev', '--ephemeral', '--secure-port=0'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  alive.add(child)
  child.once('exit', () => alive.delete(child))
  let reported = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (reported += text))
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(`a server ended: ${reported}`)
      return reported.includes('kubectl get ns')
    },
    'a server is ready',
    START_MS_MAX,
  )
  const port = Number(/serving at https:\/\/[^:]+:(\d+)/.exec(reported)?.[1])
  const folder = dirname(/KUBECONFIG=(\S+)/.exec(reported)?.[1] ?? '')
  const file = (name: string): Buffer => readFileSync(join(folder, name))
  const admin = { port, ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') }
  const call = async (options: RequestOptions, wanted: number, body?: string): Promise<void> => {
    try {
      await ask({ ...admin, ...options }, wanted, body)
    } catch (error) {
      const state = child.exitCode ?? child.signalCode ?? 'alive'
      throw new Error(
        `the server of process ${child.pid} (${state}) did not respond; its output: ${reported}`,
        {
          cause: error,
        },
      )
    }
  }
  await call({ path: '/readyz' }, 200)
  return {
    startMs: performance.now() - startedMs,
    write: () => call({ method: 'POST', path: configMaps }, 201, JSON.stringify(first)),
    read: () => call({ path: `${configMaps}/${first.metadata.name}` }, 200),
    stop: async () => {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
    },
  }
}

function ask(options: RequestOptions, wanted: number, body?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    request({ host: '127.0.0.1', agent: false, headers, ...options }, (response) => {
      response.resume()
      response.on('end', () =>
        response.statusCode === wanted
          ? resolve()
          : reject(new Error(`${options.path}: ${response.statusCode}`)),
      )
    })
      .on('error', reject)
      .end(body)
  })
}

/**
 * Returns the proportional set size of a process. Memory that processes share, such as the pages of
 * Node's executable, is divided among them.
 */
function proportionalMiB(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
}

function clustersHere(): Kind {
  return {
    start: async () => {
      const startedMs = performance.now()
      const cluster = await startCluster()
      const call = async (
        options: Parameters<typeof cluster.request>[0],
        wanted: number,
      ): Promise<void> => {
        const { status } = await cluster.request(options)
        if (status !== wanted) throw new Error(`${options.path}: ${status}`)
      }
      await call({ path: '/api/v1/namespaces/default' }, 200)
      return {
        startMs: performance.now() - startedMs,
        write: () => call({ method: 'POST', path: configMaps, body: first }, 201),
        read: () => call({ path: `${configMaps}/${first.metadata.name}` }, 200),
        stop: () => cluster.stop(),
      }
    },
    memoryMiB: () => process.memoryUsage().rss / MEBIBYTE,
    counted: async () => undefined,
    leftovers: async () => [],
    [Symbol.asyncDispose]: async () => undefined,
  }
}

await main()

/**
 * A real etcd in a temporary folder on free ports, for tests, benchmarks and fault injection. The
 * code that starts an etcd must stop it, by process ID.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const root = join(import.meta.dirname, '..', '..', '..')

/** Returns the path of a program that test/support/tools/install has built. */
export function toolPath(name: string): string {
  const path = join(process.env['KEELSON_TOOLS'] ?? join(root, '.cache', 'tools'), name)
  if (!existsSync(path))
    throw new Error(`${name} is not installed: run test/support/tools/install ${name}`)
  return path
}

/**
 * Returns the name of the etcd version for the tests: 'etcd' (3.6), unless KEELSON_ETCD names
 * another one, such as etcd-3.5.
 */
export const etcdTool = (): string => process.env['KEELSON_ETCD'] ?? 'etcd'

/**
 * Range of the ports that are used. The system chooses the ports of outgoing connections from a
 * higher range. Otherwise such a connection could take the port of a member that is down, and the
 * member could not restart.
 */
const PORT_MIN = 12_000
const PORT_MAX = 31_999

/** Returns different ports on which no process is listening at this moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = []
  while (servers.length < count) {
    const server = createServer()
    const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN + 1))
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (isFree) servers.push(server)
  }
  const ports = servers.map((server) => {
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  })
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

/** One etcd process that can be killed, paused and restarted on the same data. */
export class EtcdProcess implements AsyncDisposable {
  readonly dir: string
  readonly clientUrl: string
  readonly #args: readonly string[]
  #child: ChildProcess | undefined

  constructor(dir: string, clientUrl: string, args: readonly string[]) {
    this.dir = dir
    this.clientUrl = clientUrl
    this.#args = args
  }

  get pid(): number {
    const pid = this.#child?.pid
    if (pid === undefined) throw new Error('etcd is not running')
    return pid
  }

  /** Starts the process and, by default, waits until it responds. */
  async start({ wait = true } = {}): Promise<void> {
    mkdirSync(this.dir, { recursive: true })
    const log = openSync(join(this.dir, 'log'), 'a')
    const child = spawn(toolPath(etcdTool()), this.#args, { stdio: ['ignore', log, log] })
    closeSync(log) // The child process has its own copy of the file descriptor.
    this.#child = child
    // Kill etcd if this process exits without stopping it.
    const end = (): void => void child.kill('SIGKILL')
    process.once('exit', end)
    child.once('exit', () => process.off('exit', end))
    if (wait) await this.ready()
  }

  async ready(timeoutMs = 60_000): Promise<void> {
    const until = performance.now() + timeoutMs
    for (;;) {
      const answer = await fetch(`${this.clientUrl}/health`, {
        signal: AbortSignal.timeout(1000),
      }).catch(() => undefined)
      // If this process has ended, the response comes from another process that uses the same port.
      if (!this.#isAlive) throw new Error(`etcd ended: ${this.#tail()}`)
      if (answer?.ok === true) return
      if (performance.now() > until) throw new Error(`etcd is not ready: ${this.#tail()}`)
      await sleep(20)
    }
  }

  /**
   * Resolves when this process responds to requests from other members. The response must contain
   * the name of this process's folder. Another etcd could respond instead, if it uses the client
   * port and this process is about to exit.
   */
  async answersAsPeer(peerUrl: string): Promise<void> {
    for (;;) {
      const signal = AbortSignal.timeout(1000)
      const answer = await fetch(`${peerUrl}/members`, { signal })
        .then((response) => response.text())
        .catch(() => '')
      if (answer.includes(`"${basename(this.dir)}"`)) return
      if (!this.#isAlive) throw new Error(`etcd ended: ${this.#tail()}`)
      await sleep(20)
    }
  }

  /**
   * Pauses the process. Returns when all of its threads are stopped, because on a busy machine, a
   * thread could otherwise still respond to a later call.
   */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP')
    while (!isStopped(this.pid))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STOP_POLL_MS)
  }

  resume(): void {
    process.kill(this.pid, 'SIGCONT')
  }

  /** Stops the process and waits until it has exited. The data is kept. */
  async stop(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const child = this.#child
    if (child === undefined || !this.#isAlive) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(this.dir, { recursive: true, force: true })
  }

  get #isAlive(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null
  }

  #tail(): string {
    return readFileSync(join(this.dir, 'log'), 'utf8').slice(-2000)
  }
}

export type EtcdOptions = { readonly args?: readonly string[] }

/**
 * Maximum number of attempts to start. Hundreds of tests search for ports at the same time, so
 * another process might take a port before etcd does.
 */
const STARTS_MAX = 5

/** Starts a single-member etcd and waits until it is ready. */
export async function startEtcd(options: EtcdOptions = {}): Promise<EtcdProcess> {
  for (let left = STARTS_MAX - 1; ; left--) {
    const [client = 0, peer = 0] = await freePorts(2)
    const etcd = await createEtcd({ ...options, client, peer })
    try {
      await etcd.start()
      await etcd.answersAsPeer(`http://127.0.0.1:${peer}`)
      return etcd
    } catch (error) {
      await etcd[Symbol.asyncDispose]()
      if (left === 0 || !/address already in use/.test(String(error))) throw error
    }
  }
}

type EtcdPorts = { readonly client: number; readonly peer: number }

async function createEtcd({
  args = [],
  client,
  peer,
}: EtcdOptions & EtcdPorts): Promise<EtcdProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'keelson-etcd-'))
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`]
  return new EtcdProcess(dir, clientUrl, [
    '--name',
    basename(dir),
    '--data-dir',
    join(dir, 'data'),
    '--listen-client-urls',
    clientUrl,
    '--advertise-client-urls',
    clientUrl,
    '--listen-peer-urls',
    peerUrl,
    '--initial-advertise-peer-urls',
    peerUrl,
    '--initial-cluster',
    `${basename(dir)}=${peerUrl}`,
    '--unsafe-no-fsync',
    '--log-level',
    'warn',
    ...args,
  ])
}

const STOP_POLL_MS = 1

/**
 * Whether all threads of a process are stopped. In a `stat` file, the state of a thread follows its
 * name, which is in parentheses.
 */
const isStopped = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).every((thread) =>
    /\) T /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')),
  )

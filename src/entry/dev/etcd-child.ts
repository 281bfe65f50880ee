/**
 * Runs an etcd as long as `keelson dev` runs, with its data in the data folder. The etcd does not
 * authenticate clients. Therefore it listens on Unix sockets in a folder that only this user can
 * access. On a TCP port, every user of the machine and every web page in a browser could write to
 * it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
} from 'node:fs'
import { get } from 'node:http'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const START_MS_MAX = 30_000
const POLL_MS = 10
/** Time between SIGTERM and SIGKILL for an etcd that does not exit. */
const STOP_MS_MAX = 5_000
/** Maximum length of the path of a Unix socket on Linux, in bytes. */
const SOCKET_PATH_BYTES_MAX = 107
/**
 * The names of the sockets in etcd's working directory. They contain a colon, because etcd parses
 * them as a host and a port.
 */
const CLIENT_SOCKET = 'client:1'
const PEER_SOCKET = 'peer:1'

/**
 * Finds the etcd executable. `own` is the path of etcd in a checkout, for developers of Keelson. If
 * no etcd is found, the error says what to do.
 */
export function findEtcd(given: string | undefined, path: string, own: string): string {
  const onPath = path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'etcd'))
  const candidates = given === undefined ? [...onPath, own] : [given]
  const found = candidates.find(isExecutable)
  if (found !== undefined) return found
  if (given !== undefined) throw new Error(`--etcd: ${given} is not an executable program`)
  throw new Error(
    'etcd is not on the PATH: install it (https://etcd.io/docs/v3.6/install), set its path with --etcd=PATH, or set the address of a running etcd with --etcd-servers=URL',
  )
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // The file cannot be executed. The reason does not matter.
    return false
  }
}

export type EtcdChildOptions = {
  readonly program: string
  readonly dataDir: string
  readonly logFile: string
  /** The folder for the sockets. It is created so that only this user can access it. */
  readonly socketsDir: string
}

export class EtcdChild implements AsyncDisposable {
  readonly pid: number
  readonly #child: ChildProcess
  readonly #socketPath: string
  readonly #logFile: string

  constructor(
    child: ChildProcess,
    { socketsDir, logFile }: Pick<EtcdChildOptions, 'socketsDir' | 'logFile'>,
  ) {
    this.#child = child
    this.pid = child.pid ?? 0
    this.#logFile = logFile
    const path = join(resolve(socketsDir), CLIENT_SOCKET)
    // If the path is too long, or contains a comma, which separates addresses in --etcd-servers,
    // use the link in /proc to the working directory of etcd.
    const isUsable = Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX && !path.includes(',')
    this.#socketPath = isUsable ? path : `/proc/${this.pid}/cwd/${CLIENT_SOCKET}`
  }

  /** The address of etcd, in the form of the --etcd-servers flag. */
  get url(): string {
    return `unix://${this.#socketPath}`
  }

  /** Resolves when etcd has exited, for any reason. */
  async ended(): Promise<void> {
    if (!this.#hasEnded) await once(this.#child, 'exit')
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async ready(): Promise<void> {
    const until = performance.now() + START_MS_MAX
    while (!(await isHealthy(this.#socketPath))) {
      if (this.#hasEnded)
        throw new Error(
          `etcd exited during its start; the end of ${this.#logFile}:\n${this.#tail()}`,
        )
      if (performance.now() > until) throw new Error(`etcd does not respond: see ${this.#logFile}`)
      await sleep(POLL_MS)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasEnded) return
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX)
    await this.ended()
    clearTimeout(timer)
  }

  #tail(): string {
    return readFileSync(this.#logFile, 'utf8').slice(-1000)
  }
}

export async function startEtcd({
  program,
  dataDir,
  logFile,
  socketsDir,
}: EtcdChildOptions): Promise<EtcdChild> {
  const [clientUrl, peerUrl] = [`unix://${CLIENT_SOCKET}`, `unix://${PEER_SOCKET}`]
  const flags = {
    name: 'keelson',
    'data-dir': resolve(dataDir),
    'listen-client-urls': clientUrl,
    'advertise-client-urls': clientUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `keelson=${peerUrl}`,
    'enable-grpc-gateway': 'false',
    'log-level': 'warn',
  }
  mkdirSync(socketsDir, { recursive: true })
  chmodSync(socketsDir, 0o700)
  const log = openSync(logFile, 'a')
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  // Run etcd in its own process group. Ctrl-C in a terminal ends all processes in the group of the
  // server, but etcd must not end before the server.
  const child = spawn(resolve(program), args, {
    stdio: ['ignore', log, log],
    detached: true,
    cwd: socketsDir,
  })
  closeSync(log) // The child process has its own copy of the file descriptor.
  await Promise.race([
    once(child, 'spawn'),
    once(child, 'error').then(([error]) => Promise.reject(error)),
  ])
  return new EtcdChild(child, { socketsDir, logFile })
}

function isHealthy(socketPath: string): Promise<boolean> {
  return new Promise((resolveHealth) => {
    get({ socketPath, path: '/health', agent: false, timeout: 1000 }, (response) => {
      response.resume()
      resolveHealth(response.statusCode === 200)
    })
      .on('timeout', () => resolveHealth(false))
      .on('error', () => resolveHealth(false))
  })
}

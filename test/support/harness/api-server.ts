/**
 * Starts an API server as a separate process, with the flags, tokens and keys that were used for
 * the recordings of test/recorded/compat. Keelson and kube-apiserver are started in the same way,
 * so that only their responses can differ.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from './etcd.ts'

/**
 * Maximum time for the start. kube-apiserver takes 5 s on an idle machine, and many times longer on
 * a busy one with 2 cores.
 */
const READY_MAX_MS = 90_000
const READY_POLL_MS = 50
/**
 * Maximum time for a graceful shutdown, which drains open watches. After this time, the process is
 * killed.
 */
const STOP_MAX_MS = 10_000

export const ADMIN_TOKEN = 'admin-token'
const tokens = `${ADMIN_TOKEN},admin,admin-uid,"system:masters"
alice-token,alice,alice-uid,"dev"
bob-token,bob,bob-uid
`

export type ApiServerOptions = {
  readonly etcdUrl: string
  /** Additional flags. They follow the flags of the recordings, and therefore override them. */
  readonly args?: readonly string[]
  /** Names of default flags that are left out. */
  readonly omit?: readonly string[]
  /**
   * Called before the server starts. Writes files to the folder of the server, and returns the
   * flags that name them.
   */
  readonly prepare?: (dir: string) => Promise<readonly string[]>
  /**
   * Name of the process, if it differs from that of the file. kube-apiserver uses this name as the
   * field manager of its own writes.
   */
  readonly argv0?: string
  /** Environment variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** Port to listen on. If absent, a free port is chosen. A restarted server keeps its port. */
  readonly port?: number | undefined
}

export class ApiServerProcess implements AsyncDisposable {
  readonly url: string
  /** Token of a member of system:masters. The tokens alice-token and bob-token also exist. */
  readonly token = ADMIN_TOKEN
  /** Temporary folder with certificates, keys, tokens and the log. */
  readonly dir: string
  readonly #launch: () => ChildProcess
  readonly #kill: () => void
  #child: ChildProcess

  constructor(launch: () => ChildProcess, dir: string, port: number) {
    this.url = `https://127.0.0.1:${port}`
    this.dir = dir
    this.#launch = launch
    this.#child = launch()
    this.#kill = () => this.#child.kill('SIGKILL')
    // Kill the server if this process exits without stopping it.
    process.once('exit', this.#kill)
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.#child.spawnfile} did not start`)
    return this.#child.pid
  }

  get log(): string {
    return readFileSync(join(this.dir, 'log'), 'utf8')
  }

  /** Resolves when the process exists. The server is not ready at this time. */
  async spawned(): Promise<void> {
    if (this.#child.pid !== undefined) return
    const [error]: unknown[] = await once(this.#child, 'error')
    throw error
  }

  /**
   * Stops the process and starts it again with the same flags on the same port. Resolves when the
   * server is ready.
   */
  async restart(signal: 'SIGTERM' | 'SIGKILL', stopMsMax = STOP_MAX_MS): Promise<void> {
    await this.#end(signal, stopMsMax)
    this.#child = this.#launch()
    await this.ready()
  }

  /** Stops the process, waits until it has exited, and removes its folder. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM')
    process.off('exit', this.#kill)
    await rm(this.dir, { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL', stopMsMax = STOP_MAX_MS): Promise<void> {
    if (this.#child.pid === undefined || this.#hasEnded()) return
    const gone = once(this.#child, 'exit')
    this.#child.kill(signal)
    const timer = setTimeout(this.#kill, stopMsMax)
    await gone
    clearTimeout(timer)
  }

  async ready(): Promise<void> {
    const until = performance.now() + READY_MAX_MS
    while (!(await this.#isReady())) {
      if (this.#hasEnded())
        throw new Error(`${this.#child.spawnfile} ended: ${this.log.slice(-2000)}`)
      if (performance.now() > until)
        throw new Error(
          `${this.#child.spawnfile} is not ready after ${READY_MAX_MS} ms: ${this.log.slice(-2000)}`,
        )
      await sleep(READY_POLL_MS)
    }
  }

  #isReady(): Promise<boolean> {
    return new Promise((resolve) => {
      const headers = { authorization: `Bearer ${this.token}` }
      get(
        `${this.url}/readyz`,
        { headers, rejectUnauthorized: false, agent: false, timeout: 2000 },
        (response) => {
          response.resume()
          resolve(response.statusCode === 200)
        },
      )
        .on('timeout', () => resolve(false))
        .on('error', () => resolve(false))
    })
  }

  #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }
}

/**
 * The keys of ServiceAccount tokens. All servers that a process starts have the same keys, because
 * the generation of keys takes up to 100 ms.
 */
const serviceAccountKeys = memoized(() =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  }),
)

function memoized<T>(create: () => T): () => T {
  let value: T | undefined
  return () => (value ??= create())
}

/** Starts `command` with the flags of the recordings and waits until it is ready. */
export async function startApiServer(
  command: readonly [string, ...string[]],
  { etcdUrl, args = [], omit = [], prepare, argv0, env, port: wantedPort }: ApiServerOptions,
): Promise<ApiServerProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'keelson-server-'))
  await writeCredentials(dir)
  const prepared = (await prepare?.(dir)) ?? []
  const [port = 0] = wantedPort === undefined ? await freePorts(1) : [wantedPort]
  const [program, ...before] = command
  const usual = [
    storeFlag(dir, etcdUrl),
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--cert-dir=${dir}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(dir, 'sa.pub')}`,
    `--service-account-signing-key-file=${join(dir, 'sa.key')}`,
    '--service-cluster-ip-range=10.0.0.0/16',
    `--token-auth-file=${join(dir, 'tokens.csv')}`,
    '--authorization-mode=Node,RBAC',
    '--disable-admission-plugins=ServiceAccount',
    '--allow-privileged=true',
    '--endpoint-reconciler-type=none',
  ].filter((flag) => !omit.some((name) => flag.startsWith(`--${name}=`)))
  const launch = (): ChildProcess => {
    const log = openSync(join(dir, 'log'), 'a')
    const child = spawn(program, [...before, ...usual, ...prepared, ...args], {
      stdio: ['ignore', log, log],
      argv0,
      env: { ...process.env, ...env },
    })
    closeSync(log) // The child process has its own copy of the file descriptor.
    return child
  }
  const server = new ApiServerProcess(launch, dir, port)
  try {
    await server.spawned().catch((cause: unknown) => {
      throw new Error(`${program} did not start: check that it exists and is executable`, { cause })
    })
    await server.ready()
  } catch (error) {
    await server.stop()
    throw error
  }
  return server
}

/**
 * Returns the flag that selects the store. With KEELSON_STORE=sqlite or memory, the test suites run
 * on a store inside the server instead of etcd. Tests that read from etcd directly then fail.
 */
function storeFlag(dir: string, etcdUrl: string): string {
  const store = process.env['KEELSON_STORE'] ?? 'etcd'
  if (store === 'sqlite') return `--data-dir=${join(dir, 'store')}`
  return store === 'memory' ? '--store=memory' : `--etcd-servers=${etcdUrl}`
}

async function writeCredentials(dir: string): Promise<void> {
  const { publicKey, privateKey } = serviceAccountKeys()
  await writeFile(join(dir, 'sa.pub'), publicKey)
  await writeFile(join(dir, 'sa.key'), privateKey, { mode: 0o600 })
  await writeFile(join(dir, 'tokens.csv'), tokens, { mode: 0o600 })
}

/** An etcd that runs as long as `keelson dev` does, on free ports of the loopback address, with its data in the folder. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, closeSync, constants, openSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const START_MS_MAX = 30_000
const POLL_MS = 10
/** An etcd that has not ended so long after SIGTERM gets SIGKILL. */
const STOP_MS_MAX = 5_000

/** `own`: a tool of the checkout, for developers of Keelson itself. If there is no etcd, the error says what to do about it. */
export function findEtcd(given: string | undefined, path: string, own: string): string {
  const onPath = path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'etcd'))
  const candidates = given === undefined ? [...onPath, own] : [given]
  const found = candidates.find(isExecutable)
  if (found !== undefined) return found
  if (given !== undefined) throw new Error(`--etcd: ${given} is not a program that can be run`)
  throw new Error(
    'there is no etcd on the PATH: install it (https://etcd.io/docs/v3.6/install), name it with --etcd=PATH, or give the address of one that runs with --etcd-servers=URL',
  )
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // Whatever the reason is, this file cannot be run.
    return false
  }
}

export type EtcdChildOptions = { readonly program: string; readonly dataDir: string; readonly logFile: string }

export class EtcdChild implements AsyncDisposable {
  readonly url: string
  readonly pid: number
  readonly #child: ChildProcess
  readonly #logFile: string

  constructor(child: ChildProcess, url: string, logFile: string) {
    this.#child = child
    this.url = url
    this.pid = child.pid ?? 0
    this.#logFile = logFile
  }

  /** Resolves when etcd has ended, for whatever reason. */
  async ended(): Promise<void> {
    if (!this.#hasEnded) await once(this.#child, 'exit')
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async ready(): Promise<void> {
    const until = performance.now() + START_MS_MAX
    while (!(await isHealthy(this.url))) {
      if (this.#hasEnded) throw new Error(`etcd ended at once; the end of ${this.#logFile}:\n${this.#tail()}`)
      if (performance.now() > until) throw new Error(`etcd does not answer; ${this.#logFile} may say why`)
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

export async function startEtcd({ program, dataDir, logFile }: EtcdChildOptions): Promise<EtcdChild> {
  const [clientPort, peerPort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${clientPort}`
  const peerUrl = `http://127.0.0.1:${peerPort}`
  const flags = {
    name: 'keelson',
    'data-dir': dataDir,
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `keelson=${peerUrl}`,
    'log-level': 'warn',
  }
  const log = openSync(logFile, 'a')
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  // In a process group of its own: Ctrl-C at a terminal signals the whole group, and etcd must outlive the server.
  const child = spawn(program, args, { stdio: ['ignore', log, log], detached: true })
  closeSync(log) // The child has its own copy.
  await Promise.race([once(child, 'spawn'), once(child, 'error').then(([error]) => Promise.reject(error))])
  return new EtcdChild(child, url, logFile)
}

function isHealthy(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(`${url}/health`, { agent: false, timeout: 1000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
      .on('timeout', () => resolve(false))
      .on('error', () => resolve(false))
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

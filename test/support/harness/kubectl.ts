/** The real kubectl with a separate kubeconfig and folder, for servers of this test harness. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiServerProcess } from './api-server.ts'
import { toolPath } from './etcd.ts'

/**
 * Maximum time for a run. A command that takes longer hangs, because kubectl itself has no timeout.
 */
const RUN_MAX_MS = 30_000
const LINE_MAX_MS = 20_000

export type Run = { readonly code: number; readonly out: string; readonly err: string }

export type KubectlOptions = { readonly token?: string; readonly namespace?: string }

export class Kubectl implements AsyncDisposable {
  readonly dir: string
  readonly #flags: readonly string[]
  readonly #env: NodeJS.ProcessEnv

  constructor(dir: string) {
    this.dir = dir
    // `kubectl edit` runs the file `editor`, if a test has written it.
    this.#env = { ...process.env, TMPDIR: dir, KUBE_EDITOR: join(dir, 'editor') }
    this.#flags = [`--kubeconfig=${join(dir, 'config')}`, `--cache-dir=${join(dir, 'cache')}`]
  }

  run(...args: readonly string[]): Promise<Run> {
    return new Promise((resolve) => {
      const options = { timeout: RUN_MAX_MS, env: this.#env }
      const child = execFile(
        toolPath('kubectl'),
        [...this.#flags, ...args],
        options,
        (error, out, err) => {
          resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err })
        },
      )
      child.stdin?.end()
    })
  }

  /** Runs kubectl and returns its output. Rejects if it fails or prints to stderr. */
  async out(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await this.run(...args)
    if (code !== 0 || err !== '')
      throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${err}`)
    return out
  }

  /** Starts a command that runs until it is stopped. */
  follow(...args: readonly string[]): KubectlWatch {
    return new KubectlWatch([...this.#flags, ...args])
  }

  /** Writes a file and returns its path. Objects are written as JSON, and strings unchanged. */
  async file(name: string, content: string | object): Promise<string> {
    const path = join(this.dir, name)
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.dir, { recursive: true, force: true })
  }
}

export class KubectlWatch implements AsyncDisposable {
  readonly #child
  #out = ''

  constructor(args: readonly string[]) {
    this.#child = spawn(toolPath('kubectl'), args, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#out += text
    })
  }

  async until(pattern: RegExp): Promise<void> {
    const signal = AbortSignal.timeout(LINE_MAX_MS)
    while (!pattern.test(this.#out)) {
      try {
        await once(this.#child.stdout, 'data', { signal })
      } catch (cause) {
        throw new Error(`${pattern} was not printed. Output: ${this.#out}`, { cause })
      }
    }
  }

  /** Waits until the command exits and returns its exit code. */
  async end(): Promise<number | null> {
    if (this.#child.exitCode === null) await once(this.#child, 'exit')
    return this.#child.exitCode
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = once(this.#child, 'exit')
    this.#child.kill()
    await gone
  }
}

export async function kubectlFor(
  server: ApiServerProcess,
  { token = server.token, namespace = 'default' }: KubectlOptions = {},
): Promise<Kubectl> {
  const kubectl = new Kubectl(await mkdtemp(join(tmpdir(), 'keelson-kubectl-')))
  await kubectl.file('config', kubeconfig(server, token, namespace))
  return kubectl
}

/**
 * Use the server's own certificate as the CA of the kubeconfig, so that kubectl verifies the host
 * name.
 */
export function kubeconfig(
  server: ApiServerProcess,
  token = server.token,
  namespace = 'default',
): object {
  const certificate = join(server.dir, 'apiserver.crt')
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'k', cluster: { server: server.url, 'certificate-authority': certificate } },
    ],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', namespace } }],
    'current-context': 'c',
  }
}

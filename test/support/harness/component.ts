/**
 * A control plane component that is a client of the API server: kube-controller-manager or
 * kube-scheduler. If its process exits unexpectedly, it is restarted.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts, toolPath } from './etcd.ts'

/** Delay between an unexpected exit and the next start. */
const PAUSE_MS = 1000

export class Component implements AsyncDisposable {
  readonly name: string
  readonly #dir: string
  readonly #args: readonly string[]
  readonly #env: NodeJS.ProcessEnv
  readonly #kill = (): void => void this.#child.kill('SIGKILL')
  #child: ChildProcess
  #restarts = 0
  #isEnding = false

  constructor(
    name: string,
    dir: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = process.env,
  ) {
    this.name = name
    this.#env = env
    this.#dir = dir
    this.#args = args
    this.#child = this.#launch()
    // Kill the component if this process exits without stopping it.
    process.once('exit', this.#kill)
  }

  get log(): string {
    return readFileSync(join(this.#dir, 'log'), 'utf8')
  }

  /** Number of times that the process exited unexpectedly. */
  get restarts(): number {
    return this.#restarts
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true
    process.off('exit', this.#kill)
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const gone = once(this.#child, 'exit')
      this.#kill()
      await gone
    }
    await rm(this.#dir, { recursive: true, force: true })
  }

  #launch(): ChildProcess {
    const log = openSync(join(this.#dir, 'log'), 'a')
    const child = spawn(toolPath(this.name), this.#args, {
      stdio: ['ignore', log, log],
      // Remove the release from the name of the process, because the component uses this name in
      // its user agent.
      argv0: this.name.replace(/-1\.\d+$/, ''),
      env: this.#env,
    })
    closeSync(log) // The child process has its own copy of the file descriptor.
    child.once('exit', () => {
      if (this.#isEnding) return
      this.#restarts++
      setTimeout(() => {
        if (!this.#isEnding) this.#child = this.#launch()
      }, PAUSE_MS)
    })
    return child
  }
}

/**
 * Starts a component. `args` are added to the flags of every component: the server's address, and a
 * separate port and folder.
 */
export async function startComponent(
  name: string,
  kubeconfig: string,
  args: readonly string[] = [],
): Promise<Component> {
  const dir = await mkdtemp(join(tmpdir(), `keelson-${name}-`))
  const [port = 0] = await freePorts(1)
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${dir}`,
  ]
  return new Component(name, dir, [...flags, ...args])
}

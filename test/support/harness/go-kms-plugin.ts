/**
 * Runs the KMS plugin of test/clients/kms-plugin as a process. Its keys are stored in files.
 * Requires `test/support/tools/install kms-plugin`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toolPath } from './etcd.ts'

export class GoKmsPlugin implements AsyncDisposable {
  readonly endpoint: string
  readonly #folder: string
  #child: ChildProcess | undefined

  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(folder, { recursive: true })
    this.endpoint = `unix://${join(folder, 'kms.sock')}`
  }

  /** Resolves when the plugin listens. */
  async start(): Promise<void> {
    const child = spawn(toolPath('kms-plugin'), [this.#folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#child = child
    // Kill the plugin if this process exits without stopping it.
    const end = (): void => void child.kill('SIGKILL')
    process.once('exit', end)
    child.once('exit', () => process.off('exit', end))
    const [said] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
    if (!Buffer.isBuffer(said)) throw new Error('the plugin ended')
  }

  async kill(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  /**
   * Makes the plugin encrypt with this key. Values that were encrypted with another key can still
   * be decrypted.
   */
  useKey(id: string): void {
    writeFileSync(join(this.#folder, 'key-id'), id)
  }

  /**
   * Makes all calls of a method fail. `fault` consists of the number of a gRPC code and a message.
   * If it is undefined, calls of the method succeed again.
   */
  fail(method: 'Status' | 'Encrypt' | 'Decrypt', fault: string | undefined): void {
    const path = join(this.#folder, `fault-${method}`)
    if (fault === undefined) rmSync(path, { force: true })
    else writeFileSync(path, fault)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill()
  }
}

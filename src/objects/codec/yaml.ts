/**
 * Converts YAML bodies to JSON. Small bodies are converted on the main thread. Large bodies would
 * block the event loop: 2.5 MB take a tenth of a second. A worker thread converts them. It is
 * started when the first large body arrives.
 */
import type { Worker } from 'node:worker_threads'
import { tooManyRequests, yamlTooLarge } from '../../api/errors.ts'
import { startOwnThread } from '../../lib/process/own-files.ts'
import { printSorted } from './json.ts'
import { YamlError } from './yaml-error.ts'
import { parseYaml } from './yaml-parse.ts'

/**
 * Maximum size of a body that is converted on the main thread. Larger bodies would block the event
 * loop for too long.
 */
const INLINE_BYTES_MAX = 256 * 1024
/**
 * The worker exits after it has converted a body larger than this. Otherwise its heap would keep up
 * to a hundred times the size of the body.
 */
const ENDING_BYTES = 1 << 20
/**
 * Maximum number of bodies that are waiting or being converted. With 3 MB each, they need at most
 * 48 MB of memory, and about two seconds of work.
 */
const WAITING_MAX = 16
/**
 * Maximum heap size of the worker. Ordinary objects of 3 MB need less than half of it, but a
 * million empty objects do not fit.
 */
const WORKER_MEGABYTES_MAX = 256
const WORKER_MEGABYTES_MIN = 64
/**
 * Size of the young generation in the worker's heap. The resident memory grows by three times this
 * size.
 */
const WORKER_YOUNG_MEGABYTES = 16

export type ConvertedYaml = {
  /** The first document as JSON, or `null` if the text contains no document. */
  readonly json: Buffer
  /**
   * Messages in kube-apiserver's format, such as `line 5: key "a" already set in map`. They report
   * repeated keys of the same map.
   */
  readonly duplicates: readonly string[]
}

/**
 * Converts a YAML body. Throws a `YamlError` with kube-apiserver's message if the body is not valid
 * YAML.
 */
export function convertYaml(bytes: Buffer): ConvertedYaml {
  const { value, duplicates } = parseYaml(bytes)
  return { json: Buffer.from(printSorted(value)), duplicates }
}

/** The response of the worker. `fault` is an error message. */
export type YamlAnswer =
  | { readonly id: number; readonly json: Uint8Array; readonly duplicates: readonly string[] }
  | { readonly id: number; readonly fault: string }

type QueuedConversion = {
  readonly bytes: Buffer
  readonly resolve: (converted: ConvertedYaml) => void
  readonly reject: (error: Error) => void
}

export class YamlConverter implements AsyncDisposable {
  readonly #heapMegabytes: number
  #worker: Worker | undefined
  /** Bodies that are waiting or being converted, in the order of conversion. */
  readonly #waiting = new Map<number, QueuedConversion>()
  #lastId = 0
  /** Set while a worker exits to release its memory. Resolves when it has exited. */
  #ending: Promise<unknown> | undefined

  readonly #startThread: typeof startOwnThread

  /**
   * `memoryBytes` is the memory for the worker. Its heap gets this size, within a fixed minimum and
   * maximum.
   */
  constructor(memoryBytes: number, startThread = startOwnThread) {
    this.#startThread = startThread
    const megabytes = Math.floor(memoryBytes / 2 ** 20)
    this.#heapMegabytes = Math.max(WORKER_MEGABYTES_MIN, Math.min(WORKER_MEGABYTES_MAX, megabytes))
  }

  /**
   * Converts a YAML body. Rejects with a `YamlError` if the body is not valid YAML. Rejects with
   * TooManyRequests if too many large bodies are waiting, and with RequestEntityTooLarge if the
   * conversion needs too much memory.
   */
  async convert(bytes: Buffer): Promise<ConvertedYaml> {
    if (bytes.length <= INLINE_BYTES_MAX) return convertYaml(bytes)
    if (this.#waiting.size >= WAITING_MAX)
      throw tooManyRequests('too many large YAML bodies are being converted, try again later', 1)
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const waiting = { bytes, resolve, reject }
      this.#waiting.set(id, waiting)
      this.#send(id, waiting)
    })
  }

  #send(id: number, { bytes, reject }: QueuedConversion): void {
    try {
      this.#worker ??= this.#start()
      // The body is copied and not transferred, because it may be a view of a larger buffer. The
      // target is a thread and not a window, so it has no origin.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      this.#worker.postMessage({ id, bytes })
    } catch (error) {
      // The worker cannot be started. Do not throw, because the caller can be the handler of a
      // previous worker's exit.
      this.#waiting.delete(id)
      reject(new Error('the YAML worker cannot be started', { cause: error }))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#fail(new Error('the server is shutting down'))
    await Promise.all([this.#ending, this.#end()])
  }

  async #end(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  #start(): Worker {
    const resourceLimits = {
      maxOldGenerationSizeMb: this.#heapMegabytes,
      maxYoungGenerationSizeMb: WORKER_YOUNG_MEGABYTES,
    }
    const worker = this.#startThread('./yaml-worker', import.meta.url, { resourceLimits })
    worker.unref()
    worker.on('message', (answer: YamlAnswer) => this.#settle(answer))
    worker.on('error', (error) => this.#lose(worker, error))
    worker.on('exit', () => this.#lose(worker, new Error('the YAML worker ended unexpectedly')))
    return worker
  }

  #settle(answer: YamlAnswer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if (waiting === undefined) return
    if (waiting.bytes.length > ENDING_BYTES && this.#waiting.size === 0) this.#ending = this.#end()
    if ('fault' in answer) return waiting.reject(new YamlError(answer.fault))
    const { buffer, byteOffset, byteLength } = answer.json
    waiting.resolve({
      json: Buffer.from(buffer, byteOffset, byteLength),
      duplicates: answer.duplicates,
    })
  }

  /**
   * Handles the unexpected exit of the worker. If a body has exhausted its memory, only this body
   * fails. A new worker converts the waiting bodies.
   */
  #lose(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const [first] = this.#waiting
    if (first === undefined) return
    const [id, { reject }] = first
    this.#waiting.delete(id)
    reject(isOutOfMemory(error) ? yamlTooLarge(this.#heapMegabytes) : error)
    for (const [next, waiting] of this.#waiting) this.#send(next, waiting)
  }

  #fail(error: Error): void {
    const all = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of all) reject(error)
  }
}

const isOutOfMemory = (error: Error): boolean =>
  'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

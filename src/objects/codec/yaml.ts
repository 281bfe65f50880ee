/**
 * Converts YAML bodies to JSON. Small bodies are converted on the main thread. Large bodies would
 * block the event loop (2.5 MB take a tenth of a second). They are converted on a worker thread,
 * which is started for the first of them.
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
 * Size of a body after whose conversion the worker exits. Otherwise its heap would retain up to a
 * hundred times the size of the body.
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
 * Size of the worker's young generation. It increases the resident memory by three times this
 * value.
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
  /** Resolves after the exit of a worker that was stopped to release its memory. */
  #ending: Promise<unknown> | undefined

  readonly #startThread: typeof startOwnThread

  /**
   * `memoryBytes` is the memory that the worker can use. The resulting heap size is raised to its
   * minimum or reduced to its maximum if necessary.
   */
  constructor(memoryBytes: number, startThread = startOwnThread) {
    this.#startThread = startThread
    const megabytes = Math.floor(memoryBytes / 2 ** 20)
    this.#heapMegabytes = Math.max(WORKER_MEGABYTES_MIN, Math.min(WORKER_MEGABYTES_MAX, megabytes))
  }

  /**
   * Converts a YAML body. Rejects with a `YamlError` if the body is not valid YAML, and with
   * TooManyRequests if too many large bodies are waiting. Rejects with RequestEntityTooLarge if the
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
      // The thread cannot be started. This must not throw, because the caller can be an event
      // handler of the lost worker.
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
   * Handles the loss of a worker. If a document exhausts the worker's memory, only this document
   * fails. A new worker converts the waiting documents.
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

/**
 * YAML bodies to JSON. Small ones are converted on the main thread; large ones would block the
 * event loop (2.5 MB: a tenth of a second), so a worker thread converts those. It is started for
 * the first one.
 */
import type { Worker } from 'node:worker_threads'
import { tooManyRequests, yamlTooLarge } from '../../api/errors.ts'
import { startOwnThread } from '../../lib/process/own-files.ts'
import { printSorted } from './json.ts'
import { YamlError } from './yaml-error.ts'
import { parseYaml } from './yaml-parse.ts'

/** Above this a conversion takes more than the few milliseconds that the event loop may be held. */
const INLINE_BYTES_MAX = 256 * 1024
/**
 * The worker ends after a body above this: its heap would keep up to a hundred times the size of
 * the body.
 */
const ENDING_BYTES = 1 << 20
/**
 * Bodies that wait for the worker or are in it: at 3 MB each no more than 48 MB, and about two
 * seconds of work.
 */
const WAITING_MAX = 16
/**
 * The limit of the worker's heap. Ordinary objects of 3 MB fit into half of it, a million empty
 * ones do not.
 */
const WORKER_MEGABYTES_MAX = 256
const WORKER_MEGABYTES_MIN = 64
/** Of the worker's young generation, which adds three times as much to its resident memory. */
const WORKER_YOUNG_MEGABYTES = 16

export type ConvertedYaml = {
  /** The first document; `null` when there is none. */
  readonly json: Buffer
  /**
   * Keys that were set before in the same map, as upstream words it: `line 5: key "a" already set
   * in map`.
   */
  readonly duplicates: readonly string[]
}

/** Fails with a YamlError, whose message is upstream's. */
export function convertYaml(bytes: Buffer): ConvertedYaml {
  const { value, duplicates } = parseYaml(bytes)
  return { json: Buffer.from(printSorted(value)), duplicates }
}

/** The worker's response; `fault` is the message of a YamlError. */
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
  /** In the order in which the worker converts them. */
  readonly #waiting = new Map<number, QueuedConversion>()
  #lastId = 0
  /** The end of a worker whose memory was to be freed. */
  #ending: Promise<unknown> | undefined

  readonly #startThread: typeof startOwnThread

  /** `memoryBytes`: what the worker may take, within limits. */
  constructor(memoryBytes: number, startThread = startOwnThread) {
    this.#startThread = startThread
    const megabytes = Math.floor(memoryBytes / 2 ** 20)
    this.#heapMegabytes = Math.max(WORKER_MEGABYTES_MIN, Math.min(WORKER_MEGABYTES_MAX, megabytes))
  }

  /**
   * Fails with a YamlError, with TooManyRequests when more large bodies wait than there is room
   * for, or with RequestEntityTooLarge when the conversion takes too much memory.
   */
  async convert(bytes: Buffer): Promise<ConvertedYaml> {
    if (bytes.length <= INLINE_BYTES_MAX) return convertYaml(bytes)
    if (this.#waiting.size >= WAITING_MAX)
      throw tooManyRequests('too many large YAML bodies at once', 1)
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
      // Copied, not handed over: the body may be a view of a larger buffer.
      // The target is a thread, not a window.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      this.#worker.postMessage({ id, bytes })
    } catch (error) {
      // No thread can be started. The caller may be a handler of the lost worker, which must not
      // throw.
      this.#waiting.delete(id)
      reject(new Error('the YAML worker cannot be started', { cause: error }))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#fail(new Error('the server stops'))
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
    worker.on('exit', () => this.#lose(worker, new Error('the YAML worker ended')))
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

  /** A document that exhausts the worker's memory fails alone. Those behind it get a new worker. */
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

/** Measures the live memory and the longest tick of a server that was started with --inspect. */
import { readFileSync } from 'node:fs'

/** Maximum time to wait for a response from the inspector. */
const ANSWER_MS_MAX = 30_000

/**
 * Expression that is evaluated in the server. The first evaluation starts the measurement of ticks.
 * The measurement uses only a timer, because a promise for each tick would fill the heap.
 */
const LOOK_AT_TURNS = `(() => {
  const turns = (globalThis.longestTurn ??= (() => {
    const turns = { longestMs: 0 }
    let last = process.threadCpuUsage()
    setInterval(() => {
      const used = process.threadCpuUsage()
      turns.longestMs = Math.max(turns.longestMs, (used.user - last.user + used.system - last.system) / 1000)
      last = used
    }, 1).unref()
    return turns
  })())
  const { longestMs } = turns
  turns.longestMs = 0
  return longestMs
})()`

export class Inspector implements Disposable {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (result: unknown) => void>()
  #lastId = 0

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      const answer: { id?: number; result?: unknown } = JSON.parse(String(data))
      this.#waiting.get(answer.id ?? 0)?.(answer.result)
    })
  }

  /** Returns the size of live objects and of the buffers that they hold. */
  async liveBytes(): Promise<number> {
    await this.#ask('HeapProfiler.collectGarbage')
    await this.#ask('HeapProfiler.collectGarbage')
    const usage = await this.#ask('Runtime.getHeapUsage')
    return numberOf(usage, 'usedSize') + numberOf(usage, 'backingStorageSize')
  }

  /**
   * Returns the longest tick of the server's event loop since the last call, in milliseconds of its
   * thread's CPU time.
   */
  async longestTurnMs(): Promise<number> {
    const { result } = fieldsIn(await this.#ask('Runtime.evaluate', { expression: LOOK_AT_TURNS }))
    return numberOf(result, 'value')
  }

  [Symbol.dispose](): void {
    this.#socket.close()
  }

  #ask(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${method} did not get a response`)),
        ANSWER_MS_MAX,
      )
      this.#waiting.set(id, (result) => {
        clearTimeout(timer)
        this.#waiting.delete(id)
        resolve(result)
      })
      this.#socket.send(JSON.stringify({ id, method, params }))
    })
  }
}

/**
 * Connects to the inspector of a server. The address is in the output of the server. If there are
 * several addresses, the last one is used, because bin/keelson may replace its process with a new
 * one.
 */
export async function inspect(log: string): Promise<Inspector> {
  const address = log.match(/ws:\/\/127\.0\.0\.1:\d+\/\S+/g)?.at(-1)
  if (address === undefined) throw new Error('the server was not started with --inspect')
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error(`cannot connect to ${address}`)))
  })
  return new Inspector(socket)
}

export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
}

const fieldsIn = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}

function numberOf(value: unknown, name: string): number {
  const found = fieldsIn(value)[name]
  return typeof found === 'number' ? found : 0
}

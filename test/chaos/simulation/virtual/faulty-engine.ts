/**
 * Simulates a faulty network between one replica and the database. Requests and responses are
 * delayed and reordered. Calls fail before or after they take effect. Streams end, all messages are
 * held back, or only an old state arrives. The messages of one stream stay in order, as with TCP.
 */
import type { Time } from '../../../../src/lib/time/timers.ts'
import type {
  CallOptions,
  Engine,
  FeedStreamOptions,
  FeedRange,
  FeedListener,
  FeedStream,
} from '../../../../src/storage/engine.ts'
import { StorageError } from '../../../../src/storage/errors.ts'
import type { Random } from '../random.ts'
import { FaultyStream } from './faulty-stream.ts'

/** Timeout of a call. The value is the same as in the etcd client. */
const CALL_TIMEOUT_MS = 10_000

/**
 * Condition of the network:
 *
 * - `well`: messages are only delayed.
 * - `down`: connections are refused.
 * - `hung`: no message arrives until the network works again.
 * - `leaderless`: calls fail or hang, and streams are silent.
 * - `stale`: calls get responses, but streams only repeat a progress notification with an old
 * revision.
 */
export type EngineCondition = 'well' | 'down' | 'hung' | 'leaderless' | 'stale'

export type FaultyEngineOptions = {
  readonly name: string
  readonly engine: Engine
  readonly time: Time & { note(line: string): void; readonly nowMs: number }
  readonly random: Random
}

type Call = { readonly isWrite: boolean; readonly fail: (error: StorageError) => void }

export class FaultyEngine implements Engine {
  readonly #options: FaultyEngineOptions
  readonly #calls = new Set<Call>()
  readonly #streams = new Set<FaultyStream>()
  readonly #healed = new Set<() => void>()
  #weather: EngineCondition = 'well'
  /**
   * Number of times that the database was killed. A request that was sent before the last kill is
   * lost.
   */
  #life = 0
  /** Maximum delay of most messages. One message in ten can take ten times as long. */
  latencyMs = 5
  /** Fraction of the calls that fail without a response. */
  cutShare = 0
  /** Time at which a message last arrived on a stream. */
  heardAtMs = 0

  constructor(options: FaultyEngineOptions) {
    this.#options = options
  }

  get weather(): EngineCondition {
    return this.#weather
  }

  get streams(): number {
    return this.#streams.size
  }

  get calls(): number {
    return this.#calls.size
  }

  set weather(weather: EngineCondition) {
    this.#note(`weather ${weather}`)
    this.#weather = weather
    if (weather === 'down') this.cut()
    if (weather === 'down' || weather === 'hung' || weather === 'leaderless') return
    const waiting = [...this.#healed]
    this.#healed.clear()
    for (const go of waiting) go()
    for (const stream of [...this.#streams]) stream.flush()
  }

  /** Breaks all connections. */
  cut(): void {
    for (const call of [...this.#calls]) call.fail(lost(call.isWrite))
    for (const stream of [...this.#streams]) stream.break(lost(false))
  }

  /** Kills the database. All pending requests to the database are lost. */
  die(): void {
    this.#life++
    this.weather = 'down'
  }

  range: Engine['range'] = (query, options) =>
    this.#call(`range ${query.from} @${query.revision ?? 'latest'}`, options, false, (call) =>
      this.#options.engine.range(query, call),
    )

  change: Engine['change'] = (change, options) =>
    this.#call(`change ${change.key} @${change.expected}`, options, true, (call) =>
      this.#options.engine.change(change, call),
    )

  latest: Engine['latest'] = (options) =>
    this.#call('latest', options, false, (call) => this.#options.engine.latest(call))

  grantLease: Engine['grantLease'] = (ttlSeconds, options) =>
    this.#call('grant', options, false, (call) => this.#options.engine.grantLease(ttlSeconds, call))

  openFeed(
    ranges: readonly FeedRange[],
    sink: FeedListener,
    options: FeedStreamOptions = {},
  ): FeedStream {
    const { engine, time } = this.#options
    this.#note(`open ${ranges.map(({ from, after }) => `${from}>${after}`).join(' ')}`)
    const stream: FaultyStream = new FaultyStream({
      time,
      sink,
      open: (inner) => engine.openFeed(ranges, inner, options),
      latency: () => this.#latency(),
      weather: () => this.#weather,
      onTold: (line) => {
        this.#note(line)
        // Streams that request previous values are ignored, because they only read history. They do
        // not prove that the cache still receives new events.
        if (options.previous !== true) this.heardAtMs = time.nowMs
      },
      onClosed: () => this.#streams.delete(stream),
    })
    this.#streams.add(stream)
    return stream
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }

  #call<T>(
    what: string,
    { signal, timeoutMs = CALL_TIMEOUT_MS }: CallOptions = {},
    isWrite: boolean,
    act: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    if (signal?.aborted)
      return Promise.reject(new StorageError('cancelled', 'the caller cancelled'))
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const id = this.#options.random.between(0, 0xffff).toString(16)
    const settle = (outcome: string, act_: () => void): void => {
      if (!this.#calls.delete(call)) return
      this.#note(`${id} ${outcome}`)
      timer.close()
      signal?.removeEventListener('abort', onAbort)
      act_()
    }
    const call: Call = {
      isWrite,
      fail: (error) => settle(`${error.code} ${error.message}`, () => reject(error)),
    }
    const timer = this.#options.time.after(timeoutMs, () => call.fail(late(timeoutMs, isWrite)))
    const onAbort = (): void =>
      call.fail(new StorageError('cancelled', 'the caller cancelled', { ambiguous: isWrite }))
    signal?.addEventListener('abort', onAbort)
    this.#calls.add(call)
    this.#note(`${id} ${what}`)
    this.#travel(call, act).then(
      (answer) => settle(`answer ${brief(answer)}`, () => resolve(answer)),
      (error: unknown) => settle(`failure ${String(error)}`, () => reject(error)),
    )
    return promise
  }

  /**
   * Delivers a call and its response. Continues even if the caller has canceled the call, because
   * the request has already been sent.
   */
  async #travel<T>(call: Call, act: (options: CallOptions) => Promise<T>): Promise<T> {
    const { random } = this.#options
    const life = this.#life
    if (this.#weather === 'down') {
      await this.#wait(this.#latency())
      throw new StorageError('unavailable', 'connection refused')
    }
    await this.#wait(this.#latency())
    if (this.#weather === 'leaderless' && random.chance(0.5)) {
      throw new StorageError('unavailable', 'etcdserver: no leader')
    }
    await this.#untilThrough()
    if (life !== this.#life) throw lost(call.isWrite)
    const isCut = random.chance(this.cutShare)
    if (isCut && random.chance(0.5)) throw lost(call.isWrite)
    const answer = await act({})
    if (isCut) throw lost(call.isWrite)
    await this.#wait(this.#latency())
    await this.#untilThrough()
    return answer
  }

  async #untilThrough(): Promise<void> {
    while (this.#weather === 'hung' || this.#weather === 'leaderless') {
      await new Promise<void>((resolve) => this.#healed.add(resolve))
    }
  }

  /**
   * Returns a delay that is mostly short and sometimes long, so that responses overtake each other.
   */
  #latency(): number {
    const { random } = this.#options
    return (random.chance(0.1) ? 10 : 1) * random.next() * this.latencyMs
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#options.time.after(ms, resolve))
  }

  #note(line: string): void {
    this.#options.time.note(`${this.#options.name}: ${line}`)
  }
}

const lost = (ambiguous: boolean): StorageError =>
  new StorageError('unavailable', 'the connection was lost', { ambiguous })

const late = (ms: number, ambiguous: boolean): StorageError =>
  new StorageError('unavailable', `no response within ${ms} ms`, { ambiguous })

function brief(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return String(answer)
  if ('values' in answer && Array.isArray(answer.values) && 'revision' in answer) {
    return `${answer.values.length} values @${String(answer.revision)}`
  }
  return 'won' in answer && 'revision' in answer
    ? `won ${String(answer.won)} @${String(answer.revision)}`
    : 'something'
}

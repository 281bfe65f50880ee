/**
 * Decides which replica runs the controllers: the one that holds the Lease `keelson-controllers`.
 * None does while a kube-controller-manager holds its own, so that no two programs do the same
 * work.
 */
import { fieldsOf, type KubeObject, numberOf, omit } from '../api/object.ts'
import { objectOf, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import type { ApiResponse } from '../api/request.ts'
import { microTime } from '../api/timestamps.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { orAborted } from '../lib/concurrency/or-aborted.ts'
import { deadline, sleep, systemTime, type Time } from '../lib/time/timers.ts'
import { ObservedLease } from './observed-lease.ts'

/** How often the leases are looked at, which the cache has. */
const LOOK_MS = 1_000
const RENEW_MS = 2_000
/**
 * For how long others wait for a holder that is silent: work goes on within 15 s after it was
 * killed.
 */
const VALID_SECONDS = 8
/**
 * A holder that could not renew for this long stops its controllers; they have 2.5 s to end before
 * another one starts its own.
 */
const GIVE_UP_MS = 5_500
/**
 * A server whose controllers cannot be started leaves the Lease to others; its waits double from
 * the first to the longest.
 */
const START_AGAIN_MS_FIRST = 1_000
const START_AGAIN_MS_MAX = 60_000
/**
 * Waits after a failure are up to this part longer, so that servers do not come back to a database
 * together. client-go's.
 */
const JITTER = 1.2

const namespace = 'kube-system'
const folder = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
export const ownLease = 'keelson-controllers'
const managerLease = 'kube-controller-manager'

export type ElectionOptions = {
  /** As the server itself. */
  readonly handle: Handler
  /** A Lease in kube-system, from the cache. */
  readonly readLease: (name: string) => Promise<KubeObject | undefined>
  /** Of this process. */
  readonly identity: string
  /**
   * No other process can have the database, as the lock of a data folder proves: whoever else holds
   * the Lease is a run that has ended, perhaps by kill -9.
   */
  readonly holdsStore?: boolean
  /**
   * Starts the controllers; they end when they are disposed of. `onFailed`: one could not be
   * started after all.
   */
  readonly lead: (onFailed: (error: unknown) => void) => AsyncDisposable
  readonly log: Log
  readonly time?: Time
  /** A number from 0 to 1. */
  readonly random?: () => number
}

export class Election implements AsyncDisposable {
  readonly #options: ElectionOptions
  readonly #time: Time
  readonly #stopping = new AbortController()
  readonly #manager = new ObservedLease()
  readonly #own = new ObservedLease()
  /** Our Lease as it was written last; undefined: somebody else has it, or nobody. */
  #held: KubeObject | undefined
  #renewedMs = 0
  #leading: AsyncDisposable | undefined
  /** Why not all controllers could be started. */
  #failure: { readonly error: unknown } | undefined
  /** In a row. */
  #failedStarts = 0
  #startAfterMs = 0
  #isStandingBack = false
  readonly #running: Promise<void>

  constructor(options: ElectionOptions) {
    this.#options = options
    this.#time = options.time ?? systemTime
    this.#running = this.#run()
  }

  get isLeading(): boolean {
    return this.#leading !== undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { log } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      let pauseMs = LOOK_MS
      try {
        await this.#checkLease()
      } catch (error) {
        // A holder has no time to lose.
        if (this.#held === undefined) pauseMs = this.#jittered(LOOK_MS)
        if (!signal.aborted)
          log('warn', 'the election of who runs controllers failed; it is tried again', {
            error: String(error),
          })
      }
      // Rejects only when the server stops.
      await sleep(this.#time, Math.min(pauseMs, this.#leftMs), signal).catch(() => undefined)
      if (this.#leftMs === 0) await this.#stopLeading()
    }
    await this.#release().catch((error: unknown) =>
      log('warn', 'the Lease of the controllers stays until it is no longer valid', {
        error: String(error),
      }),
    )
  }

  get #sinceRenewal(): number {
    return this.#time.monotonicMs() - this.#renewedMs
  }

  /**
   * For how long a holder may still lead if it is not renewed. One that holds nothing has all of it
   * to get it.
   */
  get #leftMs(): number {
    return this.#held === undefined
      ? GIVE_UP_MS
      : Math.max(0, Math.ceil(GIVE_UP_MS - this.#sinceRenewal))
  }

  /**
   * Fails when no time is left, or the server stops, even if the work does not end then. Stopping
   * the controllers is no such work: they must have ended before they may start again.
   */
  async #withTimeout<T>(start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    using limit = deadline(this.#time, this.#leftMs)
    const signal = AbortSignal.any([this.#stopping.signal, limit.signal])
    signal.throwIfAborted()
    return await orAborted(start(signal), signal)
  }

  async #checkLease(): Promise<void> {
    if (this.#failure !== undefined && this.#leading !== undefined)
      await this.#giveUp(this.#failure.error)
    const { readLease } = this.#options
    const [manager, own] = await this.#withTimeout(() =>
      Promise.all([readLease(managerLease), readLease(ownLease)]),
    )
    const now = this.#time.monotonicMs()
    this.#manager.observe(manager, now)
    this.#own.observe(own, now)
    if (this.#manager.isHeld(now)) return this.#yieldLease()
    this.#isStandingBack = false
    if (this.#held !== undefined) {
      if (this.#sinceRenewal >= RENEW_MS) await this.#renew(this.#held)
    } else if (now >= this.#startAfterMs && this.#isFree(now)) await this.#acquire(own)
  }

  #isFree(now: number): boolean {
    const { identity, holdsStore = false } = this.#options
    return holdsStore || !this.#own.isHeld(now) || this.#own.holder === identity
  }

  /** Who holds the Lease and does nothing keeps others from doing it. */
  async #giveUp(error: unknown): Promise<void> {
    const againMs = this.#jittered(
      Math.min(START_AGAIN_MS_FIRST * 2 ** this.#failedStarts++, START_AGAIN_MS_MAX),
    )
    this.#startAfterMs = this.#time.monotonicMs() + againMs
    this.#options.log('error', 'the controllers could not be started; it is tried again', {
      error: String(error),
      againMs: Math.round(againMs),
    })
    await this.#release()
  }

  #jittered(ms: number): number {
    return ms * (1 + JITTER * (this.#options.random ?? Math.random)())
  }

  async #yieldLease(): Promise<void> {
    if (!this.#isStandingBack) {
      const holder = this.#manager.holder
      this.#options.log(
        'info',
        'kube-controller-manager runs: the controllers of this server stand back',
        { holder },
      )
    }
    this.#isStandingBack = true
    await this.#release()
  }

  async #acquire(found: KubeObject | undefined): Promise<void> {
    const { identity, lead } = this.#options
    const before = fieldsOf(found?.['spec'])
    const transitions = numberOf(before['leaseTransitions'])
    const now = microTime(this.#time.wallMs())
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: VALID_SECONDS,
      acquireTime: now,
      renewTime: now,
      leaseTransitions:
        found === undefined || before['holderIdentity'] === identity
          ? transitions
          : transitions + 1,
    }
    const held = await this.#write(found === undefined ? { ...newLease, spec } : { ...found, spec })
    // Another one was first.
    if (held === undefined || this.#stopping.signal.aborted) return
    try {
      this.#failure = undefined
      this.#leading = lead((error) => {
        this.#failure = { error }
      })
    } catch (error) {
      await this.#giveUp(error)
    }
  }

  async #renew(held: KubeObject): Promise<void> {
    const spec = { ...fieldsOf(held['spec']), renewTime: microTime(this.#time.wallMs()) }
    if ((await this.#write({ ...held, spec })) === undefined) return this.#stopLeading()
    // The time until the first renewal is enough to start all controllers.
    this.#failedStarts = 0
  }

  /** Undefined: somebody else has changed the Lease. Fails if it cannot be written. */
  async #write(lease: KubeObject): Promise<KubeObject | undefined> {
    const startMs = this.#time.monotonicMs()
    const response = await this.#withTimeout((signal) => this.#send(lease, signal))
    if (response.status === CONFLICT || response.status === NOT_FOUND) return undefined
    if (response.status >= FAILURE)
      throw new Error(`the Lease ${ownLease} answers ${response.status}`)
    const { metadata, spec } = fieldsOf(objectOf(response))
    this.#held = {
      ...newLease,
      metadata: { ...fieldsOf(metadata), managedFields: undefined },
      spec,
    }
    // The others count from the write, which is after its start.
    this.#renewedMs = startMs
    return this.#held
  }

  #send(lease: KubeObject, signal: AbortSignal): Promise<ApiResponse> {
    const { handle } = this.#options
    const { uid } = lease.metadata
    const sent = { body: lease, signal, manager: 'keelson' }
    if (uid === undefined) return request(handle, { ...sent, method: 'POST', path: folder })
    return request(handle, { ...sent, method: 'PUT', path: `${folder}/${ownLease}` })
  }

  async #stopLeading(): Promise<void> {
    const leading = this.#leading
    this.#leading = undefined
    this.#held = undefined
    try {
      await leading?.[Symbol.asyncDispose]()
    } catch (error) {
      this.#options.log('error', 'the controllers of this server did not stop in order', {
        error: String(error),
      })
    }
  }

  /** Lets the Lease go, so that nobody has to wait until it is no longer valid. */
  async #release(): Promise<void> {
    const held = this.#held
    await this.#stopLeading()
    if (held === undefined) return
    using limit = deadline(this.#time, LOOK_MS)
    const now = microTime(this.#time.wallMs())
    const before = omit(fieldsOf(held['spec']), 'holderIdentity')
    const spec = { ...before, leaseDurationSeconds: 1, acquireTime: now, renewTime: now }
    await this.#send({ ...held, spec }, limit.signal)
  }
}

const newLease: KubeObject = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: ownLease, namespace },
}

const NOT_FOUND = 404
const CONFLICT = 409
const FAILURE = 400

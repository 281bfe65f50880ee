/**
 * Decides which replica runs the controllers: the replica that holds the Lease
 * `keelson-controllers`. While a kube-controller-manager holds its own Lease, no replica runs them,
 * so that no two programs do the same work.
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

/** Interval between checks of the Leases. The Leases are read from the cache. */
const LOOK_MS = 1_000
const RENEW_MS = 2_000
/**
 * How long the Lease is valid. When a holder is killed, other replicas wait for this time, so that
 * controllers run again within 15 seconds.
 */
const VALID_SECONDS = 8
/**
 * If a holder could not renew its Lease for this time, it stops its controllers. They have 2.5
 * seconds to stop before another replica starts its own.
 */
const GIVE_UP_MS = 5_500
/**
 * First and maximum delay until a server whose controllers failed to start tries to lead again. The
 * delay doubles with each failure. Other servers can acquire the Lease in the meantime.
 */
const START_AGAIN_MS_FIRST = 1_000
const START_AGAIN_MS_MAX = 60_000
/**
 * Maximum fraction by which delays after a failure are extended, so that servers do not all
 * reconnect to a database at the same time. The value is the same as in client-go.
 */
const JITTER = 1.2

const namespace = 'kube-system'
const folder = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
export const ownLease = 'keelson-controllers'
const managerLease = 'kube-controller-manager'

export type ElectionOptions = {
  /** Handles requests with the identity of the server itself. */
  readonly handle: Handler
  /** Reads a Lease in kube-system from the cache. */
  readonly readLease: (name: string) => Promise<KubeObject | undefined>
  /** Identity of this process. */
  readonly identity: string
  /**
   * Whether no other process can use the database, which the lock of a data folder ensures. If the
   * Lease has another holder, that process has then exited without releasing it.
   */
  readonly holdsStore?: boolean
  /**
   * Starts the controllers. They stop when the result is disposed of. `onFailed` is called if a
   * controller fails to start later.
   */
  readonly lead: (onFailed: (error: unknown) => void) => AsyncDisposable
  readonly log: Log
  readonly time?: Time
  /** Returns a number from 0 to 1, for the jitter of delays. */
  readonly random?: () => number
}

export class Election implements AsyncDisposable {
  readonly #options: ElectionOptions
  readonly #time: Time
  readonly #stopping = new AbortController()
  readonly #manager = new ObservedLease()
  readonly #own = new ObservedLease()
  /** The Lease as this server last wrote it. Undefined if this server does not hold the Lease. */
  #held: KubeObject | undefined
  #renewedMs = 0
  #leading: AsyncDisposable | undefined
  /** The reason why not all controllers could be started. */
  #failure: { readonly error: unknown } | undefined
  /** Number of consecutive failed starts. */
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
        // Servers that do not hold the Lease add jitter to their delay. The holder does not,
        // because it must renew the Lease in time.
        if (this.#held === undefined) pauseMs = this.#jittered(LOOK_MS)
        if (!signal.aborted)
          log('warn', 'the leader election of the controllers failed; retrying', {
            error: String(error),
          })
      }
      // `sleep` rejects only when the server stops.
      await sleep(this.#time, Math.min(pauseMs, this.#leftMs), signal).catch(() => undefined)
      if (this.#leftMs === 0) await this.#stopLeading()
    }
    await this.#release().catch((error: unknown) =>
      log(
        'warn',
        'failed to release the Lease of the controllers; other servers wait until it expires',
        {
          error: String(error),
        },
      ),
    )
  }

  get #sinceRenewal(): number {
    return this.#time.monotonicMs() - this.#renewedMs
  }

  /**
   * How long this server can still lead without renewing its Lease. If it does not hold the Lease,
   * how long an attempt to acquire the Lease may take.
   */
  get #leftMs(): number {
    return this.#held === undefined
      ? GIVE_UP_MS
      : Math.max(0, Math.ceil(GIVE_UP_MS - this.#sinceRenewal))
  }

  /**
   * Runs work that must end within `#leftMs`. Rejects after this time, or when the server stops,
   * even if the work continues. Do not use this method to stop the controllers, because they must
   * have stopped completely before they can be started again.
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

  /** Releases the Lease after a failed start, so that other servers can run the controllers. */
  async #giveUp(error: unknown): Promise<void> {
    const againMs = this.#jittered(
      Math.min(START_AGAIN_MS_FIRST * 2 ** this.#failedStarts++, START_AGAIN_MS_MAX),
    )
    this.#startAfterMs = this.#time.monotonicMs() + againMs
    this.#options.log('error', 'failed to start the controllers; retrying', {
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
        'kube-controller-manager is running; the controllers of this server stay inactive',
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
    // Another server has acquired the Lease first.
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
    // The Lease was renewed without a failure of a controller, so the start counts as successful.
    this.#failedStarts = 0
  }

  /**
   * Writes the Lease. Returns undefined if another server has changed the Lease. Rejects if the
   * write fails.
   */
  async #write(lease: KubeObject): Promise<KubeObject | undefined> {
    const startMs = this.#time.monotonicMs()
    const response = await this.#withTimeout((signal) => this.#send(lease, signal))
    if (response.status === CONFLICT || response.status === NOT_FOUND) return undefined
    if (response.status >= FAILURE)
      throw new Error(`writing the Lease ${ownLease} failed: status ${response.status}`)
    const { metadata, spec } = fieldsOf(objectOf(response))
    this.#held = {
      ...newLease,
      metadata: { ...fieldsOf(metadata), managedFields: undefined },
      spec,
    }
    // Use the time before the write: for other servers, the Lease is valid from the write, which
    // happened later.
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
      this.#options.log('error', 'failed to stop the controllers of this server cleanly', {
        error: String(error),
      })
    }
  }

  /**
   * Stops the controllers and releases the Lease, so that other servers need not wait until it
   * expires.
   */
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

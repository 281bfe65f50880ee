/**
 * The keys of an external signer. They are fetched at startup, again at the time that the signer
 * suggests, and when a token has an unknown key. If a fetch fails, the previous keys stay in use.
 */
import { messageOf } from '../../../lib/errors.ts'
import type { JwtKey } from '../../../lib/jwt.ts'
import { publicJwtKey } from '../../../lib/jwt.ts'
import type { Log } from '../../../lib/telemetry/log.ts'
import type { MaybePromise } from '../../../lib/concurrency/maybe-promise.ts'
import { type Time, type Timer } from '../../../lib/time/timers.ts'
import type { ServiceAccountKeys } from '../service-account-keys.ts'
import type { SignerKeys } from './messages.ts'

/** Delay after a failed refresh, as in kube-apiserver. */
const RETRY_MS = 10_000
/**
 * Minimum interval between fetches for tokens with unknown keys, because anyone can create such
 * tokens. kube-apiserver has no limit.
 */
const ASK_EVERY_MS = 1_000
const KEY_ID_CHARACTERS_MAX = 1024

type ExternalKey = JwtKey & { readonly der: Buffer; readonly isExcludedFromDiscovery: boolean }

type FetchedKeys = {
  readonly keys: readonly ExternalKey[]
  readonly dataSeconds: number
  readonly refreshSeconds: number
}

export type ExternalKeysOptions = {
  readonly fetch: () => Promise<SignerKeys>
  readonly time: Time
  readonly log: Log
  /** Called with the timestamp of each set of keys that is fetched. */
  readonly onFetched: (dataSeconds: number) => void
}

export class ExternalKeys implements ServiceAccountKeys, Disposable {
  readonly #options: ExternalKeysOptions
  #keys: readonly ExternalKey[] = []
  #refreshAtMs = 0
  #askedAtMs = Number.NEGATIVE_INFINITY
  #fetching: Promise<void> | undefined
  #timer: Timer | undefined
  #isEnded = false

  constructor(options: ExternalKeysOptions) {
    this.#options = options
  }

  /** Fetches the keys for the first time. Rejects if the signer has no valid keys. */
  async start(): Promise<void> {
    await this.#fetch()
    this.#schedule(this.#refreshAtMs - this.#options.time.monotonicMs())
  }

  /** The keys to publish for OIDC discovery. */
  get published(): readonly JwtKey[] {
    return this.#keys.filter(({ isExcludedFromDiscovery }) => !isExcludedFromDiscovery)
  }

  /** How long clients may cache the published keys, in seconds. */
  get cacheSeconds(): number {
    return Math.max(0, Math.floor((this.#refreshAtMs - this.#options.time.monotonicMs()) / 1000))
  }

  /**
   * Whether new tokens must not be signed with this key. This is the case if the key is not
   * published, because other parties then cannot verify the tokens. If the key is unknown, the keys
   * are fetched immediately. No rate limit is needed, because only the signer passes key ids to
   * this function.
   */
  async isExcluded(keyId: string): Promise<boolean> {
    if (this.#known(keyId).length === 0) {
      await this.#fetch().catch((error: Error) =>
        this.#options.log('error', 'could not fetch the public keys of the external signer', {
          error: error.message,
        }),
      )
    }
    return this.#keys.some(
      ({ id, isExcludedFromDiscovery }) => id === keyId && isExcludedFromDiscovery,
    )
  }

  find(keyId: string): MaybePromise<readonly JwtKey[]> {
    const found = this.#known(keyId)
    if (found.length > 0) return found
    const isAsked = this.#fetching !== undefined
    const { time, log } = this.#options
    if (!isAsked) {
      if (time.monotonicMs() - this.#askedAtMs < ASK_EVERY_MS) return found
      this.#askedAtMs = time.monotonicMs()
    }
    return this.#fetch().then(
      () => this.#known(keyId),
      (error: Error) => {
        if (!isAsked)
          log('error', 'could not fetch the public keys of the external signer', {
            error: error.message,
          })
        return []
      },
    )
  }

  #known(keyId: string): readonly JwtKey[] {
    return keyId === '' ? this.#keys : this.#keys.filter(({ id }) => id === keyId)
  }

  #fetch(): Promise<void> {
    this.#fetching ??= this.#fetchOnce().finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching
  }

  async #fetchOnce(): Promise<void> {
    const { fetch, time, onFetched } = this.#options
    const { keys, dataSeconds, refreshSeconds } = checked(await fetch(), this.#keys)
    this.#keys = keys
    this.#refreshAtMs = time.monotonicMs() + refreshSeconds * 1000
    onFetched(dataSeconds)
  }

  #schedule(ms: number): void {
    if (this.#isEnded) return
    this.#timer = this.#options.time.after(Math.max(0, ms), () => void this.#refresh())
  }

  async #refresh(): Promise<void> {
    const { time, log } = this.#options
    try {
      await this.#fetch()
      this.#schedule(this.#refreshAtMs - time.monotonicMs())
    } catch (error) {
      const why = messageOf(error)
      log(
        'error',
        'could not refresh the public keys of the external signer; the previous keys are still used',
        {
          error: why,
        },
      )
      this.#schedule(RETRY_MS)
    }
  }

  [Symbol.dispose](): void {
    this.#isEnded = true
    this.#timer?.close()
  }
}

/** Validates the keys. The messages of its errors are the same as in kube-apiserver. */
function checked(
  { keys, dataSeconds, refreshSeconds }: SignerKeys,
  before: readonly ExternalKey[],
): FetchedKeys {
  if (refreshSeconds <= 0) throw new Error(`found invalid refresh hint (${refreshSeconds}s)`)
  if (keys.length === 0) throw new Error('found no keys')
  if (dataSeconds === null) throw new Error('invalid data timestamp: proto: invalid nil Timestamp')
  const read = keys.map(({ id, der, isExcludedFromDiscovery }): ExternalKey => {
    if (id === '' || id.length > KEY_ID_CHARACTERS_MAX) {
      throw new Error(`found invalid public key id ${JSON.stringify(id)}`)
    }
    if (der.length === 0) throw new Error('found empty public key')
    // Reuse the object of a known key, because the cache of verified signatures identifies keys by
    // object identity.
    // Bounded: `before` contains only the few keys of an external signer, so each search is short.
    const same = before.find((one) => one.id === id && one.der.equals(der))
    if (same?.isExcludedFromDiscovery === isExcludedFromDiscovery) return same
    const key = publicJwtKey(der, id)
    if (key === undefined)
      throw new Error(`while parsing external public keys: ${id} is not an RSA or ECDSA public key`)
    return { ...key, der, isExcludedFromDiscovery }
  })
  return { keys: read, dataSeconds, refreshSeconds }
}

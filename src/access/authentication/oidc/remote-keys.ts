/**
 * The keys of an issuer. They are fetched when no known key verifies the signature of a token.
 *
 * Known keys stay in use after they expire, so that clients can still authenticate while the issuer
 * is down. Expired keys are refreshed in the background, so that a key that the issuer withdrew
 * does not stay valid forever.
 */
import { compactVerify, errors } from 'jose'
import type { Clock } from '../../../lib/time/clock.ts'
import { sleep, type Timers } from '../../../lib/time/timers.ts'
import { freshMs } from './freshness.ts'
import type { Get } from './issuer-client.ts'
import { type IssuerKey, readKeySet } from './key-set.ts'

/**
 * For a token with an unknown key, the known keys count as expired this long before their
 * expiration, as in kube-apiserver.
 */
const EXPIRY_LEEWAY_MS = 30_000
/**
 * Minimum interval between fetches, because anyone can create tokens with an unknown key. A token
 * with an unknown key waits until the interval has passed, so that a new key is found even under a
 * flood of such tokens. kube-apiserver has no limit.
 */
const FETCH_EVERY_MS = 500
/**
 * Minimum time between the last fetch and a refresh of expired keys that still verify a token.
 * kube-apiserver never refreshes such keys.
 */
const REFRESH_AFTER_MS = 10 * 60_000

export type RemoteKeysOptions = { readonly get: Get; readonly time: Clock & Pick<Timers, 'after'> }

export type SignedToken = {
  readonly token: string
  /**
   * The id of the key that signed the token. An empty string means that the token does not name a
   * key, so all keys are tried.
   */
  readonly keyId: string
  readonly algorithm: string
}

export class RemoteKeys {
  readonly #url: string
  readonly #options: RemoteKeysOptions
  #keys: readonly IssuerKey[] = []
  /** Time at which the keys expire. This time and `#fetchedAtMs` are on the monotonic clock. */
  #expiresAtMs = Number.NEGATIVE_INFINITY
  #fetchedAtMs = Number.NEGATIVE_INFINITY
  #fetching: Promise<readonly IssuerKey[]> | undefined

  constructor(url: string, options: RemoteKeysOptions) {
    this.#url = url
    this.#options = options
  }

  /** Returns undefined if the signature is valid, otherwise the reason why it is not. */
  async verify(signed: SignedToken): Promise<string | undefined> {
    const { monotonicMs } = this.#options.time
    if (await isSignedBy(this.#keys, signed)) {
      this.#refreshOld()
      return undefined
    }
    if (monotonicMs() + EXPIRY_LEEWAY_MS <= this.#expiresAtMs) return unverified
    const keys = await this.#fetch().catch((error: Error) => error)
    if (keys instanceof Error) return `fetching keys ${keys.message}`
    return (await isSignedBy(keys, signed)) ? undefined : unverified
  }

  #refreshOld(): void {
    const now = this.#options.time.monotonicMs()
    if (now < this.#expiresAtMs || now < this.#fetchedAtMs + REFRESH_AFTER_MS) return
    // Set the time of the fetch before it starts. Other tokens then do not start a second fetch,
    // and a failed fetch is retried only after the interval.
    this.#fetchedAtMs = now
    this.#fetch().catch(() => undefined)
  }

  /** Fetches the keys. Concurrent callers share one request. */
  #fetch(): Promise<readonly IssuerKey[]> {
    this.#fetching ??= this.#fetchOnce().finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching
  }

  async #fetchOnce(): Promise<readonly IssuerKey[]> {
    const { get, time } = this.#options
    const waitMs = this.#fetchedAtMs + FETCH_EVERY_MS - time.monotonicMs()
    if (waitMs > 0) await sleep(time, waitMs)
    try {
      const { status, statusText, headers, body } = await get(this.#url).catch((error: Error) => {
        throw new Error(`oidc: get keys failed ${error.message}`)
      })
      if (status !== 200) throw new Error(`oidc: get keys failed: ${statusText} ${shown(body)}`)
      this.#keys = readKeys(body)
      this.#expiresAtMs = time.monotonicMs() + freshMs(headers, time.wallMs())
      return this.#keys
    } finally {
      this.#fetchedAtMs = time.monotonicMs()
    }
  }
}

const unverified = 'failed to verify id token signature'

function readKeys(body: Buffer): readonly IssuerKey[] {
  try {
    return readKeySet(body)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : ''
    throw new Error(`oidc: failed to decode keys: ${why} ${shown(body)}`, { cause })
  }
}

/** Maximum length of the excerpt of an invalid response that is logged. */
const SHOWN_CHARACTERS_MAX = 200

export const shown = (body: Buffer): string => body.toString('utf8', 0, SHOWN_CHARACTERS_MAX).trim()

async function isSignedBy(
  keys: readonly IssuerKey[],
  { token, keyId, algorithm }: SignedToken,
): Promise<boolean> {
  const type = algorithm.startsWith('ES') ? 'EC' : 'RSA'
  for (const key of keys) {
    if (key.kty !== type || (keyId !== '' && key.kid !== keyId)) continue
    try {
      await compactVerify(token, key, { algorithms: [algorithm] })
      return true
    } catch (error) {
      // A key that is invalid, too short or for another use causes a TypeError or a DOMException.
      // Such a key cannot verify a token.
      if (
        !(
          error instanceof errors.JOSEError ||
          error instanceof TypeError ||
          error instanceof DOMException
        )
      )
        throw error
    }
  }
  return false
}

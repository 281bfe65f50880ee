/**
 * The keys of an issuer, fetched when a token has a signature that none of the known keys verifies.
 * Known keys are used although they expired, so that clients keep working while the issuer is down;
 * then they are fetched again in the background, so that a key that the issuer withdrew is not
 * valid for ever.
 */
import { compactVerify, errors } from 'jose'
import type { Clock } from '../../../lib/time/clock.ts'
import { sleep, type Timers } from '../../../lib/time/timers.ts'
import { freshMs } from './freshness.ts'
import type { Get } from './issuer-client.ts'
import { type IssuerKey, readKeySet } from './key-set.ts'

/** Keys that expire within this time may be fetched again already, as upstream. */
const EXPIRY_LEEWAY_MS = 30_000
/**
 * The time between two fetches: anybody can make tokens with an unknown key. A token that comes
 * sooner waits, so that a new key is found while such tokens arrive. Upstream has no limit.
 */
const FETCH_EVERY_MS = 500
/**
 * Keys that are older than this, and expired, are fetched again although they verify a token.
 * Upstream never does.
 */
const REFRESH_AFTER_MS = 10 * 60_000

export type RemoteKeysOptions = { readonly get: Get; readonly time: Clock & Pick<Timers, 'after'> }

export type SignedToken = {
  readonly token: string
  /** '': any key may have signed it. */
  readonly keyId: string
  readonly algorithm: string
}

export class RemoteKeys {
  readonly #url: string
  readonly #options: RemoteKeysOptions
  #keys: readonly IssuerKey[] = []
  /** Of the clock that never jumps. */
  #expiresAtMs = Number.NEGATIVE_INFINITY
  #fetchedAtMs = Number.NEGATIVE_INFINITY
  #fetching: Promise<readonly IssuerKey[]> | undefined

  constructor(url: string, options: RemoteKeysOptions) {
    this.#url = url
    this.#options = options
  }

  /** Undefined, or why the signature is not valid. */
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
    // If it fails, the next one is due after the same time: tokens are verified meanwhile.
    this.#fetchedAtMs = now
    this.#fetch().catch(() => undefined)
  }

  /** All who wait share one request. */
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

/** What the log shows of an answer that is no key set. */
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
      // A key that is invalid, too short or for another use is a TypeError or a DOMException: it
      // verifies nothing.
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

/**
 * Discovers the keys of an issuer from the URL of the issuer (OpenID Connect Discovery 1.0, section
 * 4). Retries until it succeeds, so that the server can start while an issuer is down, for example
 * an issuer that runs in the cluster itself.
 */
import { parseJson } from '../../../api/json-value.ts'
import { type Fields, isFields, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { messageOf } from '../../../lib/errors.ts'
import { sleep } from '../../../lib/time/timers.ts'
import { RemoteKeys, type RemoteKeysOptions, shown } from './remote-keys.ts'

/** Delay after a failed attempt, as in kube-apiserver. */
const RETRY_MS = 10_000

export type ProviderUrls = {
  readonly issuer: string
  /**
   * The URL of the discovery document. An empty string means the well-known path below the issuer's
   * URL.
   */
  readonly discoveryUrl: string
}

export type OidcProviderOptions = RemoteKeysOptions & {
  /** Called after each failed attempt, with the reason. */
  readonly onFault: (why: string) => void
}

export class Provider implements Disposable {
  /** The keys of the issuer, or undefined if the issuer is not discovered yet. */
  keys: RemoteKeys | undefined
  /**
   * The reason why the last attempt failed, or a message that no attempt has finished yet. Outdated
   * once `keys` is set.
   */
  fault: string
  readonly discovered: Promise<void>
  /** Resolves after the first attempt to discover the issuer, even if the attempt failed. */
  readonly tried: Promise<void>
  readonly #ended = new AbortController()

  constructor(place: ProviderUrls, options: OidcProviderOptions) {
    this.fault = `oidc: authenticator for issuer ${quote(place.issuer)} is not initialized`
    const { promise, resolve } = Promise.withResolvers<void>()
    this.tried = promise
    this.discovered = this.#discover(place, options, resolve)
    // Callers need not wait for the discovery, so its rejection must not be reported as unhandled.
    this.discovered.catch(() => undefined)
  }

  /** Retries until the issuer is discovered. Rejects only after the provider is disposed. */
  async #discover(
    place: ProviderUrls,
    options: OidcProviderOptions,
    onTried: () => void,
  ): Promise<void> {
    const { signal } = this.#ended
    for (;;) {
      try {
        const url = await findKeys(place, options)
        signal.throwIfAborted()
        this.keys = new RemoteKeys(url, options)
        return
      } catch (error) {
        signal.throwIfAborted()
        this.fault = messageOf(error)
        options.onFault(this.fault)
      } finally {
        onTried()
      }
      await sleep(options.time, RETRY_MS, signal)
    }
  }

  [Symbol.dispose](): void {
    this.#ended.abort()
  }
}

async function findKeys(
  { issuer, discoveryUrl }: ProviderUrls,
  { get }: OidcProviderOptions,
): Promise<string> {
  const wellKnown = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const { status, statusText, body } = await get(discoveryUrl === '' ? wellKnown : discoveryUrl)
  if (status !== 200) throw new Error(`${statusText}: ${shown(body)}`)
  const { issuer: named, jwks_uri: keys } = read(body)
  if (named !== issuer) {
    const what = 'issuer did not match the issuer returned by provider'
    throw new Error(`oidc: ${what}, expected ${quote(issuer)} got ${quote(textOf(named))}`)
  }
  return textOf(keys)
}

function read(body: Buffer): Fields {
  try {
    const document = parseJson(body)
    if (isFields(document)) return document
  } catch {
    // The parser's error is discarded. The error that is thrown below shows the beginning of the
    // response instead.
  }
  throw new Error(
    `oidc: failed to decode provider discovery object: expected JSON, got ${quote(shown(body))}`,
  )
}

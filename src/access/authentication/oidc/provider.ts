/**
 * OpenID Connect Discovery 1.0, section 4: from the URL of an issuer to its keys. It is tried until
 * it succeeds, so that the server starts although an issuer is down, such as one that runs in the
 * cluster itself.
 */
import { parseJson } from '../../../api/json-value.ts'
import { type Fields, isFields, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { messageOf } from '../../../lib/errors.ts'
import { sleep } from '../../../lib/time/timers.ts'
import { RemoteKeys, type RemoteKeysOptions, shown } from './remote-keys.ts'

/** As upstream. */
const RETRY_MS = 10_000

export type ProviderUrls = {
  readonly issuer: string
  /** '': the well-known path below the issuer's URL. */
  readonly discoveryUrl: string
}

export type OidcProviderOptions = RemoteKeysOptions & {
  /** Called with why the keys are not known yet, each time. */
  readonly onFault: (why: string) => void
}

export class Provider implements Disposable {
  /** Undefined: not discovered yet. */
  keys: RemoteKeys | undefined
  /** Why the issuer was not discovered the last time. */
  fault: string
  readonly discovered: Promise<void>
  /** After the first attempt. */
  readonly tried: Promise<void>
  readonly #ended = new AbortController()

  constructor(place: ProviderUrls, options: OidcProviderOptions) {
    this.fault = `oidc: authenticator for issuer ${quote(place.issuer)} is not initialized`
    const { promise, resolve } = Promise.withResolvers<void>()
    this.tried = promise
    this.discovered = this.#discover(place, options, resolve)
    // Nobody has to wait for it.
    this.discovered.catch(() => undefined)
  }

  /** Fails only after the end. */
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
    // The reason would quote the answer.
  }
  throw new Error(
    `oidc: failed to decode provider discovery object: expected JSON, got ${quote(shown(body))}`,
  )
}

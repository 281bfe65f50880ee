/**
 * Authenticates the tokens of one issuer: verifies them with the issuer's keys and maps their
 * claims to a user.
 */
import { hash } from 'node:crypto'
import { parseJson } from '../../../api/json-value.ts'
import { type Fields, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import type { User } from '../../../api/user.ts'
import type { AnswerPattern } from '../../../objects/cel/pattern-thread.ts'
import type { JwtAuthenticator } from '../../../config/files/jwt-authenticator.ts'
import { type Jwt, parseJwt } from '../../../lib/jwt.ts'
import type { Log } from '../../../lib/telemetry/log.ts'
import type { Time } from '../../../lib/time/timers.ts'
import { TokenFault } from './claim-values.ts'
import { expandClaim } from './distributed-claims.ts'
import { checkAudiences, checkUnverified, type IdTokenRules, isIssuer } from './id-token.ts'
import { IssuerClient } from './issuer-client.ts'
import { mapClaims } from './map-claims.ts'
import { Provider } from './provider.ts'

/**
 * Maximum length of the token of a distributed claim. A longer token is not parsed. The limit is
 * larger than the limit for bearer tokens, because a distributed claim can list more groups than
 * fit in a header.
 */
const TOKEN_CHARACTERS_MAX = 64 * 1024
/**
 * Maximum number of issuers of distributed claims per authenticator. kube-apiserver has no limit.
 */
const CLAIM_ISSUERS_MAX = 16

export type IssuerAuthenticatorOptions = {
  readonly algorithms: readonly string[]
  readonly time: Time
  readonly log: Log
  /** Matches slow regular expressions outside the main thread. */
  readonly answer: AnswerPattern
}

/**
 * Parses the token of a distributed claim, or returns undefined if the string is not a JWT. Until
 * the signature is verified, use the claims only to find out which keys can verify it.
 */
const parseToken = (token: string): Jwt | undefined =>
  token.length > TOKEN_CHARACTERS_MAX ? undefined : parseJwt(token, parseJson)

export class IssuerAuthenticator implements Disposable {
  /** Hash of the issuer's URL, which is a label of metrics. */
  readonly issuerHash: string
  readonly #config: JwtAuthenticator
  readonly #options: IssuerAuthenticatorOptions
  readonly #client: IssuerClient
  readonly #provider: Provider
  readonly #claimProviders = new Map<string, Provider>()

  constructor(config: JwtAuthenticator, options: IssuerAuthenticatorOptions) {
    const { url, certificateAuthority } = config.issuer
    this.#config = config
    this.#options = options
    this.#client = new IssuerClient(certificateAuthority, options.time)
    this.issuerHash = `sha256:${hash('sha256', url)}`
    this.#provider = this.#discover(url, config.issuer.discoveryUrl)
  }

  /** Resolves when the issuer is discovered, so that its keys can be fetched. */
  get discovered(): Promise<void> {
    return this.#provider.discovered
  }

  /** The reason why tokens cannot be verified yet, or undefined if they can be verified. */
  get fault(): string | undefined {
    const { keys, fault } = this.#provider
    if (keys !== undefined) return undefined
    return `oidc: authenticator for issuer ${quote(this.#config.issuer.url)} is not healthy: ${fault}`
  }

  /** Whether a token says that it is from this issuer. The issuer is not verified at this point. */
  isIssuerOf({ claims }: Jwt): boolean {
    return isIssuer(textOf(claims['iss']), this.#config.issuer.url)
  }

  /** Returns the user of a token. Rejects with a TokenFault if the token is not accepted. */
  async authenticate(token: string, jwt: Jwt): Promise<User> {
    if (this.#provider.keys === undefined)
      throw new TokenFault('oidc: authenticator not initialized')
    const { url } = this.#config.issuer
    const verified = await within(
      'oidc: verify token',
      this.#verify(token, jwt, url, this.#provider),
    )
    const claims = await within('oidc: could not expand distributed claims', this.#expand(verified))
    return mapClaims(claims, this.#config, this.#options.answer)
  }

  async #verify(token: string, jwt: Jwt, issuer: string, { keys }: Provider): Promise<Fields> {
    const { algorithms, time } = this.#options
    const rules: IdTokenRules = { issuer, audiences: this.#config.issuer.audiences, algorithms }
    checkUnverified(jwt, rules, time.wallMs())
    const { keyId, algorithm } = jwt
    const why = jwt.hasCritical
      ? 'failed to verify id token signature'
      : await keys?.verify({ token, keyId, algorithm })
    if (why !== undefined) throw new TokenFault(`failed to verify signature: ${why}`)
    checkAudiences(jwt, rules)
    return jwt.claims
  }

  async #expand(claims: Fields): Promise<Fields> {
    const { groups } = this.#config
    if (groups?.kind !== 'claim') return claims
    const verify = (token: string): Promise<Fields> => this.#verifyClaim(token)
    return expandClaim(claims, groups.claim, { get: this.#client.get, verify })
  }

  /** Verifies the token of a distributed claim, which may have a different issuer. */
  async #verifyClaim(token: string): Promise<Fields> {
    const jwt = parseToken(token)
    if (jwt === undefined) throw new TokenFault('getting untrusted issuer failed: malformed token')
    const issuer = textOf(jwt.claims['iss'])
    const provider = this.#claimProviders.get(issuer) ?? this.#discoverClaims(issuer)
    await provider.tried
    if (provider.keys === undefined) {
      const why = `verifier not initialized for issuer: ${quote(issuer)}`
      throw new TokenFault(`verifying untrusted issuer ${issuer} failed: ${why}`)
    }
    return within('verify distributed claim token', this.#verify(token, jwt, issuer, provider))
  }

  #discoverClaims(issuer: string): Provider {
    const [oldest] = this.#claimProviders
    if (oldest !== undefined && this.#claimProviders.size >= CLAIM_ISSUERS_MAX) {
      oldest[1][Symbol.dispose]()
      this.#claimProviders.delete(oldest[0])
    }
    const provider = this.#discover(issuer, '')
    this.#claimProviders.set(issuer, provider)
    return provider
  }

  #discover(issuer: string, discoveryUrl: string): Provider {
    const { time, log } = this.#options
    const onFault = (error: string): void =>
      log('error', 'oidc authenticator: initializing plugin', { issuer, error })
    return new Provider({ issuer, discoveryUrl }, { get: this.#client.get, time, onFault })
  }

  [Symbol.dispose](): void {
    for (const provider of [this.#provider, ...this.#claimProviders.values()])
      provider[Symbol.dispose]()
    this.#client[Symbol.dispose]()
  }
}

/** Prefixes the message of a TokenFault with the step that failed. */
async function within<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof TokenFault)) throw error
    throw new TokenFault(`${what}: ${error.message}`)
  }
}

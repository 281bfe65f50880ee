/**
 * JWT authenticators, which are configured by --oidc-* flags or by the file of
 * --authentication-config. A token is verified only by the authenticator of its issuer. When the
 * file changes, the new authenticators replace the old ones together, as soon as all of their
 * issuers are discovered.
 */
import type { JwtAuthenticator } from '../../../config/files/jwt-authenticator.ts'
import type { MaybePromise } from '../../../lib/concurrency/maybe-promise.ts'
import type { Histogram, Metrics } from '../../../lib/telemetry/metrics.ts'
import { withTimeout, type Timer } from '../../../lib/time/timers.ts'
import type { ParseToken } from '../parse-token.ts'
import { badToken, type TokenResult, unknownToken } from '../token-authenticator.ts'
import { TokenFault } from './claim-values.ts'
import { IssuerAuthenticator, type IssuerAuthenticatorOptions } from './issuer-authenticator.ts'

/** Time limit for new authenticators to become ready, as in kube-apiserver. */
const REPLACE_MS_MAX = 60_000
/** How long a replaced authenticator may continue to verify tokens, as in kube-apiserver. */
const REPLACED_MS = 60_000

const latencyBuckets: readonly number[] = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

export type JwtAuthenticatorsOptions = IssuerAuthenticatorOptions & {
  readonly metrics: Metrics
  readonly parse: ParseToken
}

export class JwtAuthenticators implements Disposable {
  readonly #options: IssuerAuthenticatorOptions
  readonly #latency: Histogram
  readonly #parse: ParseToken
  /**
   * All authenticators that are not disposed yet: current ones, replaced ones, and new ones that
   * are not in use yet.
   */
  readonly #alive = new Set<IssuerAuthenticator>()
  readonly #endings = new Set<Timer>()
  #current: readonly IssuerAuthenticator[]

  constructor(configs: readonly JwtAuthenticator[], options: JwtAuthenticatorsOptions) {
    this.#options = options
    this.#parse = options.parse
    this.#latency = options.metrics.histogram(
      {
        name: 'apiserver_authentication_jwt_authenticator_latency_seconds',
        help: 'Duration of JWT authentication in seconds. Tokens that are found in the cache are not included.',
        labels: ['jwt_issuer_hash', 'result'],
      },
      latencyBuckets,
    )
    this.#current = this.#create(configs)
  }

  readonly authenticate = (token: string): MaybePromise<TokenResult> => {
    if (this.#current.length === 0) return unknownToken
    const jwt = this.#parse(token)
    if (jwt === undefined) return unknownToken
    const issuer = this.#current.find((authenticator) => authenticator.isIssuerOf(jwt))
    if (issuer === undefined) return unknownToken
    const startMs = this.#options.time.monotonicMs()
    const observe = (result: 'success' | 'failure'): void => {
      const seconds = (this.#options.time.monotonicMs() - startMs) / 1000
      this.#latency.with(issuer.issuerHash, result).observe(seconds)
    }
    return issuer.authenticate(token, jwt).then(
      (user): TokenResult => {
        observe('success')
        return { kind: 'known', user, audiences: [] }
      },
      (error: unknown): TokenResult => {
        observe('failure')
        if (!(error instanceof TokenFault)) throw error
        return badToken(error.message)
      },
    )
  }

  /**
   * Replaces all authenticators. If an issuer cannot be discovered in time, rejects and keeps the
   * current authenticators.
   */
  async replace(configs: readonly JwtAuthenticator[]): Promise<void> {
    const next = this.#create(configs)
    const { time } = this.#options
    const discovered = Promise.all(next.map((authenticator) => authenticator.discovered)).then(
      () => true,
    )
    if (
      !(await withTimeout(discovered, REPLACE_MS_MAX, { onTimeout: () => false, timers: time }))
    ) {
      const faults = next.flatMap(({ fault }) => fault ?? [])
      this.#end(next)
      throw new Error(faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`)
    }
    const replaced = this.#current
    this.#current = next
    const ending = time.after(REPLACED_MS, () => {
      this.#endings.delete(ending)
      this.#end(replaced)
    })
    this.#endings.add(ending)
  }

  #create(configs: readonly JwtAuthenticator[]): readonly IssuerAuthenticator[] {
    const created = configs.map((config) => new IssuerAuthenticator(config, this.#options))
    for (const authenticator of created) this.#alive.add(authenticator)
    return created
  }

  #end(authenticators: Iterable<IssuerAuthenticator>): void {
    for (const authenticator of authenticators) {
      this.#alive.delete(authenticator)
      authenticator[Symbol.dispose]()
    }
  }

  [Symbol.dispose](): void {
    for (const ending of this.#endings) ending.close()
    this.#end([...this.#alive])
  }
}

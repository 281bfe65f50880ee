/** Metrics of authentication, with the names that kube-apiserver uses. */
import type {
  Count,
  Counter,
  Distribution,
  Histogram,
  Metrics,
} from '../../lib/telemetry/metrics.ts'

const FIRST_BOUND = 0.001
/** Bucket bounds in seconds, from one millisecond to 16 seconds. */
const attemptBounds = Array.from({ length: 15 }, (_, at) => FIRST_BOUND * 2 ** at)
/** The default buckets of Prometheus client libraries. */
const requestBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const HOUR = 3600
const DAY = 24 * HOUR
const lifetimeBounds = [
  0,
  HOUR / 2,
  HOUR,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  4 * DAY,
  7 * DAY,
  30 * DAY,
  90 * DAY,
  180 * DAY,
  360 * DAY,
]

/**
 * Result of authenticating a request. `failure` means that the request has no credentials and must
 * not be anonymous. `error` means that a credential is invalid or that an authenticator failed.
 */
type Result = 'success' | 'failure' | 'error'

type Series = { readonly attempts: Count; readonly seconds: Distribution }

export class AuthenticationMetrics {
  readonly cache: TokenCacheMetrics
  /** Remaining lifetimes of the client certificates of requests. */
  readonly certificateSeconds: Distribution
  readonly #users: Counter
  readonly #attempts: Counter
  readonly #seconds: Histogram
  /** Number of authenticated requests, by the label value that `shownName` returns for the user. */
  readonly #ofUsers = new Map<string, Count>()
  readonly #results = new Map<Result, Series>()

  constructor(metrics: Metrics) {
    this.cache = new TokenCacheMetrics(metrics)
    this.certificateSeconds = metrics
      .histogram(
        {
          name: 'apiserver_client_certificate_expiration_seconds',
          help: 'Remaining lifetime in seconds of the client certificate that authenticated a request.',
        },
        lifetimeBounds,
      )
      .with()
    this.#users = metrics.counter({
      name: 'authenticated_user_requests',
      help: 'Number of authenticated requests, by user name.',
      labels: ['username'],
    })
    this.#attempts = metrics.counter({
      name: 'authentication_attempts',
      help: 'Number of authentication attempts, by result.',
      labels: ['result'],
    })
    this.#seconds = metrics.histogram(
      {
        name: 'authentication_duration_seconds',
        help: 'Duration of authentication in seconds, by result.',
        labels: ['result'],
      },
      attemptBounds,
    )
    this.#ofUsers.set('other', this.#users.with('other'))
  }

  succeed(userName: string, ms: number): void {
    const shown = shownName(userName)
    const known = this.#ofUsers.get(shown)
    const count = known ?? this.#users.with(shown)
    if (known === undefined) this.#ofUsers.set(shown, count)
    count.add()
    this.#end('success', ms)
  }

  refuse(result: 'failure' | 'error', ms: number): void {
    this.#end(result, ms)
  }

  #end(result: Result, ms: number): void {
    const known = this.#results.get(result)
    const series = known ?? {
      attempts: this.#attempts.with(result),
      seconds: this.#seconds.with(result),
    }
    if (known === undefined) this.#results.set(result, series)
    series.attempts.add()
    series.seconds.observe(ms / 1000)
  }
}

const shownNames: ReadonlySet<string> = new Set([
  'admin',
  'client',
  'kube_proxy',
  'kubelet',
  'system:serviceaccount:kube-system:default',
])

/**
 * Returns the label value for a user. Only a few names are shown as they are, because the number of
 * users is unbounded.
 */
const shownName = (name: string): string =>
  shownNames.has(name) ? name : name.includes('@') ? 'email_id' : 'other'

const aboutCache = (name: string, help: string) => ({
  name: `authentication_token_cache_${name}`,
  help,
  labels: ['status'],
})

/** Metrics of the token cache. */
export class TokenCacheMetrics {
  readonly #requests: Counter
  readonly #seconds: Histogram
  readonly #fetches: Counter
  readonly #waiting: Count
  readonly #fetching: Count

  constructor(metrics: Metrics) {
    this.#requests = metrics.counter(
      aboutCache(
        'request_total',
        'Number of token lookups in the cache, by whether the token was found.',
      ),
    )
    this.#seconds = metrics.histogram(
      aboutCache(
        'request_duration_seconds',
        'Time to authenticate a token in seconds, by whether it was found in the cache.',
      ),
      requestBounds,
    )
    this.#fetches = metrics.counter(
      aboutCache(
        'fetch_total',
        'Number of authentications of tokens that were not in the cache, by result.',
      ),
    )
    const active = metrics.gauge(
      aboutCache(
        'active_fetch_count',
        'Number of token authentications in flight, and of requests blocked on one.',
      ),
    )
    this.#waiting = active.with('blocked')
    this.#fetching = active.with('in_flight')
  }

  end(status: 'hit' | 'miss', ms: number): void {
    this.#requests.with(status).add()
    this.#seconds.with(status).observe(ms / 1000)
  }

  /**
   * Adds 1 when a request begins to wait for an authenticator to look up its token, and -1 when it
   * stops waiting.
   */
  wait(change: 1 | -1): void {
    this.#waiting.add(change)
  }

  /** Called when an authenticator begins to look up a token that is not in the cache. */
  begin(): void {
    this.#fetching.add()
  }

  /** Called when an authenticator has looked up a token, or has failed. */
  finish(status: 'ok' | 'error'): void {
    this.#fetching.add(-1)
    this.#fetches.with(status).add()
  }
}

/** Metrics of calls to an external signer, as in kube-apiserver. */
import { GrpcError } from '../../../net/grpc/errors.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import type { Counter, Gauge, Histogram, Metrics } from '../../../lib/telemetry/metrics.ts'

const durationBuckets: readonly number[] = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]

const name = (last: string): string => `apiserver_externaljwt_${last}`

export class SignerMetrics {
  readonly #clock: Clock
  readonly #fetchedAt: Gauge
  readonly #dataAt: Gauge
  readonly #fetches: Counter
  readonly #signs: Counter
  readonly #durations: Histogram

  constructor(metrics: Metrics, clock: Clock) {
    this.#clock = clock
    this.#fetchedAt = metrics.gauge({
      name: name('fetch_keys_success_timestamp'),
      help: 'Unix time of the last successful FetchKeys call to the external signer.',
    })
    this.#dataAt = metrics.gauge({
      name: name('fetch_keys_data_timestamp'),
      help: 'Unix time in the field data_timestamp of the last successful FetchKeys response of the external signer.',
    })
    this.#fetches = metrics.counter({
      name: name('fetch_keys_request_total'),
      help: 'Number of attempts to fetch the public keys from the external signer, by code.',
      labels: ['code'],
    })
    this.#signs = metrics.counter({
      name: name('sign_request_total'),
      help: 'Number of attempts to sign a token with the external signer, by code.',
      labels: ['code'],
    })
    this.#durations = metrics.histogram(
      {
        name: name('request_duration_seconds'),
        help: 'Duration of calls to the external signer in seconds, by code and method.',
        labels: ['code', 'method'],
      },
      durationBuckets,
    )
  }

  async countFetch<T>(work: Promise<T>): Promise<T> {
    const result = await counted(this.#fetches, work)
    this.#fetchedAt.with().value = this.#clock.wallMs() / 1000
    return result
  }

  countSign<T>(work: Promise<T>): Promise<T> {
    return counted(this.#signs, work)
  }

  dataTimestamp(seconds: number): void {
    this.#dataAt.with().value = seconds
  }

  async measure<T>(method: string, work: Promise<T>): Promise<T> {
    const startMs = this.#clock.monotonicMs()
    const observe = (code: string): void =>
      this.#durations.with(code, method).observe((this.#clock.monotonicMs() - startMs) / 1000)
    try {
      const result = await work
      observe('OK')
      return result
    } catch (error) {
      observe(codeOf(error))
      throw error
    }
  }
}

async function counted<T>(counter: Counter, work: Promise<T>): Promise<T> {
  try {
    const result = await work
    counter.with('OK').add()
    return result
  } catch (error) {
    counter.with(codeOf(error)).add()
    throw error
  }
}

/** Returns the gRPC status code of an error or of its cause. */
function codeOf(error: unknown): string {
  if (error instanceof GrpcError) return error.code
  return error instanceof Error && error.cause instanceof GrpcError
    ? error.cause.code
    : 'unknown-non-grpc'
}

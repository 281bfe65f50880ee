/**
 * The metrics of encryption with KMS plugins, as in kube-apiserver. Key IDs are exposed only as
 * hashes.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../../lib/time/clock.ts'
import type { Counter, Gauge, Histogram, Metrics } from '../../../lib/telemetry/metrics.ts'

const name = (last: string): string => `apiserver_envelope_encryption_${last}`

const powersOfTwo = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => first * 2 ** at)

export type Transformation = 'from_storage' | 'to_storage'

/** Returns `sha256:` followed by the digest, or an empty string for an empty text. */
export const hashOf = (text: string): string =>
  text === '' ? '' : `sha256:${createHash('sha256').update(text).digest('hex')}`

/**
 * Records a use of a key ID. Callers that use a key ID often store this function, so that each call
 * needs no lookup.
 */
export type KeyIdUse = () => void

export class KmsMetrics {
  readonly #clock: Clock
  readonly #serverHash: string
  readonly #calls: Histogram
  readonly #keyIds: Counter
  readonly #keyIdsAt: Gauge
  readonly #statusAt: Gauge
  readonly #invalid: Counter
  readonly #sources: Gauge
  readonly #misses: Counter
  readonly #generated: Histogram
  readonly #fill: Gauge

  constructor(metrics: Metrics, serverId: string, clock: Clock) {
    this.#clock = clock
    this.#serverHash = hashOf(serverId)
    const keyIdLabels = ['apiserver_id_hash', 'key_id_hash', 'provider_name', 'transformation_type']
    this.#calls = metrics.histogram(
      {
        name: name('kms_operations_latency_seconds'),
        help: 'Duration of calls to KMS plugins in seconds, by method and gRPC status code.',
        labels: ['grpc_status_code', 'method_name', 'provider_name'],
      },
      powersOfTwo(0.0001, 20),
    )
    this.#keyIds = metrics.counter({
      name: name('key_id_hash_total'),
      help: 'Number of times that a key ID was used, by transformation type, provider and API server.',
      labels: keyIdLabels,
    })
    this.#keyIdsAt = metrics.gauge({
      name: name('key_id_hash_last_timestamp_seconds'),
      help: 'Unix time at which a key ID was last used.',
      labels: keyIdLabels,
    })
    this.#statusAt = metrics.gauge({
      name: name('key_id_hash_status_last_timestamp_seconds'),
      help: 'Unix time at which a Status call last returned a key ID.',
      labels: ['apiserver_id_hash', 'key_id_hash', 'provider_name'],
    })
    this.#invalid = metrics.counter({
      name: name('invalid_key_id_from_status_total'),
      help: 'Number of invalid key IDs that Status calls returned, by error.',
      labels: ['error', 'provider_name'],
    })
    this.#sources = metrics.gauge({
      name: name('dek_source_cache_size'),
      help: 'Number of cached seeds of data encryption keys (DEKs). After a restart, the server makes about this many Decrypt calls to the KMS plugin.',
      labels: ['provider_name'],
    })
    this.#fill = metrics.gauge({
      name: name('dek_cache_fill_percent'),
      help: 'Fraction (0 to 1) of the cache for data encryption keys (DEKs) that is in use.',
    })
    this.#misses = metrics.counter({
      name: 'apiserver_storage_envelope_transformation_cache_misses_total',
      help: 'Number of data encryption keys (DEKs) that were not in the cache when they were needed.',
    })
    this.#generated = metrics.histogram(
      {
        name: 'apiserver_storage_data_key_generation_duration_seconds',
        help: 'Duration of generating data encryption keys (DEKs) in seconds.',
      },
      powersOfTwo(5e-6, 14),
    )
  }

  measureCall(provider: string, path: string): (code: string) => void {
    const startMs = this.#clock.monotonicMs()
    return (code) =>
      this.#calls.with(code, path, provider).observe((this.#clock.monotonicMs() - startMs) / 1000)
  }

  keyIdUse(provider: string, keyId: string, type: Transformation): KeyIdUse {
    const labels = [this.#serverHash, hashOf(keyId), provider, type]
    const [count, at] = [this.#keyIds.with(...labels), this.#keyIdsAt.with(...labels)]
    return () => {
      count.add()
      at.value = Math.floor(this.#clock.wallMs() / 1000)
    }
  }

  recordKeyId(provider: string, keyId: string): void {
    this.#statusAt.with(this.#serverHash, hashOf(keyId), provider).value = Math.floor(
      this.#clock.wallMs() / 1000,
    )
  }

  recordInvalidKeyId(provider: string, error: 'empty' | 'too_long'): void {
    this.#invalid.with(error, provider).add()
  }

  sourcesKept(provider: string, count: number): void {
    this.#sources.with(provider).value = count
  }

  /** Sets how full the key cache is, as a number from 0 to 1. */
  keysKept(share: number): void {
    this.#fill.with().value = share
  }

  missed(): void {
    this.#misses.with().add()
  }

  generated(ms: number): void {
    this.#generated.with().observe(ms / 1000)
  }
}

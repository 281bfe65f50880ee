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
        help: 'KMS operation duration with gRPC error code status total.',
        labels: ['grpc_status_code', 'method_name', 'provider_name'],
      },
      powersOfTwo(0.0001, 20),
    )
    this.#keyIds = metrics.counter({
      name: name('key_id_hash_total'),
      help: 'Number of times a keyID is used split by transformation type, provider, and apiserver identity.',
      labels: keyIdLabels,
    })
    this.#keyIdsAt = metrics.gauge({
      name: name('key_id_hash_last_timestamp_seconds'),
      help: 'The last time in seconds when a keyID was used.',
      labels: keyIdLabels,
    })
    this.#statusAt = metrics.gauge({
      name: name('key_id_hash_status_last_timestamp_seconds'),
      help: 'The last time in seconds when a keyID was returned by the Status RPC call.',
      labels: ['apiserver_id_hash', 'key_id_hash', 'provider_name'],
    })
    this.#invalid = metrics.counter({
      name: name('invalid_key_id_from_status_total'),
      help: 'Number of times an invalid keyID is returned by the Status RPC call split by error.',
      labels: ['error', 'provider_name'],
    })
    this.#sources = metrics.gauge({
      name: name('dek_source_cache_size'),
      help: 'Number of records in data encryption key (DEK) source cache. On a restart, this value is an approximation of the number of decrypt RPC calls the server will make to the KMS plugin.',
      labels: ['provider_name'],
    })
    this.#fill = metrics.gauge({
      name: name('dek_cache_fill_percent'),
      help: 'Percent of the cache slots currently occupied by cached DEKs.',
    })
    this.#misses = metrics.counter({
      name: 'apiserver_storage_envelope_transformation_cache_misses_total',
      help: 'Total number of cache misses while accessing key decryption key(KEK).',
    })
    this.#generated = metrics.histogram(
      {
        name: 'apiserver_storage_data_key_generation_duration_seconds',
        help: 'Latencies in seconds of data encryption key(DEK) generation operations.',
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

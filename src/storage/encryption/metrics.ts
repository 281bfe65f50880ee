/** The metrics of encryption at rest, as in kube-apiserver: counts and durations by provider. */
import type { Clock } from '../../lib/time/clock.ts'
import type {
  Count,
  Counter,
  Distribution,
  Histogram,
  Metrics,
} from '../../lib/telemetry/metrics.ts'

export type Transformation = 'from_storage' | 'to_storage'

const durationBuckets: readonly number[] = Array.from({ length: 25 }, (_, at) => 5e-6 * 2 ** at)

/** Measures the transformations of one resource. Providers are identified by their prefix. */
export type TransformationMeter = {
  readonly nowMs: () => number
  /**
   * Returns the function that counts one kind of transformation. Callers store the function,
   * because there may be thousands of values.
   */
  readonly of: (type: Transformation, prefix: string) => CountTransformation
}

export type CountTransformation = (ms: number, isOk: boolean) => void

export class TransformationMetrics {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #operations: Counter
  readonly #durations: Histogram

  constructor(metrics: Metrics, clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
    this.#operations = metrics.counter({
      name: 'apiserver_storage_transformation_operations_total',
      help: 'Number of encryptions (to_storage) and decryptions (from_storage) of stored values. The status is OK for a success, and otherwise describes the failure.',
      labels: ['resource', 'status', 'transformation_type', 'transformer_prefix'],
    })
    this.#durations = metrics.histogram(
      {
        name: 'apiserver_storage_transformation_duration_seconds',
        help: 'Duration of encrypting (to_storage) and decrypting (from_storage) stored values in seconds.',
        labels: ['transformation_type', 'transformer_prefix'],
      },
      durationBuckets,
    )
  }

  /** `resource` has the form `secrets` or `deployments.apps`. */
  meterOf(resource: string): TransformationMeter {
    return {
      nowMs: this.#clock.monotonicMs,
      of: (type, prefix) => {
        // Each series is created on its first use, so that no series is exposed for transformations
        // that have not happened.
        let ok: Count | undefined
        let duration: Distribution | undefined
        return (ms, isOk) => {
          if (isOk) (ok ??= this.#operations.with(resource, 'OK', type, prefix)).add()
          else this.#operations.with(resource, 'Unknown', type, prefix).add()
          duration ??= this.#durations.with(type, prefix)
          duration.observe(ms / 1000)
        }
      },
    }
  }
}

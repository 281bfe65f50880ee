/** Metrics of admission webhooks, by the name of the webhook. */
import type { Counter, Histogram, Metrics } from '../../lib/telemetry/metrics.ts'
import { allOperations } from '../handled-operations.ts'

/** Bucket bounds in seconds, as in kube-apiserver. */
const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25]
/**
 * Largest status code that has its own series. Webhooks can return any number. As in
 * kube-apiserver, larger numbers are counted as this code.
 */
const CODE_MAX = 600
const rejections: readonly Rejection[] = [
  'calling_webhook_error',
  'no_error',
  'apiserver_internal_error',
]

export type WebhookType = 'admit' | 'validating'

/** Reason why a request was rejected. */
export type Rejection = 'calling_webhook_error' | 'no_error' | 'apiserver_internal_error'

export type WebhookCall = {
  readonly name: string
  readonly type: WebhookType
  readonly operation: string
  /**
   * Status code of the webhook's response or of the error. 200 means success, and 0 means that the
   * server itself failed.
   */
  readonly code: number
  readonly rejection: Rejection | undefined
  readonly seconds: number
}

export class WebhookMetrics {
  readonly #calls: Counter
  readonly #seconds: Histogram
  readonly #rejections: Counter
  readonly #failOpen: Counter
  /** Status codes for which series exist. */
  readonly #codes = new Set<string>()

  constructor(metrics: Metrics) {
    this.#calls = metrics.counter({
      name: 'apiserver_admission_webhook_request_total',
      help: 'Number of requests to admission webhooks.',
      labels: ['code', 'name', 'operation', 'rejected', 'type'],
    })
    this.#seconds = metrics.histogram(
      {
        name: 'apiserver_admission_webhook_admission_duration_seconds',
        help: 'Duration of requests to admission webhooks in seconds.',
        stability: 'STABLE',
        labels: ['name', 'operation', 'rejected', 'type'],
      },
      bounds,
    )
    this.#rejections = metrics.counter({
      name: 'apiserver_admission_webhook_rejection_count',
      help: 'Number of requests that were rejected because of an admission webhook.',
      labels: ['error_type', 'name', 'operation', 'rejection_code', 'type'],
    })
    this.#failOpen = metrics.counter({
      name: 'apiserver_admission_webhook_fail_open_count',
      help: 'Number of requests that continued although an admission webhook could not be called.',
      labels: ['name', 'type'],
    })
  }

  count({ name, type, operation, code, rejection, seconds }: WebhookCall): void {
    const rejected = `${rejection !== undefined}`
    const shown = `${Math.min(code, CODE_MAX)}`
    this.#codes.add(shown)
    this.#calls.with(shown, name, operation, rejected, type).add()
    this.#seconds.with(name, operation, rejected, type).observe(seconds)
    if (rejection !== undefined)
      this.#rejections.with(rejection, name, operation, shown, type).add()
  }

  countFailOpen(name: string, type: WebhookType): void {
    this.#failOpen.with(name, type).add()
  }

  /**
   * Removes the series of a webhook. Called when the last configuration of this type that contained
   * the webhook was changed or deleted.
   */
  forget(name: string, type: WebhookType): void {
    this.#failOpen.remove(name, type)
    for (const operation of allOperations) {
      for (const rejected of ['true', 'false']) {
        this.#seconds.remove(name, operation, rejected, type)
        for (const code of this.#codes) this.#calls.remove(code, name, operation, rejected, type)
      }
      for (const rejection of rejections) {
        for (const code of this.#codes)
          this.#rejections.remove(rejection, name, operation, code, type)
      }
    }
  }
}

/**
 * Sends events to a webhook as an EventList. Every failed call is retried, because almost all
 * failures are temporary.
 */
import type { AuditWebhook } from '../../config/audit.ts'
import { messageOf } from '../../lib/errors.ts'
import { withTimeout, type Timers } from '../../lib/time/timers.ts'
import type { KubeconfigClient } from '../../net/outbound/kubeconfig-client.ts'
import { retry, webhookBackoff } from '../../net/outbound/retry.ts'
import type { EventSink } from './backend.ts'
import type { AuditEvent } from './event.ts'
import type { ReportLost } from './lost.ts'

export type WebhookSinkOptions = Pick<AuditWebhook, 'initialBackoffMs'> & {
  readonly timers: Pick<Timers, 'after'>
  readonly random: () => number
  readonly reportLost: ReportLost
  /** Maximum size of all events that are being sent. Further events are lost. */
  readonly charactersMax: number
}

type Client = Pick<KubeconfigClient, 'deliver' | typeof Symbol.dispose>

export class WebhookSink implements EventSink {
  /** Calls are concurrent and can be retried, so events can be stored out of order. */
  readonly isOrdered = false
  readonly #client: Client
  readonly #options: WebhookSinkOptions
  readonly #stopping = new AbortController()
  readonly #sending = new Set<Promise<boolean>>()
  /** Size of the events that are being sent. */
  #characters = 0
  #isClosed = false

  constructor(client: Client, options: WebhookSinkOptions) {
    this.#client = client
    this.#options = options
  }

  store(events: readonly AuditEvent[]): Promise<boolean> {
    const { charactersMax, reportLost } = this.#options
    if (this.#isClosed || this.#characters > charactersMax) {
      const slow = 'the webhook is too slow: too many events are being sent'
      reportLost('webhook', events, this.#isClosed ? 'audit backend shut down' : slow)
      return Promise.resolve(false)
    }
    const items = events.map(withoutHead)
    const characters = items.reduce((sum, { length }) => sum + length, 0)
    this.#characters += characters
    const sending = this.#send(events, items).finally(() => {
      this.#sending.delete(sending)
      this.#characters -= characters
    })
    this.#sending.add(sending)
    return sending
  }

  /**
   * Waits for events that are being sent. When the given time has passed, the remaining events are
   * lost.
   */
  async close(waitMsMax: number): Promise<void> {
    this.#isClosed = true
    const sent = Promise.all(this.#sending)
    await withTimeout(sent, waitMsMax, { onTimeout: () => [], timers: this.#options.timers })
    this.#stopping.abort()
    await sent
    this.#client[Symbol.dispose]()
  }

  async #send(events: readonly AuditEvent[], items: readonly string[]): Promise<boolean> {
    const { initialBackoffMs, timers, random, reportLost } = this.#options
    const list = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${items.join(',')}]}`
    const { signal } = this.#stopping
    const backoff = webhookBackoff(initialBackoffMs)
    try {
      await retry(() => this.#client.deliver(list, signal), {
        backoff,
        shouldRetry: always,
        timers,
        random,
        signal,
      })
      return true
    } catch (error) {
      reportLost('webhook', events, messageOf(error))
      return false
    }
  }
}

/**
 * Beginning of the JSON of an event. It is removed, because the events in an EventList have no kind
 * and no apiVersion.
 */
const head = '{"kind":"Event","apiVersion":"audit.k8s.io/v1",'
const withoutHead = ({ json }: AuditEvent): string =>
  json.startsWith(head) ? `{${json.slice(head.length)}` : json

const always = (): boolean => true

/** One webhook of a configuration, as requests need it. */
import { type Fields, fieldsOf, itemsOf, numberOf, textOf, textsOf } from '../../api/object.ts'
import { Webhook, type WebhookClientOptions } from '../../net/outbound/call.ts'
import { Conditions } from './conditions.ts'
import { type MatchCriteria, readWebhookCriteria } from '../match/criteria.ts'

/** Upstream's default. */
const TIMEOUT_SECONDS = 10

/**
 * Limit of one answer, which is decoded in one turn of the event loop. A patch that writes the
 * largest object anew that etcd takes, 1.5 MB, has 2 MB in base64.
 */
const ANSWER_BYTES_MAX = 4 << 20

export type ReviewVersion = 'v1' | 'v1beta1'

export type AdmissionWebhook = {
  /** Unique among all webhooks of its type. */
  readonly id: string
  readonly configuration: string
  readonly name: string
  readonly criteria: MatchCriteria
  readonly conditions: Conditions
  /** failurePolicy Ignore: a request goes on where the webhook cannot be called. */
  readonly failsOpen: boolean
  readonly timeoutMs: number
  readonly supportsDryRun: boolean
  /** The first version of AdmissionReview that both sides know; undefined: none. */
  readonly reviewVersion: ReviewVersion | undefined
  /** reinvocationPolicy IfNeeded. */
  readonly isReinvoked: boolean
  /** Created with the first call. Fails if the client configuration cannot be used. */
  readonly client: () => Pick<Webhook, 'post'>
  /**
   * Whether a configuration has a webhook of this name: a call may outlast it, and nobody would
   * remove the series of what is counted then.
   */
  readonly isListed: () => boolean
  /** Closes connections that are not in use; calls that are under way go on. */
  readonly close: () => void
}

export const readWebhooks = (
  configuration: string,
  object: Fields,
  options: WebhookClientOptions,
  isListed: (name: string) => boolean = () => true,
): readonly AdmissionWebhook[] =>
  itemsOf(object['webhooks']).map((webhook, at) =>
    readWebhook(webhook, { configuration, at, options, isListed }),
  )

type WebhookContext = {
  readonly configuration: string
  readonly at: number
  readonly options: WebhookClientOptions
  readonly isListed: (name: string) => boolean
}

function readWebhook(
  webhook: Fields,
  { configuration, at, options, isListed }: WebhookContext,
): AdmissionWebhook {
  const name = textOf(webhook['name'])
  const timeoutMs = (numberOf(webhook['timeoutSeconds']) || TIMEOUT_SECONDS) * 1000
  const versions = textsOf(webhook['admissionReviewVersions'])
  let client: Webhook | undefined
  return {
    id: `${configuration}/${name}/${at}`,
    configuration,
    name,
    criteria: readWebhookCriteria(webhook),
    conditions: new Conditions(
      itemsOf(webhook['matchConditions']).map(({ expression }) => textOf(expression)),
    ),
    failsOpen: webhook['failurePolicy'] === 'Ignore',
    timeoutMs,
    supportsDryRun: webhook['sideEffects'] === 'None' || webhook['sideEffects'] === 'NoneOnDryRun',
    reviewVersion: versions.find((one) => one === 'v1' || one === 'v1beta1'),
    isReinvoked: webhook['reinvocationPolicy'] === 'IfNeeded',
    client: () =>
      (client ??= new Webhook(fieldsOf(webhook['clientConfig']), timeoutMs, {
        ...options,
        answerBytesMax: ANSWER_BYTES_MAX,
      })),
    isListed: () => isListed(name),
    close: () => client?.close(),
  }
}

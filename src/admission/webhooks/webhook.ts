/** One webhook of a configuration, reduced to the fields that the evaluation of requests needs. */
import { type Fields, fieldsOf, itemsOf, numberOf, textOf, textsOf } from '../../api/object.ts'
import { Webhook, type WebhookClientOptions } from '../../net/outbound/call.ts'
import { Conditions } from './conditions.ts'
import { type MatchCriteria, readWebhookCriteria } from '../match/criteria.ts'

/** Default timeout, as in kube-apiserver. */
const TIMEOUT_SECONDS = 10

/**
 * Maximum size of a response, which is decoded in one tick of the event loop. A patch that replaces
 * the largest object that etcd accepts, 1.5 MB, takes 2 MB in base64.
 */
const ANSWER_BYTES_MAX = 4 << 20

export type ReviewVersion = 'v1' | 'v1beta1'

export type AdmissionWebhook = {
  /** ID that is unique among all webhooks of its type. */
  readonly id: string
  readonly configuration: string
  readonly name: string
  readonly criteria: MatchCriteria
  readonly conditions: Conditions
  /** Whether failurePolicy is Ignore: whether requests continue if the webhook cannot be called. */
  readonly failsOpen: boolean
  readonly timeoutMs: number
  readonly supportsDryRun: boolean
  /**
   * The first AdmissionReview version in the configuration of the webhook that this server
   * supports. Undefined if there is no such version.
   */
  readonly reviewVersion: ReviewVersion | undefined
  /** Whether reinvocationPolicy is IfNeeded. */
  readonly isReinvoked: boolean
  /**
   * Returns the client that calls the webhook. The client is created on the first call. Fails if
   * the client configuration is not usable.
   */
  readonly client: () => Pick<Webhook, 'post'>
  /**
   * Returns whether a configuration still contains a webhook with this name. A webhook can be
   * removed while it is called. Its metrics must not be recorded afterward, because nothing would
   * remove them.
   */
  readonly isListed: () => boolean
  /** Closes idle connections. Calls in flight continue. */
  readonly close: () => void
}

/**
 * Options of the clients that call webhooks. `release` is the minor version of Kubernetes that the
 * server implements.
 */
type ReadOptions = WebhookClientOptions & { readonly release: number }

export const readWebhooks = (
  configuration: string,
  object: Fields,
  options: ReadOptions,
  isListed: (name: string) => boolean = () => true,
): readonly AdmissionWebhook[] =>
  itemsOf(object['webhooks']).map((webhook, at) =>
    readWebhook(webhook, { configuration, at, options, isListed }),
  )

type WebhookContext = {
  readonly configuration: string
  readonly at: number
  readonly options: ReadOptions
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
      options.release,
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

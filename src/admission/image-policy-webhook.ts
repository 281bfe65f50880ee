/**
 * Asks a webhook whether the images of a pod may be used (imagepolicy.k8s.io/v1alpha1), and
 * caches the responses for a while. If the webhook cannot be called, `defaultAllow` decides. If a
 * call fails because of a limit of this server, the pod is always rejected.
 */
import { hash } from 'node:crypto'
import { type ApiError, passedOn, tooManyRequests } from '../api/errors.ts'
import { checkQualifiedName } from '../api/names.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject, textOf } from '../api/object.ts'
import type { ImagePolicyWebhook } from '../config/files/image-policy-webhook.ts'
import { TtlCache } from '../lib/cache/ttl-cache.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { Time } from '../lib/time/timers.ts'
import { CallError } from '../net/outbound/call-error.ts'
import type { KubeconfigClient } from '../net/outbound/kubeconfig-client.ts'
import { retry, webhookBackoff } from '../net/outbound/retry.ts'
import { type Attributes, type Plugin, refusal, targetOf } from './admission.ts'
import { type ImageReviewStatus, printImageReview, readImageReview } from './image-review.ts'

/** Maximum number of cached responses, as in kube-apiserver. */
const ANSWERS_MAX = 1024
/**
 * Maximum total length of the cached responses, in characters. The reasons and annotations in one
 * response can have 1 MB.
 */
const ANSWERS_CHARACTERS_MAX = 16 << 20
/** Timeout of each call, as in kube-apiserver. */
export const IMAGE_REVIEW_MS_MAX = 30_000
/**
 * Retry-After of the 429 error when too many calls are in flight, as for other requests rejected
 * with 429.
 */
const RETRY_SECONDS = 1

/** Prefix of audit annotations. */
const prefix = 'imagepolicywebhook.image-policy.k8s.io/'

export type ImagePolicyOptions = {
  readonly configuration: Omit<ImagePolicyWebhook, 'kubeconfig'>
  /** Minor version of Kubernetes that this server implements. */
  readonly release: number
  readonly client: Pick<KubeconfigClient, 'post'>
  readonly time: Time
  readonly random: () => number
  readonly log: Log
}

export function createImagePolicyWebhook(options: ImagePolicyOptions): Plugin {
  const { configuration, time } = options
  const answers = new TtlCache<ImageReviewStatus>(
    { sizeMax: ANSWERS_MAX, weightMax: ANSWERS_CHARACTERS_MAX },
    time,
  )
  const ask = async (
    attributes: Attributes,
    body: string,
    key: string,
  ): Promise<ImageReviewStatus | undefined> => {
    try {
      const status = await call(options, body, attributes.context.signal)
      const ttlMs = status.isAllowed ? configuration.allowTtlMs : configuration.denyTtlMs
      answers.set(key, status, { ttlMs, weight: status.length })
      return status
    } catch (error) {
      failOpen(options, attributes, error)
      return undefined
    }
  }
  return {
    name: 'ImagePolicyWebhook',
    resources: new Set(['pods']),
    validate: async (attributes) => {
      const { object, context } = attributes
      if (object === undefined || !isConcerned(attributes)) return
      const body = printImageReview(reviewSpecOf(attributes, object), options.release)
      const key = hash('sha256', body, 'base64')
      const status = answers.get(key) ?? (await ask(attributes, body, key))
      if (status === undefined) return
      for (const [name, value] of status.auditAnnotations) {
        if (checkQualifiedName(`${prefix}${name}`).length === 0)
          context.annotate(`${prefix}${name}`, value)
      }
      if (status.isAllowed) return
      const why =
        status.reason === ''
          ? 'one or more images rejected by webhook backend'
          : `image policy webhook backend denied one or more images: ${status.reason}`
      throw refusal(attributes, why)
    },
  }
}

async function call(
  options: ImagePolicyOptions,
  body: string,
  signal: AbortSignal,
): Promise<ImageReviewStatus> {
  const { client, configuration, time, random } = options
  const backoff = webhookBackoff(configuration.retryBackoffMs)
  const status = readImageReview(
    await retry(() => client.post(body, signal), { backoff, timers: time, random, signal }),
  )
  if ('fault' in status) throw new CallError(status.fault, 'other')
  return status
}

/**
 * Applies `defaultAllow` after a failed call of the webhook. Throws if the request must be
 * rejected. Otherwise records that the request was admitted without a review.
 */
function failOpen(
  { configuration, log }: ImagePolicyOptions,
  attributes: Attributes,
  error: unknown,
): void {
  const { context } = attributes
  if (!(error instanceof CallError)) throw error
  if (error.failure === 'busy') {
    throw tooManyRequests(
      'too many images are being reviewed, please try again later',
      RETRY_SECONDS,
    )
  }
  // A client can end its request at any time, and its images can make the response too large.
  // Neither case counts as a failure of the webhook, because otherwise a client could bypass the
  // webhook.
  const isUnknown = context.signal.aborted || error.failure === 'too-large'
  if (!configuration.defaultAllow || isUnknown) throw refusalOf(attributes, error)
  log(
    'warn',
    'could not call the image policy webhook; the pod was admitted because of defaultAllow',
    {
      error: error.message,
    },
  )
  context.annotate(`${prefix}failed-open`, 'true')
}

const FORBIDDEN = 403

/**
 * Returns the error for the client. As in kube-apiserver, a 403 from the webhook is returned
 * unchanged.
 */
function refusalOf(attributes: Attributes, { message, status }: CallError): ApiError {
  if (status !== FORBIDDEN) return refusal(attributes, message)
  const causes = [{ reason: 'UnexpectedServerResponse', message }]
  return passedOn({ code: FORBIDDEN, reason: 'Forbidden', details: { causes } }, message)
}

function isConcerned(attributes: Attributes): boolean {
  const { operation } = attributes
  if (operation !== 'CREATE' && operation !== 'UPDATE') return false
  return targetOf(attributes) === 'pods' || targetOf(attributes) === 'pods/ephemeralcontainers'
}

/**
 * Returns the spec of the review. If ephemeral containers are written, the spec lists only these,
 * because the other containers were reviewed before.
 */
function reviewSpecOf(
  { namespace, subresource }: Attributes,
  { metadata, spec }: KubeObject,
): Fields {
  const lists = subresource === '' ? ['containers', 'initContainers'] : ['ephemeralContainers']
  const images = lists.flatMap((list) =>
    itemsOf(fieldsOf(spec)[list]).map(({ image }) => textOf(image)),
  )
  const { annotations = {} } = metadata
  // Sort the annotations by key. The review is also the cache key, so equal reviews must be equal
  // strings.
  const keys = Object.keys(annotations)
    .filter((key) => key.includes('.image-policy.k8s.io/'))
    .toSorted()
  const shown = keys.map((key) => [key, annotations[key] ?? ''] as const)
  return {
    ...(images.length === 0
      ? {}
      : { containers: images.map((image) => (image === '' ? {} : { image })) }),
    ...(shown.length === 0 ? {} : { annotations: Object.fromEntries(shown) }),
    namespace,
  }
}

/** Calls a webhook, and evaluates its response. */
import {
  ApiError,
  badRequest,
  internalError,
  passedOn,
  requestTimedOut,
  tooManyRequests,
} from '../../api/errors.ts'
import { checkQualifiedName } from '../../api/names.ts'
import { textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import type { Span } from '../../api/span.ts'
import { messageOf } from '../../lib/errors.ts'
import { YamlError } from '../../objects/codec/yaml-error.ts'
import { type OwnLimit, WebhookError } from '../../net/outbound/call.ts'
import type { Attributes } from '../admission.ts'
import { hasTooManyValues } from './answer-size.ts'
import type { AdmissionWebhook } from './webhook.ts'
import type { WebhookType, Rejection } from './metrics.ts'
import type { WebhookOptions } from './webhook-options.ts'
import { printReview, type ReviewInput } from './review.ts'
import { type Response, ResponseError, readResponse } from './response.ts'

/** Retry-After when too many calls are in flight, as for other requests rejected with 429. */
const RETRY_SECONDS = 1

/**
 * Thrown if the webhook could not be called. The failurePolicy decides whether the request is
 * rejected. The message is the same as in kube-apiserver.
 */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError'
  /** The `code` label in the metric that counts the failed call. */
  readonly code: number

  constructor(
    message: string,
    { code = 400, cause }: { readonly code?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
  }
}

/**
 * Why this server did not wait for a call to finish: a limit of the server was reached, or the
 * request ended before the timeout of the call (`request`).
 */
type Cut = OwnLimit | 'request'

/**
 * Thrown if this server ended a call early. It is then unknown whether the webhook would allow the
 * request, so the failurePolicy must not admit it.
 */
class CutCallError extends WebhookCallError {
  readonly by: Cut

  constructor(message: string, { by, cause }: { readonly by: Cut; readonly cause: unknown }) {
    super(message, { cause, code: codes[by] })
    this.by = by
  }
}

const cutCall = ({ name }: AdmissionWebhook, by: Cut, why: string, cause?: unknown): CutCallError =>
  new CutCallError(`failed calling webhook ${quote(name)}: failed to call webhook: ${why}`, {
    by,
    cause,
  })

const codes: Readonly<Record<Cut, number>> = { busy: 429, answer: 500, request: 400 }

/**
 * Returns the error for the client, or undefined if the failure is ignored and the request
 * continues.
 */
export function refusalOf(
  error: WebhookCallError,
  { failsOpen }: Pick<AdmissionWebhook, 'failsOpen'>,
): ApiError | undefined {
  const by = error instanceof CutCallError ? error.by : undefined
  // The deadline of the request passed before the call timed out. The request has its own timer for
  // this deadline, and either timer can fire first. Both therefore result in the same error.
  if (by === 'request') return requestTimedOut()
  if (by === 'busy') return tooManyRequests(error.message, RETRY_SECONDS)
  return !failsOpen || by === 'answer' ? internalError(error.message, error) : undefined
}

export type Calling = {
  readonly isMutating: boolean
  readonly options: Pick<WebhookOptions, 'newId' | 'clock' | 'convertYaml' | 'metrics'>
}

/**
 * Returns the response of a webhook that allows the request. Fails with a WebhookCallError if the
 * call fails, and with an ApiError if the webhook rejects the request.
 */
export async function callWebhook(
  webhook: AdmissionWebhook,
  reviewed: ReviewInput,
  calling: Calling,
): Promise<Response> {
  const { context, isDryRun, operation } = reviewed.attributes
  const { clock, metrics } = calling.options
  const startMs = clock.monotonicMs()
  const type: WebhookType = calling.isMutating ? 'admit' : 'validating'
  const count = (code: number, rejection?: Rejection): void => {
    const ms = clock.monotonicMs() - startMs
    const { spent } = context
    if (calling.isMutating) spent.mutatingWebhooksMs += ms
    else spent.validatingWebhooksMs = Math.max(spent.validatingWebhooksMs, ms)
    if (webhook.isListed())
      metrics.count({ name: webhook.name, type, operation, code, rejection, seconds: ms / 1000 })
  }
  if (isDryRun && !webhook.supportsDryRun) {
    count(0, 'apiserver_internal_error')
    throw badRequest(`admission webhook ${quote(webhook.name)} does not support dry run`)
  }
  try {
    const response = await ask(webhook, reviewed, calling)
    for (const [key, value] of Object.entries(response.annotations)) {
      if (isAnnotationKey(`${webhook.name}/${key}`))
        context.annotate(`${webhook.name}/${key}`, textOf(value))
    }
    for (const warning of response.warnings) if (warning !== '') context.warn(warning)
    if (!response.isAllowed) throw denied(webhook, response)
    count(200)
    return response
  } catch (error) {
    if (error instanceof ApiError) count(error.code, 'no_error')
    else if (error instanceof WebhookCallError) {
      const isIgnored = refusalOf(error, webhook) === undefined
      count(error.code, isIgnored ? undefined : 'calling_webhook_error')
      if (isIgnored && webhook.isListed()) metrics.countFailOpen(webhook.name, type)
    } else count(0, 'apiserver_internal_error')
    throw error
  }
}

/**
 * Returns whether an annotation key of the form `<name of the webhook>/<key>` is a qualified name.
 * As in kube-apiserver, other annotations are dropped.
 */
const isAnnotationKey = (key: string): boolean => checkQualifiedName(key).length === 0

async function ask(
  webhook: AdmissionWebhook,
  reviewed: ReviewInput,
  { isMutating, options }: Calling,
): Promise<Response> {
  const version = webhook.reviewVersion
  if (version === undefined) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)'
    throw callError(webhook, `could not create admission objects: ${why}`)
  }
  const uid = options.newId()
  const span = spanOf(webhook, reviewed, { isMutating, uid })
  try {
    const text = await post(webhook, printReview(version, uid, reviewed), {
      ...reviewed.attributes,
      ...options,
      span,
    })
    span?.end()
    const json = await asJson(text, options)
    if (await hasTooManyValues(json))
      throw cutCall(webhook, 'answer', 'the response has too many values')
    const response = readResponse(json, { version, uid, isMutating })
    // Check the values in the patch separately, because the response contains the patch as a single
    // base64 string. The patched object has to be decoded in one tick.
    if (await hasTooManyValues(response.patch))
      throw cutCall(webhook, 'answer', 'the patch has too many values')
    return response
  } catch (error) {
    span?.end({ error: messageOf(error) })
    if (error instanceof WebhookError) {
      throw callError(webhook, `failed to call webhook: ${error.message}`, {
        cause: error,
        code: error.status ?? codeWithoutStatus(reviewed.attributes),
      })
    }
    if (error instanceof ResponseError)
      throw callError(webhook, error.message, { cause: error, code: 503 })
    throw error
  }
}

/** Returns the tracing span of a call, or undefined if the request is not traced. */
function spanOf(
  webhook: AdmissionWebhook,
  { attributes, resource }: ReviewInput,
  { isMutating, uid }: { readonly isMutating: boolean; readonly uid: string },
): Span | undefined {
  const { span } = attributes.context
  return span?.child(isMutating ? 'Call mutating webhook' : 'Call validating webhook', {
    attributes: {
      configuration: webhook.configuration,
      webhook: webhook.name,
      resource: `${resource.group}/${resource.version}, Resource=${resource.plural}`,
      subresource: attributes.subresource,
      operation: attributes.operation,
      UID: uid,
    },
  })
}

/** Sends the review. The call is aborted by its timeout, or when the request ends. */
async function post(
  webhook: AdmissionWebhook,
  review: string,
  {
    context,
    clock,
    span,
  }: Pick<Attributes, 'context'> &
    Pick<WebhookOptions, 'clock'> & { readonly span: Span | undefined },
): Promise<string> {
  const { signal, deadlineMs } = context
  const timeoutMs = Math.min(webhook.timeoutMs, Math.max(1, deadlineMs - clock.monotonicMs()))
  const limit = new AbortController()
  const abort = (): void => limit.abort()
  const timer = setTimeout(abort, timeoutMs)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await clientOf(webhook).post(review, limit.signal, { timeoutMs, span })
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error
    const isEnded = signal.aborted || (limit.signal.aborted && timeoutMs < webhook.timeoutMs)
    const by = error.limit ?? (isEnded ? 'request' : undefined)
    if (by === undefined) throw error
    throw cutCall(webhook, by, error.message, error)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

/**
 * Returns the response as JSON. As in kube-apiserver, a response that does not start like JSON is
 * parsed as YAML.
 */
async function asJson(
  text: string,
  { convertYaml }: Pick<WebhookOptions, 'convertYaml'>,
): Promise<string> {
  if (/^\s*[{[]/.test(text)) return text
  try {
    return (await convertYaml(Buffer.from(text, 'utf8'))).json.toString('utf8')
  } catch (error) {
    if (error instanceof YamlError)
      throw new ResponseError(`failed to call webhook: ${error.message}`, { cause: error })
    throw error
  }
}

function clientOf(webhook: AdmissionWebhook): ReturnType<AdmissionWebhook['client']> {
  try {
    return webhook.client()
  } catch (error) {
    const why = messageOf(error)
    throw callError(webhook, `could not get REST client: ${why}`, { cause: error })
  }
}

/** The first release that counts a call without an HTTP status as 503 instead of 400. */
const UNAVAILABLE_SINCE = 34

const codeWithoutStatus = ({ resource }: Attributes): number =>
  resource.release < UNAVAILABLE_SINCE ? 400 : 503

const callError = (
  { name }: AdmissionWebhook,
  why: string,
  options?: { readonly code?: number; readonly cause?: unknown },
): WebhookCallError =>
  new WebhookCallError(`failed calling webhook ${quote(name)}: ${why}`, options)

function denied({ name }: AdmissionWebhook, { status = {} }: Response): ApiError {
  const by = `admission webhook ${quote(name)} denied the request`
  const why = textOf(status['message']) || textOf(status['reason'])
  return passedOn(status, why === '' ? `${by} without explanation` : `${by}: ${why}`)
}

/** One call of a webhook, and what its answer means for the request. */
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
import type { Hook } from './hook.ts'
import type { HookType, Rejection } from './metrics.ts'
import type { HookParts } from './parts.ts'
import { printReview, type Reviewed } from './review.ts'
import { type Response, ResponseError, readResponse } from './response.ts'

/** As for other requests that are too many. */
const RETRY_SECONDS = 1

/** The webhook could not be asked: what follows is up to its failurePolicy. The message is upstream's. */
export class HookCallError extends Error {
  override readonly name = 'HookCallError'
  /** By which the failure is counted. */
  readonly code: number

  constructor(
    message: string,
    { code = 400, cause }: { readonly code?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
  }
}

/** `request`: it ended before the time of the call was over. */
type Cut = OwnLimit | 'request'

/** The call was not ended by the webhook: nothing is known about it, so that its failurePolicy must not open what it guards. */
class CutCallError extends HookCallError {
  readonly by: Cut

  constructor(message: string, { by, cause }: { readonly by: Cut; readonly cause: unknown }) {
    super(message, { cause, code: codes[by] })
    this.by = by
  }
}

const cutCall = ({ name }: Hook, by: Cut, why: string, cause?: unknown): CutCallError =>
  new CutCallError(`failed calling webhook ${quote(name)}: failed to call webhook: ${why}`, {
    by,
    cause,
  })

const codes: Readonly<Record<Cut, number>> = { busy: 429, answer: 500, request: 400 }

/** The error for the client; undefined: the request goes on without the webhook. */
export function refusalOf(
  error: HookCallError,
  { failsOpen }: Pick<Hook, 'failsOpen'>,
): ApiError | undefined {
  const by = error instanceof CutCallError ? error.by : undefined
  // The limit of the request itself passes at the same moment: its answer must not depend on which timer is first.
  if (by === 'request') return requestTimedOut()
  if (by === 'busy') return tooManyRequests(error.message, RETRY_SECONDS)
  return !failsOpen || by === 'answer' ? internalError(error.message, error) : undefined
}

export type Calling = {
  readonly isMutating: boolean
  readonly parts: Pick<HookParts, 'newId' | 'clock' | 'convertYaml' | 'metrics'>
}

/** The answer of a webhook that allows the request. Fails with a HookCallError, or with an ApiError if it refuses the request. */
export async function callHook(
  hook: Hook,
  reviewed: Reviewed,
  calling: Calling,
): Promise<Response> {
  const { context, isDryRun, operation } = reviewed.attributes
  const { clock, metrics } = calling.parts
  const startMs = clock.monotonicMs()
  const type: HookType = calling.isMutating ? 'admit' : 'validating'
  const count = (code: number, rejection?: Rejection): void => {
    const ms = clock.monotonicMs() - startMs
    const { spent } = context
    if (calling.isMutating) spent.mutatingWebhooksMs += ms
    else spent.validatingWebhooksMs = Math.max(spent.validatingWebhooksMs, ms)
    if (hook.isListed())
      metrics.count({ name: hook.name, type, operation, code, rejection, seconds: ms / 1000 })
  }
  if (isDryRun && !hook.supportsDryRun) {
    count(0, 'apiserver_internal_error')
    throw badRequest(`admission webhook ${quote(hook.name)} does not support dry run`)
  }
  try {
    const response = await ask(hook, reviewed, calling)
    for (const [key, value] of Object.entries(response.annotations)) {
      if (isAnnotationKey(`${hook.name}/${key}`))
        context.annotate(`${hook.name}/${key}`, textOf(value))
    }
    for (const warning of response.warnings) if (warning !== '') context.warn(warning)
    if (!response.isAllowed) throw denied(hook, response)
    count(200)
    return response
  } catch (error) {
    if (error instanceof ApiError) count(error.code, 'no_error')
    else if (error instanceof HookCallError) {
      const isIgnored = refusalOf(error, hook) === undefined
      count(error.code, isIgnored ? undefined : 'calling_webhook_error')
      if (isIgnored && hook.isListed()) metrics.countFailOpen(hook.name, type)
    } else count(0, 'apiserver_internal_error')
    throw error
  }
}

/** Upstream leaves out what is not the name of a webhook and one part of a qualified name. */
const isAnnotationKey = (key: string): boolean => checkQualifiedName(key).length === 0

async function ask(
  hook: Hook,
  reviewed: Reviewed,
  { isMutating, parts }: Calling,
): Promise<Response> {
  const version = hook.reviewVersion
  if (version === undefined) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)'
    throw callError(hook, `could not create admission objects: ${why}`)
  }
  const uid = parts.newId()
  const span = spanOf(hook, reviewed, { isMutating, uid })
  try {
    const text = await post(hook, printReview(version, uid, reviewed), {
      ...reviewed.attributes,
      ...parts,
      span,
    })
    span?.end()
    const json = await asJson(text, parts)
    if (await hasTooManyValues(json))
      throw cutCall(hook, 'answer', 'the response has too many values')
    const response = readResponse(json, { version, uid, isMutating })
    // It is base64, one value of the answer. The object that it makes is decoded in one turn, too.
    if (await hasTooManyValues(response.patch))
      throw cutCall(hook, 'answer', 'the patch has too many values')
    return response
  } catch (error) {
    span?.end({ error: messageOf(error) })
    if (error instanceof WebhookError) {
      throw callError(hook, `failed to call webhook: ${error.message}`, {
        cause: error,
        code: error.status ?? 400,
      })
    }
    if (error instanceof ResponseError)
      throw callError(hook, error.message, { cause: error, code: 503 })
    throw error
  }
}

/** Undefined: the request is not traced. */
function spanOf(
  hook: Hook,
  { attributes, resource }: Reviewed,
  { isMutating, uid }: { readonly isMutating: boolean; readonly uid: string },
): Span | undefined {
  const { span } = attributes.context
  return span?.child(isMutating ? 'Call mutating webhook' : 'Call validating webhook', {
    attributes: {
      configuration: hook.configuration,
      webhook: hook.name,
      resource: `${resource.group}/${resource.version}, Resource=${resource.plural}`,
      subresource: attributes.subresource,
      operation: attributes.operation,
      UID: uid,
    },
  })
}

/** Ends with its timeout, or with the request. */
async function post(
  hook: Hook,
  review: string,
  {
    context,
    clock,
    span,
  }: Pick<Attributes, 'context'> & Pick<HookParts, 'clock'> & { readonly span: Span | undefined },
): Promise<string> {
  const { signal, deadlineMs } = context
  const timeoutMs = Math.min(hook.timeoutMs, Math.max(1, deadlineMs - clock.monotonicMs()))
  const limit = new AbortController()
  const abort = (): void => limit.abort()
  const timer = setTimeout(abort, timeoutMs)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await clientOf(hook).post(review, limit.signal, { timeoutMs, span })
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error
    const isEnded = signal.aborted || (limit.signal.aborted && timeoutMs < hook.timeoutMs)
    const by = error.limit ?? (isEnded ? 'request' : undefined)
    if (by === undefined) throw error
    throw cutCall(hook, by, error.message, error)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

/** Upstream reads an answer that does not begin as an object of JSON as YAML. */
async function asJson(
  text: string,
  { convertYaml }: Pick<HookParts, 'convertYaml'>,
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

function clientOf(hook: Hook): ReturnType<Hook['client']> {
  try {
    return hook.client()
  } catch (error) {
    const why = messageOf(error)
    throw callError(hook, `could not get REST client: ${why}`, { cause: error })
  }
}

const callError = (
  { name }: Hook,
  why: string,
  options?: { readonly code?: number; readonly cause?: unknown },
): HookCallError => new HookCallError(`failed calling webhook ${quote(name)}: ${why}`, options)

function denied({ name }: Hook, { status = {} }: Response): ApiError {
  const by = `admission webhook ${quote(name)} denied the request`
  const why = textOf(status['message']) || textOf(status['reason'])
  return passedOn(status, why === '' ? `${by} without explanation` : `${by}: ${why}`)
}

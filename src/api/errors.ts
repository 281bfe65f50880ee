/**
 * Creates all errors that clients receive. An ApiError is sent as a Status object, and a TextError
 * as plain text. kube-apiserver sends the same errors as plain text.
 */
import { FAULTS_CHARACTERS_MAX, FAULTS_MAX, type FieldFault } from './field-fault.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type KubeObject,
  numberOf,
  textOf,
} from './object.ts'
import { cutText, QUOTED_CHARACTERS_MAX } from '../lib/text/cut-text.ts'
import { quote } from './quote.ts'

export type Reason =
  | 'AlreadyExists'
  | 'BadRequest'
  | 'Conflict'
  | 'Expired'
  | 'Forbidden'
  | 'InternalError'
  | 'Invalid'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'NotFound'
  | 'RequestEntityTooLarge'
  | 'ServerTimeout'
  | 'ServiceUnavailable'
  | 'StorageReadError'
  | 'Timeout'
  | 'TooManyRequests'
  | 'Unauthorized'
  | 'UnsupportedMediaType'

export type StatusCause = {
  readonly reason?: string
  readonly message: string
  readonly field?: string
}

export type StatusDetails = {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/**
 * Metadata of a Status. This server itself sets only `continue`, in the 410 response to an expired
 * continue token. Webhooks can also set the other fields.
 */
export type StatusMetadata = {
  readonly selfLink?: string
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** The Status object, with its fields in the order in which they are serialized. */
export type Status = {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: StatusMetadata
  readonly status: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: Reason
  readonly details?: StatusDetails
  readonly code?: number
}

type Extra = {
  readonly details?: StatusDetails
  readonly metadata?: StatusMetadata
  readonly cause?: unknown
  readonly isUntyped?: boolean
  readonly hasNosniff?: boolean
}

/**
 * Maximum length of an error message. The limit for the validation errors of one object is the
 * same. A long string is truncated before it is inserted into a message.
 */
const MESSAGE_CHARACTERS_MAX = FAULTS_CHARACTERS_MAX

export class ApiError extends Error {
  readonly code: number
  /** Reason of the Status. Absent in the few errors for which kube-apiserver sets no reason. */
  readonly reason: Reason | undefined
  readonly details: StatusDetails | undefined
  readonly metadata: StatusMetadata
  /**
   * Whether the Status is sent as JSON without kind and apiVersion, with the content type of plain
   * text, whatever the client accepts.
   */
  readonly isUntyped: boolean
  /** Whether the response has the header x-content-type-options. */
  readonly hasNosniff: boolean

  constructor(code: number, reason: Reason | undefined, message: string, extra: Extra = {}) {
    super(cutText(message, MESSAGE_CHARACTERS_MAX), { cause: extra.cause })
    this.name = 'ApiError'
    this.code = code
    this.reason = reason
    this.details = extra.details
    this.metadata = extra.metadata ?? {}
    this.isUntyped = extra.isUntyped ?? false
    this.hasNosniff = extra.hasNosniff ?? false
  }
}

export class TextError extends Error {
  readonly code: number
  /** Value of the Retry-After header in seconds. 0 omits the header. */
  readonly retryAfterSeconds: number

  constructor(
    code: number,
    text: string,
    {
      retryAfterSeconds = 0,
      cause,
    }: { readonly retryAfterSeconds?: number; readonly cause?: unknown } = {},
  ) {
    super(cutText(text, MESSAGE_CHARACTERS_MAX), { cause })
    this.name = 'TextError'
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export function toStatus(error: ApiError): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: error.metadata,
    status: 'Failure',
    message: error.message,
    ...(error.reason === undefined ? {} : { reason: error.reason }),
    ...(error.details === undefined ? {} : { details: error.details }),
    code: error.code,
  }
}

/** A resource as it appears in error messages: `deployments.apps`, or `pods` in the core group. */
export type ResourceName = { readonly group: string; readonly plural: string }
export type KindName = { readonly group: string; readonly kind: string }

const qualified = (name: string, group: string): string =>
  group === '' ? cutText(name) : `${cutText(name)}.${cutText(group)}`
const ofResource = ({ group, plural }: ResourceName): string => qualified(plural, group)

/** Returns the details of an error about an object. Empty fields are left out. */
function detailsOf({ group, plural }: ResourceName, name = ''): StatusDetails {
  return {
    ...(name === '' ? {} : { name: cutText(name) }),
    ...(group === '' ? {} : { group: cutText(group) }),
    ...(plural === '' ? {} : { kind: cutText(plural) }),
  }
}

export function notFound(resource: ResourceName, name: string): ApiError {
  return new ApiError(404, 'NotFound', `${ofResource(resource)} ${quote(name)} not found`, {
    details: detailsOf(resource, name),
  })
}

export function alreadyExists(
  resource: ResourceName,
  name: string,
  { isTerminating = false } = {},
): ApiError {
  const prefix = isTerminating ? 'object is being deleted: ' : ''
  return new ApiError(
    409,
    'AlreadyExists',
    `${prefix}${ofResource(resource)} ${quote(name)} already exists`,
    {
      details: detailsOf(resource, name),
    },
  )
}

/** Returned if every name that the server generated from a generateName was already in use. */
export function nameNotGenerated(resource: ResourceName, name: string): ApiError {
  const text = `${ofResource(resource)} ${quote(name)} already exists, the server was not able to generate a unique name for the object`
  return new ApiError(409, 'AlreadyExists', text, {
    details: { ...detailsOf(resource, name), retryAfterSeconds: 1 },
  })
}

export function conflict(resource: ResourceName, name: string, why: string): ApiError {
  const text = `Operation cannot be fulfilled on ${ofResource(resource)} ${quote(name)}: ${cutText(why)}`
  return new ApiError(409, 'Conflict', text, { details: detailsOf(resource, name) })
}

/** Returned if an apply sets fields that other managers own. */
export function applyConflict(message: string, causes: readonly StatusCause[]): ApiError {
  return new ApiError(409, 'Conflict', message, { details: { causes } })
}

export const modifiedMeanwhile =
  'the object has been modified; please apply your changes to the latest version and try again'

export function unauthorized(): ApiError {
  return new ApiError(401, 'Unauthorized', 'Unauthorized')
}

export function forbidden(resource: ResourceName, name: string, why: string): ApiError {
  const subject = ofResource(resource)
  const about =
    subject === '' ? '' : name === '' ? `${subject} is ` : `${subject} ${quote(name)} is `
  return new ApiError(403, 'Forbidden', `${about}forbidden: ${why}`, {
    details: detailsOf(resource, name),
  })
}

/**
 * Returned if a validating policy denies the request. The message says "forbidden", but the code
 * and the reason are those of the failed validation.
 */
export function deniedByPolicy(
  { message, details }: ApiError,
  reason: string,
  cause: string,
): ApiError {
  const [code, known] = policyReasons.get(reason) ?? invalidByPolicy
  return new ApiError(code, known, message, {
    details: { ...details, causes: [{ message: cause }] },
  })
}

/**
 * Returned if mutating policies fail. The message and the reason are those of the first error, and
 * the causes contain all errors. The code is always 403 (Forbidden).
 */
export function failedByPolicies({ details }: ApiError, faults: readonly PolicyFault[]): ApiError {
  const [first] = faults
  const causes = faults.map(({ message }) => ({ message }))
  return new ApiError(403, first?.reason ?? 'Forbidden', first?.message ?? '', {
    details: { ...details, causes },
  })
}

export type PolicyFault = { readonly message: string; readonly reason: 'Forbidden' | 'Invalid' }

const invalidByPolicy = [422, 'Invalid'] as const
const policyReasons: ReadonlyMap<string, readonly [number, Reason]> = new Map([
  ['Forbidden', [403, 'Forbidden']],
  ['Unauthorized', [401, 'Unauthorized']],
  ['RequestEntityTooLarge', [413, 'RequestEntityTooLarge']],
])

/** Returned for a create in a namespace that is being deleted. */
export function namespaceTerminating(
  resource: ResourceName,
  name: string,
  namespace: string,
): ApiError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  const { message, details } = forbidden(resource, name, why)
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  }
  return new ApiError(403, 'Forbidden', message, { details: { ...details, causes: [cause] } })
}

export function invalid(
  { group, kind }: KindName,
  name: string,
  all: readonly FieldFault[],
): ApiError {
  const faults = usable(all)
  const texts = [...new Set(faults.map(({ path, message }) => `${path}: ${message}`))]
  const about =
    texts.length === 0 ? '' : texts.length === 1 ? `: ${texts[0]}` : `: [${texts.join(', ')}]`
  return new ApiError(
    422,
    'Invalid',
    `${qualified(kind, group)} ${quote(name)} is invalid${about}`,
    {
      details: {
        ...detailsOf({ group, plural: kind }, name),
        ...(faults.length === 0
          ? {}
          : {
              causes: faults.map(({ path, reason, message }) => ({ reason, message, field: path })),
            }),
      },
    },
  )
}

export function refuseInvalid(
  { faultGroup, group, kind }: KindName & { readonly faultGroup?: string },
  { metadata }: KubeObject,
  faults: readonly FieldFault[],
): void {
  if (faults.length > 0)
    throw invalid({ group: faultGroup ?? group, kind }, metadata.name ?? '', faults)
}

/**
 * Maximum length of the paths and messages in a response, which contains each message twice. The
 * response is formatted in one tick of the event loop, for the client and for the audit log. A
 * longer response would not help any client.
 */
const TOLD_CHARACTERS_MAX = 256 << 10

/** Returns the first validation errors, up to the number that fits in a response. */
function usable(faults: readonly FieldFault[]): readonly FieldFault[] {
  let characters = 0
  const end = faults.findIndex(({ path, message }, at) => {
    const isBeyond = at >= FAULTS_MAX || characters > TOLD_CHARACTERS_MAX
    characters += path.length + message.length
    return isBeyond
  })
  const reported = end === -1 ? faults : faults.slice(0, end)
  return reported.some(isLong)
    ? reported.map((fault) => (isLong(fault) ? shortened(fault) : fault))
    : reported
}

const isLong = ({ path, message }: FieldFault): boolean =>
  message.length > TOLD_CHARACTERS_MAX || path.length > QUOTED_CHARACTERS_MAX

function shortened(fault: FieldFault): FieldFault {
  return {
    ...fault,
    path: cutText(fault.path),
    message: cutText(fault.message, TOLD_CHARACTERS_MAX),
  }
}

/**
 * Returned if a patch cannot be applied to the existing object. As in kube-apiserver, the message
 * does not contain the cause.
 */
export function patchRejected(cause?: unknown): ApiError {
  const text = 'the server rejected our request due to an error in our request'
  return new ApiError(422, 'Invalid', text, { details: {}, cause })
}

export function badRequest(message: string, cause?: unknown): ApiError {
  return new ApiError(400, 'BadRequest', message, { cause })
}

export function methodNotAllowed(resource: ResourceName, verb: string): ApiError {
  return new ApiError(
    405,
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind ${quote(ofResource(resource))}`,
    { details: detailsOf(resource) },
  )
}

/** The first release in which admission forbids creates while a definition is being deleted. */
export const CREATES_FORBIDDEN_SINCE = 34

/** Returned for a create of a custom resource while its definition is being deleted. */
export function crdTerminating(
  resource: ResourceName & { readonly release: number },
  name = '',
): ApiError {
  const text = 'create not allowed while custom resource definition is terminating'
  if (resource.release >= CREATES_FORBIDDEN_SINCE) return forbidden(resource, name, text)
  return new ApiError(405, 'MethodNotAllowed', text, { details: detailsOf(resource) })
}

/** Returned if the server has the API group in the path, but not the resource. */
export function noSuchResource(): ApiError {
  return new ApiError(404, 'NotFound', 'the server could not find the requested resource', {
    details: {},
  })
}

/** Returned if the path matches a resource that does not support the HTTP method. */
export function noSuchMethod(): ApiError {
  const text = 'the server does not allow this method on the requested resource'
  return new ApiError(405, 'MethodNotAllowed', text, { details: {} })
}

export function notAcceptable(accepted: readonly string[]): ApiError {
  return new ApiError(
    406,
    'NotAcceptable',
    `only the following media types are accepted: ${accepted.join(', ')}`,
  )
}

/**
 * Like `notAcceptable`, but with the message that kube-apiserver's HTTP router returns. Used for
 * endpoints for which the router checks the Accept header.
 */
export function notAcceptableHere(offered: readonly string[]): ApiError {
  const text = `406: Not Acceptable\n\nAvailable representations: ${offered.join(', ')}`
  return new ApiError(406, 'NotAcceptable', text, { details: {} })
}

/**
 * Returned if PartialObjectMetadata was requested for a list, or PartialObjectMetadataList for a
 * single object. `goType` is the Go type in kube-apiserver's message.
 */
export const isAList = (goType: string): ApiError =>
  new ApiError(
    406,
    'NotAcceptable',
    `you requested PartialObjectMetadata, but the requested object is a list (${goType})`,
  )
export const isNoList = (goType: string): ApiError =>
  new ApiError(
    406,
    'NotAcceptable',
    `you requested PartialObjectMetadataList, but the requested object is not a list (${goType})`,
  )

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  const text = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`
  return new ApiError(415, 'UnsupportedMediaType', text)
}

/** Like `unsupportedMediaType`, but with the message of kube-apiserver's router. */
export function unsupportedMediaTypeHere(): ApiError {
  return new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', { details: {} })
}

export function bodyTooLarge(bytesMax: number): ApiError {
  return new ApiError(
    413,
    'RequestEntityTooLarge',
    `Request entity too large: limit is ${bytesMax}`,
  )
}

export function tooManyOperations(max: number, given: number): ApiError {
  const text = `The allowed maximum operations in a JSON patch is ${max}, got ${given}`
  return new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: ${text}`)
}

export function tooManyMembers(max: number): ApiError {
  const text = `an object may have at most ${max} members: split it into several`
  return new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: ${text}`)
}

/** Returned if converting a YAML body to JSON exceeds the memory limit. */
export function yamlTooLarge(megabytes: number): ApiError {
  const text = `the YAML document takes more than ${megabytes} MiB to convert: send it as JSON`
  return new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: ${text}`)
}

/** Returned if a request or its object has more values than fit into the memory of this server. */
export function needsTooMuchMemory(): ApiError {
  const text = 'the request, or its object, has more values than fit into the memory of this server'
  return new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: ${text}`)
}

/** Returned if the object, with its defaults, would exceed the maximum size of a stored object. */
export function tooLargeToStore(bytesMax: number): ApiError {
  const text = `with its defaults the object would take more than the ${bytesMax} bytes that can be stored`
  return new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: ${text}`)
}

/**
 * Returned for an expired resourceVersion or continue token. `continue` is a new token with which
 * the client can continue the list.
 */
export function expired(
  message: string,
  { continue: token, cause }: { readonly continue?: string; readonly cause?: unknown } = {},
): ApiError {
  return new ApiError(410, 'Expired', message, {
    cause,
    ...(token === undefined ? {} : { metadata: { continue: token } }),
  })
}

/**
 * Returned if the requested resource version is newer than `current`, the latest one on the server.
 * If `retries` is true, the response asks the client to retry after a second.
 */
export function tooLargeResourceVersion(
  asked: number,
  current: number,
  { retries = true } = {},
): ApiError {
  return new ApiError(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${asked}, current: ${current}`,
    {
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        ...(retries ? { retryAfterSeconds: 1 } : {}),
      },
    },
  )
}

/** Returned if the deadline of the request passed while it waited for storage. */
export function deadlineExceeded(cause?: unknown): ApiError {
  const text =
    'Timeout: request did not complete within requested timeout - context deadline exceeded'
  return new ApiError(504, 'Timeout', text, { details: {}, cause })
}

/**
 * Returned if the deadline of the request passed while its handler was still running. The Status is
 * sent without kind and apiVersion: in kube-apiserver, it comes from an HTTP filter that does not
 * know the API types.
 */
export function requestTimedOut(): ApiError {
  const text = 'Timeout: request did not complete within the allotted timeout'
  return new ApiError(504, 'Timeout', text, { details: {}, isUntyped: true })
}

/**
 * Returned if etcd did not respond in time. If `retries` is true, the response asks the client to
 * retry. client-go then retries automatically, whatever the verb of the request is.
 */
export function storageTimeout(
  resource: ResourceName,
  operation: string,
  { retries, cause }: { readonly retries: boolean; readonly cause?: unknown },
): ApiError {
  const text = `The ${operation} operation against ${ofResource(resource)} could not be completed at this time, please try again.`
  return new ApiError(500, 'ServerTimeout', text, {
    details: { ...detailsOf(resource, operation), ...(retries ? { retryAfterSeconds: 2 } : {}) },
    cause,
  })
}

/** Returned if one of the server's limits for concurrent work is reached. */
export function tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
  return new ApiError(429, 'TooManyRequests', message, { details: { retryAfterSeconds } })
}

/**
 * Returned if the memory used by all requests together has reached its limit
 * (--request-memory-max).
 */
export const noMemory = (): ApiError =>
  tooManyRequests('the server has no memory left for requests, try again later', 1)

/**
 * Returned if a limit of an admission plugin is reached. As in kube-apiserver, the response has no
 * Retry-After header.
 */
export function limitReached(why: string): ApiError {
  return new ApiError(429, 'TooManyRequests', `Too many requests: ${why}`)
}

/** Returned if the audit log could not store the first event of the request. */
export function auditFailed(uri: string): TextError {
  return new TextError(
    500,
    `Internal Server Error: ${escapeHtml(quote(uri))}: failed to store audit event\n`,
  )
}

/** Returned if the limit of requests in flight is reached. */
export const tooManyInFlight = (): TextError => overloaded(1)

/** Returned if the server currently has no capacity for the request. */
export function overloaded(retryAfterSeconds: number): TextError {
  return new TextError(429, 'Too many requests, please try again later.\n', { retryAfterSeconds })
}

/** Returned if the server is shutting down and no longer accepts requests. */
export function shuttingDown(): TextError {
  return new TextError(429, 'The apiserver is shutting down, please try again later.\n', {
    retryAfterSeconds: 5,
  })
}

/**
 * Returned if a PodDisruptionBudget does not currently allow the eviction. `retryAfterSeconds` is 0
 * if it is not known when the eviction will be allowed.
 */
export function evictionRefused(why: string, retryAfterSeconds: number): ApiError {
  const message = "Cannot evict pod as it would violate the pod's disruption budget."
  const causes = [{ reason: 'DisruptionBudget', message: why }]
  return new ApiError(429, 'TooManyRequests', message, {
    details: { causes, ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}) },
  })
}

export function serviceUnavailable(message: string, cause?: unknown): ApiError {
  return new ApiError(503, 'ServiceUnavailable', message, { cause })
}

/** Thrown if the aggregated API server that serves the requested API is unavailable. */
export class RemoteUnavailable extends TextError {
  constructor(cause?: unknown) {
    super(503, 'service unavailable\n', { cause })
  }
}

/** Returned if the request could not be forwarded to an aggregated API server. */
export const proxyFailed = (why: string, cause?: unknown): TextError =>
  new TextError(503, `${why}\n`, { cause })

/**
 * Thrown if an aggregated API server ends its response early. The client has already received a
 * part of the response. Its connection is closed, so that the client notices that the response is
 * incomplete.
 */
export class CutOffAnswer extends Error {
  override readonly name = 'CutOffAnswer'
}

/**
 * Message sent instead of a redirect from an aggregated API server. Following the redirect could
 * send the client's credentials to any address (CVE-2022-3172).
 */
export const badGateway = 'the backend attempted to redirect this request, which is not permitted'

/** Returned for a list if some of its objects cannot be read. */
export function storageReadError(
  { group, plural }: ResourceName,
  causes: readonly StatusCause[],
  cause: unknown,
): ApiError {
  const resource = group === '' ? plural : `${plural}.${group}`
  const details = { name: 'list', ...(group === '' ? {} : { group }), kind: plural, causes }
  return new ApiError(
    500,
    'StorageReadError',
    `failed to read one or more ${resource} from the storage`,
    {
      details,
      cause,
    },
  )
}

/** Returned for an internal failure whose cause can be shown to the client. */
export function internalError(message: string, cause?: unknown): ApiError {
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, {
    details: { causes: [{ message }] },
    cause,
  })
}

/**
 * Returned if an admission webhook rejects a request with a Status. The reason and the details are
 * forwarded unchanged. The code is forwarded if it is between 400 and 599, and otherwise replaced
 * by 400. Webhooks can send any number, even one that is not an HTTP status code.
 */
export function passedOn({ code, reason, details, metadata }: Fields, message: string): ApiError {
  const given = numberOf(code)
  const said = textOf(reason)
  const known = isReason(said) ? said : undefined
  const extra = {
    ...(isFields(details) ? { details: passedDetails(details) } : {}),
    metadata: passedMetadata(fieldsOf(metadata)),
  }
  return new ApiError(given >= 400 && given <= 599 ? given : 400, known, message, extra)
}

/**
 * Returns whether a string can be the reason of a Status. Webhooks can send any reason that is not
 * empty.
 */
const isReason = (text: string): text is Reason => text !== ''

function passedMetadata({
  selfLink,
  resourceVersion,
  continue: token,
  remainingItemCount,
}: Fields): StatusMetadata {
  const texts = { selfLink, resourceVersion, continue: token }
  const given = Object.fromEntries(
    Object.entries(texts).flatMap(([key, value]) => textEntry(key, value)),
  )
  return typeof remainingItemCount === 'number' ? { ...given, remainingItemCount } : given
}

function passedDetails({
  name,
  group,
  kind,
  uid,
  causes,
  retryAfterSeconds,
}: Fields): StatusDetails {
  const texts = { name, group, kind, uid }
  const given = Object.fromEntries(
    Object.entries(texts).flatMap(([key, value]) => textEntry(key, value)),
  )
  const shown = itemsOf(causes).map((cause) => ({
    ...Object.fromEntries(textEntry('reason', cause['reason'])),
    message: textOf(cause['message']),
    ...Object.fromEntries(textEntry('field', cause['field'])),
  }))
  const seconds = numberOf(retryAfterSeconds)
  return {
    ...given,
    ...(shown.length === 0 ? {} : { causes: shown }),
    ...(seconds === 0 ? {} : { retryAfterSeconds: seconds }),
  }
}

const textEntry = (key: string, value: Json | undefined): [string, string][] =>
  textOf(value) === '' ? [] : [[key, textOf(value)]]

/** Returned where kube-apiserver returns an error with code 500 and no reason. */
export function unclassified(message: string, cause?: unknown): ApiError {
  return new ApiError(500, undefined, message, { cause })
}

/** Returned if no handler serves the path. */
export function pageNotFound(): TextError {
  return new TextError(404, '404 page not found\n')
}

/** Returned if the client does not accept plain text for a debug page. */
export function notPlainText(): TextError {
  return new TextError(406, 'media type not acceptable, must be: text/plain\n')
}

/** Returned if a health check fails. */
export function unhealthy(text: string): TextError {
  return new TextError(500, text)
}

/** Returned if the request line cannot be parsed. */
export function unreadableRequest(): TextError {
  return new TextError(400, '400 Bad Request')
}

/** Returned for a path that begins like the path of a resource but does not contain a resource. */
export function noRequestInfo(path: string): TextError {
  const why = `unable to determine kind and namespace from url, ${cutText(path)}`
  return new TextError(
    500,
    `Internal Server Error: ${quote(path)}: failed to create RequestInfo: ${why}\n`,
  )
}

/**
 * Returned if a request has impersonation headers for groups, a uid or extras, but not for a user.
 * Before 1.35, it is an internal error.
 */
export function impersonatesNobody(parts: readonly string[]): ApiError {
  return new ApiError(400, 'BadRequest', withoutUser(parts), { hasNosniff: true })
}

export function impersonatesNobodyText(request: Target, parts: readonly string[]): TextError {
  return internalText(request, withoutUser(parts))
}

const withoutUser = (parts: readonly string[]): string =>
  `requested [${cutText(parts.join(' '))}] without impersonating a user`

/** Returned if no authorizer allowed the request and at least one authorizer failed. */
export const undecided = (request: Target, error: string): TextError => internalText(request, error)

type Target = { readonly path: string; readonly query: URLSearchParams }

/**
 * Creates an internal error as plain text. It contains the request target as the client sent it, as
 * far as it can be reconstructed.
 */
function internalText({ path, query }: Target, why: string): TextError {
  const pairs = Array.from(query, ([name, value]) => `${name}=${value}`)
  const target = pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
  return new TextError(500, `${escapeHtml(`Internal Server Error: ${quote(target)}: ${why}`)}\n`)
}

/** Escapes text as kube-apiserver does, for clients that display it as HTML. */
export const escapeHtml = (text: string): string =>
  /[&<>]/.test(text)
    ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    : text

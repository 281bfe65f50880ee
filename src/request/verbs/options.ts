/** Parses the query parameters of reads, and validates them with kube-apiserver's messages. */
import { badRequest, invalid, unclassified } from '../../api/errors.ts'
import { type FieldFault, forbiddenField, notSupported } from '../../api/field-fault.ts'
import { quote } from '../../api/quote.ts'
import { isBeyond64Bits } from '../../lib/text/go-literals.ts'

export type ListOptions = {
  readonly labelSelector: string
  readonly fieldSelector: string
  readonly resourceVersion: string
  readonly resourceVersionMatch: '' | 'Exact' | 'NotOlderThan'
  /** Maximum number of objects; 0 means no limit. */
  readonly limit: number
  readonly continue: string
  readonly timeoutSeconds: number | undefined
  readonly allowWatchBookmarks: boolean
  /** Whether a watch begins with the existing objects. Undefined if the parameter is absent. */
  readonly sendInitialEvents: boolean | undefined
}

const plainOptions: ListOptions = {
  labelSelector: '',
  fieldSelector: '',
  resourceVersion: '',
  resourceVersionMatch: '',
  limit: 0,
  continue: '',
  timeoutSeconds: undefined,
  allowWatchBookmarks: false,
  sendInitialEvents: undefined,
}

/** Parses the options of a list or watch. Fails with BadRequest if an option cannot be parsed. */
export function parseListOptions(query: URLSearchParams): ListOptions {
  if (query.size === 0) return plainOptions
  const timeoutSeconds = parseInteger(query.get('timeoutSeconds'))
  const limit = Math.max(parseInteger(query.get('limit')) ?? 0, 0)
  const match = query.get('resourceVersionMatch')
  return {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: match === 'Exact' || match === 'NotOlderThan' ? match : '',
    limit,
    continue: query.get('continue') ?? '',
    timeoutSeconds,
    allowWatchBookmarks: parseBoolean(query.get('allowWatchBookmarks')),
    sendInitialEvents: query.has('sendInitialEvents')
      ? parseBoolean(query.get('sendInitialEvents'))
      : undefined,
  }
}

/**
 * Fails with Invalid if options contradict each other, and reports all errors. Must be called after
 * the selectors are parsed, because errors in selectors take precedence.
 */
export function validateListOptions(
  query: URLSearchParams,
  verb: 'list' | 'watch',
  { allowsWatchList = false } = {},
): void {
  if (query.size === 0) return
  const faults = verb === 'list' ? listFaults(query) : watchFaults(query, allowsWatchList)
  if (faults.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', faults)
}

/**
 * Parses a resourceVersion. For a list, the error for an invalid resourceVersion is a BadRequest.
 * For other verbs, the error has no reason.
 */
export function parseVersion(text: string, verb: 'get' | 'list' | 'watch'): number {
  const fault = uintFault(text)
  if (fault === undefined) return Number(text)
  const message = `resourceVersion: Invalid value: ${quote(text)}: ${fault}`
  throw verb === 'list' ? badRequest(`invalid resource version: ${message}`) : unclassified(message)
}

/** Any number with at most this many digits fits in 64 bits. */
const SAFE_DIGITS = 19

/**
 * Returns the error of Go's strconv if the string is not an unsigned integer. Returns undefined if
 * it is one.
 */
export function uintFault(text: string): string | undefined {
  if (text.length <= SAFE_DIGITS && /^[0-9]+$/.test(text)) return undefined
  if (!/^[0-9]+$/.test(text)) return `strconv.ParseUint: parsing ${quote(text)}: invalid syntax`
  if (isBeyond64Bits(text) || BigInt(text) >= 1n << 64n)
    return `strconv.ParseUint: parsing ${quote(text)}: value out of range`
  return undefined
}

/**
 * Parses a boolean parameter as in kube-apiserver: any value except `0` and `false` is true, even
 * an empty one.
 */
export function parseBoolean(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

/** Parses an integer parameter. An empty value is an error. */
export function parseInteger(value: string | null): number | undefined {
  const exact = parseExactInteger(value)
  return exact === undefined ? undefined : Number(exact)
}

/**
 * Like `parseInteger`, but returns a bigint for a value that a number cannot represent exactly. The
 * JSON decoder does the same.
 */
export function parseExactInteger(value: string | null): number | bigint | undefined {
  if (value === null) return undefined
  if (!/^[+-]?[0-9]+$/.test(value))
    throw badRequest(`strconv.ParseInt: parsing ${quote(value)}: invalid syntax`)
  const exact = isBeyond64Bits(value) ? undefined : BigInt(value.replace(/^\+/, ''))
  if (exact === undefined || BigInt.asIntN(64, exact) !== exact) {
    throw badRequest(`strconv.ParseInt: parsing ${quote(value)}: value out of range`)
  }
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

const matchField = 'resourceVersionMatch'

const continued = forbiddenField(
  matchField,
  'resourceVersionMatch is forbidden when continue is provided',
)

/** Whether a watch of this resourceVersion begins with the existing objects. */
const isFromStart = (version: string): boolean => version === '' || version === '0'

function listFaults(query: URLSearchParams): FieldFault[] {
  const version = query.get('resourceVersion') ?? ''
  const match = query.get(matchField) ?? ''
  const faults: FieldFault[] = []
  if (match !== '') {
    if (version === '') {
      faults.push(
        forbiddenField(
          matchField,
          'resourceVersionMatch is forbidden unless resourceVersion is provided',
        ),
      )
    }
    if ((query.get('continue') ?? '') !== '') faults.push(continued)
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      faults.push(notSupported(matchField, match, ['Exact', 'NotOlderThan', '']))
    }
    if (match === 'Exact' && version === '0') {
      faults.push(
        forbiddenField(
          matchField,
          'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
      )
    }
  }
  if (query.has('sendInitialEvents')) {
    faults.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  }
  return faults
}

function watchFaults(query: URLSearchParams, allowsWatchList: boolean): FieldFault[] {
  const match = query.get(matchField) ?? ''
  const sendsInitialEvents = query.has('sendInitialEvents')
  const faults: FieldFault[] = []
  if (sendsInitialEvents) {
    if (match !== 'NotOlderThan') {
      const why = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'
      faults.push(forbiddenField(matchField, why))
    }
    if (!allowsWatchList) {
      const why =
        'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'
      faults.push(forbiddenField('sendInitialEvents', why))
    }
  }
  const isContinued = (query.get('continue') ?? '') !== ''
  const isDefault =
    allowsWatchList && !sendsInitialEvents && isFromStart(query.get('resourceVersion') ?? '')
  // As in kube-apiserver, such a watch has the default NotOlderThan.
  if (match === '') return isDefault && isContinued ? [...faults, continued] : faults
  if (!sendsInitialEvents) {
    const why = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'
    faults.push(forbiddenField(matchField, why))
  }
  if (match !== 'NotOlderThan') faults.push(notSupported(matchField, match, ['NotOlderThan']))
  if (isContinued) faults.push(continued)
  return faults
}

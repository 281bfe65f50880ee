/**
 * Validation errors of single fields. Validation functions return lists of them and never throw.
 */
import { eachItem, isDivided } from '../lib/scheduling/parts.ts'
import type { Json } from './object.ts'
import { quote } from './quote.ts'

export type FaultReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueNotFound'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError'

export type FieldFault = {
  readonly path: string
  readonly reason: FaultReason
  readonly message: string
  /** The part of the message that shows the value in the syntax of Go. */
  readonly shown?: string
  /** The value itself. Set if its JSON cannot be derived from `shown`. */
  readonly value?: ShownValue
  /**
   * The tag of declarative validation (KEP-5073) that corresponds to this error. Undefined if this
   * error has no tag.
   */
  readonly tag?: 'minimum' | 'required'
  /** Whether the author of a CRD wrote the text of the message. No release changes such a text. */
  readonly isAuthored?: true
}

/**
 * A value that is shown as JSON since 1.34. `type` is the type in kube-apiserver if the value is a
 * struct.
 */
export type ShownValue = { readonly json: Json; readonly type?: string }

/**
 * Maximum number of validation errors of one object. Validation stops when this number is reached.
 * Otherwise each item of a list of a million items could cause thousands of errors, and no client
 * reads that many.
 */
export const FAULTS_MAX = 10_000
/**
 * Maximum length of all paths and messages together. The schema of a CRD can cause a message of
 * kilobytes for each error. A response contains each message twice. The whole response is formatted
 * in one tick of the event loop.
 */
export const FAULTS_CHARACTERS_MAX = 1 << 20
/**
 * Returns the validation errors of the items of a list that a client sent. Stops when there are at
 * least FAULTS_MAX errors.
 *
 * Long work can be divided into parts, between which the event loop runs other work
 * (lib/scheduling/parts.ts), so the items may be validated in different parts. If `faultsOf`
 * compares an item with earlier items, it must collect them in a set or map that is created with
 * `once`, which returns the same value in all parts.
 */
export function faultsOfEach<T>(
  items: readonly T[],
  faultsOf: (item: T, at: number) => readonly FieldFault[],
): FieldFault[] {
  const faults = eachItem('faults', items, newFaults, (found, item, at) => {
    for (const fault of faultsOf(item, at)) found.push(fault)
    return found.length < FAULTS_MAX
  })
  // The loop above continues with the same list if the work is divided. Return a copy, to which
  // callers can append errors.
  return isDivided() ? [...faults] : faults
}

const newFaults = (): FieldFault[] => []

export type PrintedScalar = string | number | bigint | boolean | null

export function required(path: string, detail = ''): FieldFault {
  return {
    path,
    reason: 'FieldValueRequired',
    message: detail === '' ? 'Required value' : `Required value: ${detail}`,
  }
}

export function invalidValue(path: string, value: PrintedScalar, detail: string): FieldFault {
  const message = `Invalid value: ${show(value)}: ${detail}`
  const fault = { path, reason: 'FieldValueInvalid', message } as const
  return value === null ? { ...fault, shown: show(value) } : fault
}

/** Like `invalidValue`, for a value that kube-apiserver formats in a special way. */
export function invalidShown(
  path: string,
  shown: string,
  detail: string,
  value?: ShownValue,
): FieldFault {
  const message = detail === '' ? `Invalid value: ${shown}` : `Invalid value: ${shown}: ${detail}`
  return { path, reason: 'FieldValueInvalid', message, shown, ...(value && { value }) }
}

/** Like `invalidValue`, for a string that kube-apiserver does not quote before 1.34. */
export function invalidUnquoted(path: string, text: string, detail: string): FieldFault {
  return invalidShown(path, text, detail, { json: text })
}

/** Like `invalidValue`, but the message leaves out the value, as in kube-apiserver. */
export function invalidWithoutValue(path: string, detail: string): FieldFault {
  return { path, reason: 'FieldValueInvalid', message: `Invalid value: ${detail}` }
}

export function notSupported(
  path: string,
  value: PrintedScalar,
  supported: readonly string[],
): FieldFault {
  const fault = notSupportedShown(path, show(value), supported)
  if (value === null) return fault
  const { shown: _, ...plain } = fault
  return plain
}

/** Like `notSupported`, for a value that kube-apiserver formats in a special way. */
export function notSupportedShown(
  path: string,
  shown: string,
  supported: readonly string[],
  value?: ShownValue,
): FieldFault {
  const list = supported.map(quote).join(', ')
  return {
    path,
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${shown}: supported values: ${list}`,
    shown,
    ...(value && { value }),
  }
}

export function duplicate(path: string, value: PrintedScalar): FieldFault {
  return { path, reason: 'FieldValueDuplicate', message: `Duplicate value: ${show(value)}` }
}

/** Like `duplicate`, but the message leaves out the value, as in kube-apiserver. */
export function duplicateWithoutValue(path: string): FieldFault {
  return { path, reason: 'FieldValueDuplicate', message: 'Duplicate value' }
}

/** Like `duplicate`, for a value that kube-apiserver formats in a special way. */
export function duplicateShown(
  path: string,
  shown: string,
  detail = '',
  value?: ShownValue,
): FieldFault {
  const message =
    detail === '' ? `Duplicate value: ${shown}` : `Duplicate value: ${shown}: ${detail}`
  return { path, reason: 'FieldValueDuplicate', message, shown, ...(value && { value }) }
}

/** Returned for an invalid field if kube-apiserver reports the field with an internal error. */
export function internalFault(path: string, detail: string): FieldFault {
  return { path, reason: 'InternalError', message: `Internal error: ${detail}` }
}

export function forbiddenField(path: string, detail: string): FieldFault {
  return { path, reason: 'FieldValueForbidden', message: `Forbidden: ${detail}` }
}

export function tooLong(path: string, bytesMax: number): FieldFault {
  const why = bytesMax < 0 ? 'value is too long' : `may not be more than ${bytesMax} bytes`
  return { path, reason: 'FieldValueTooLong', message: `Too long: ${why}` }
}

export function tooMany(path: string, count: number, countMax: number): FieldFault {
  const why = countMax < 0 ? 'has too many items' : `must have at most ${countMax} items`
  return { path, reason: 'FieldValueTooMany', message: `Too many: ${count}: ${why}` }
}

/** Returned if the referenced object does not exist. */
export function notThere(path: string, value: PrintedScalar): FieldFault {
  return { path, reason: 'FieldValueNotFound', message: `Not found: ${show(value)}` }
}

/**
 * Calls one of the checks in names.ts, such as the check of a DNS label. Returns a validation error
 * for each message of the check.
 */
export function checked(
  path: string,
  value: string,
  check: (value: string) => readonly string[],
): FieldFault[] {
  return check(value).map((why) => invalidValue(path, value, why))
}

/** Formats a value for an error message. Null is formatted as the quoted string "null". */
const show = (value: PrintedScalar): string =>
  typeof value === 'string' ? quote(value) : value === null ? '"null"' : `${value}`

/**
 * Adapts validation errors to a release. The rules for objects report errors with the texts of
 * 1.33, except for label keys and values. Some texts differ between releases without a gate:
 *
 * - Since 1.34, invalid values are shown as JSON.
 * - Since 1.34, some texts are shorter, because the path of the error already names the field.
 * - Before 1.35, some texts about label keys and values are different.
 */
import { FAULTS_CHARACTERS_MAX, type FieldFault } from '../api/field-fault.ts'
import { goToJson } from '../api/go-json.ts'
import { labelTextOf } from '../api/names.ts'
import type { Json } from '../api/object.ts'
import { eachItem, once } from '../lib/scheduling/parts.ts'
import { printInternal } from './internal-json.ts'

/** The first release that shows invalid values as JSON, and has the shorter texts. */
const SHORT_TEXTS_SINCE = 34

/**
 * Returns the errors as a release reports them. Errors after the first FAULTS_CHARACTERS_MAX
 * characters are left out. A response has fewer characters.
 */
export function faultsOfRelease(faults: FieldFault[], release: number): FieldFault[] {
  const { adapted } = eachItem('errors of a release', faults, newState, (state, fault) => {
    const labelled = withLabelText(fault, release)
    const own = release < SHORT_TEXTS_SINCE ? labelled : adapt(labelled, release, state.texts)
    state.adapted.push(own)
    state.characters += own.path.length + own.message.length
    return state.characters < FAULTS_CHARACTERS_MAX
  })
  return adapted
}

function withLabelText(fault: FieldFault, release: number): FieldFault {
  if (fault.isAuthored === true) return fault
  const message = labelTextOf(fault.message, release)
  return message === fault.message ? fault : { ...fault, message }
}

type State = { readonly adapted: FieldFault[]; readonly texts: Texts; characters: number }

const newState = (): State => ({ adapted: [], texts: new Map(), characters: 0 })

/** Printed values. Thousands of errors can show the same long list. */
type Texts = Map<Json, string>

function adapt(fault: FieldFault, release: number, texts: Texts): FieldFault {
  const { path, message, shown } = fault
  const json = jsonOf(fault, release, texts)
  const text =
    shown === undefined || json === undefined ? message : message.replace(shown, () => json)
  const [, from, to] =
    shortened.find(([field, old]) => text.endsWith(old) && field.test(path)) ?? []
  const short = from === undefined ? text : text.slice(0, -from.length) + (to ?? '')
  const last = short.replace(/ (?:1 byte|at most 1 item)s$/, (end) => end.slice(0, -1))
  const renamed = message.endsWith('Approved and Denied conditions are mutually exclusive')
    ? 'status.conditions'
    : path.replace(/^status\.allocatedResourceStatus(?=$|\[)/, '$&es')
  // Since 1.34, an invalid identifier is an invalid value instead of a value of the wrong type.
  const isIdentifier = message.includes(': a valid C identifier must ')
  const reason = isIdentifier ? 'FieldValueInvalid' : fault.reason
  return last === message && renamed === path && reason === fault.reason
    ? fault
    : { ...fault, path: renamed, reason, message: last }
}

function jsonOf({ shown, value }: FieldFault, release: number, texts: Texts): string | undefined {
  if (value !== undefined) {
    const { json, type } = value
    const known = texts.get(json)
    if (known !== undefined) return known
    const text = once('text of a value', () => printInternal(type, json, release))
    if (typeof json === 'object') texts.set(json, text)
    return text
  }
  // Strings are still shown in the syntax of Go. Null looks like a string in older releases.
  const isText = shown?.startsWith('"') === true && shown !== '"null"'
  const isLong = (shown?.length ?? 0) > READ_CHARACTERS_MAX
  return shown === undefined || isText || isLong ? undefined : goToJson(shown)
}

/** Maximum length of a text that is read to show it as JSON. No response shows a longer text. */
const READ_CHARACTERS_MAX = 256 << 10

/** The form of names in search paths. Since 1.34, its description allows underscores. */
const subdomainForm = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'

/**
 * Texts that are shorter since 1.34: the end `from` becomes `to` in errors whose path matches
 * `field`.
 */
const shortened: readonly (readonly [field: RegExp, from: string, to: string])[] = [
  [/ownerReferences.*\.kind$/, 'kind must not be empty', 'must not be empty'],
  [/ownerReferences.*\.name$/, 'name must not be empty', 'must not be empty'],
  [/ownerReferences.*\.uid$/, 'uid must not be empty', 'must not be empty'],
  [/\.(?:lastTransitionTime|reason)$/, ': must be set', ''],
  [/\.reason$/, ': reason cannot be empty', ''],
  [/\.message$/, ': message cannot be empty', ''],
  [/\.conditions\[\d+\]\.type$/, 'Required value: must not be empty', 'Required value'],
  [
    /\.type$/,
    "type must be 'Exempt' if and only if name is 'exempt'",
    "must be 'Exempt' if and only if `name` is 'exempt'",
  ],
  [
    /\.(?:parameters|data)$/,
    'parameters must be a valid JSON object',
    'must be a valid JSON object',
  ],
  [/\.os\.name$/, ': cannot be empty', ''],
  [/\.(?:parameters|resource)\.kind$/, ': kind is required', ''],
  [/\.(?:parameters|resource)\.name$/, ': name is required', ''],
  [
    /\.completionTime$/,
    'completionTime cannot be set before startTime',
    'must be equal to or after `startTime`',
  ],
  [/\.completionTime$/, 'completionTime cannot be mutated', 'field is immutable'],
  [
    /\.uncountedTerminatedPods$/,
    'uncountedTerminatedPods needs to be empty for finished job',
    'must be empty for finished job',
  ],
  [/\.resourceVersion$/, 'resourceVersion cannot be updated', 'field is immutable'],
  [/\.service\.name$/i, ': service name is required', ''],
  [/\.service\.namespace$/i, ': service namespace is required', ''],
  [/\.message$/, 'message must be non-empty if specified', 'must be non-empty if specified'],
  [/\.message$/, 'message must not contain line breaks', 'must not contain line breaks'],
  [/\.name$/, 'name is not a valid CEL identifier', 'must be a valid CEL identifier'],
  [/\.fieldPath$/, 'fieldPath must be a valid path', 'must be a valid path'],
  [/\.fieldPath$/, 'fieldPath must be non-empty if specified', 'must be non-empty if specified'],
  [/\.fieldPath$/, 'fieldPath must not contain line breaks', 'must not contain line breaks'],
  [
    /\.selectableFields$/,
    'selectableFields may only be set when validations.schema is included',
    'may only be set when validations.schema is included',
  ],
  [
    /\.selectableFields$/,
    'selectableFields may only be set when version.schema.openAPIV3Schema is not included',
    'may only be set when `version.schema.openAPIV3Schema` is not included',
  ],
  [/\.openAPIV3Schema$/, ': schemas are required', ''],
  [/\.(?:apiVersion|kind)$/, 'Required value: must not be empty', 'Required value'],
  [
    /\.searches\[\d+\]$/,
    `${subdomainForm}')`,
    `${subdomainForm.replaceAll('[a-z0-9]([-', '_?[a-z0-9]([-_')}')`,
  ],
  [/\.host\w+$/i, 'when `pod.Spec.HostUsers` is false', 'when `hostUsers` is false'],
  [
    /\.claims$/,
    'claims cannot be set for Resources at pod-level',
    'claims may not be set for Resources at pod-level',
  ],
]

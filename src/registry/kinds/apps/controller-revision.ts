import { cutText } from '../../../lib/text/cut-text.ts'
import { type FieldFault, invalidShown, invalidValue, required } from '../../../api/field-fault.ts'
import { type Json, type KubeObject, textOf } from '../../../api/object.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import { inTurns, type Turns } from '../../../objects/cel/turns.ts'
import { BACKSLASH, MINUS, NINE, QUOTE, ZERO } from '../../../lib/bytes/ascii.ts'
import type { KindRules } from '../../kind-rules.ts'
import { faultsOf } from '../../rules/rule.ts'
import { nonNegative } from '../../rules/scalars.ts'

/**
 * Number of characters or bytes that are processed before the clock is checked again. This takes a
 * fraction of a time slice.
 */
const STEP = 4096

export const controllerRevisionRules: KindRules = {
  strategy: { updateChecks: ['change', 'rules', 'metadata'] },
  validate: ({ revision }) => faultsOf(nonNegative, revision, 'revision'),
  // Validation runs in time slices, because the data can be as large as a request body.
  validateInSlices: (object, current, tools) =>
    inTurns(
      (slice) =>
        current === undefined ? validateData(object, slice) : validateSame(object, current, slice),
      tools,
    ),
}

function* validateSame(
  { data }: KubeObject,
  current: KubeObject,
  slice: Slice,
): Turns<FieldFault[]> {
  if (data === current['data']) return []
  const value = { type: 'runtime.RawExtension', json: data ?? null }
  return [invalidShown('data', yield* goRaw(data, slice), 'field is immutable', value)]
}

/**
 * Validates the data. It was decoded from JSON, so its first character reveals whether it is an
 * object.
 */
function* validateData(object: KubeObject, slice: Slice): Turns<FieldFault[]> {
  const data = textOf(object['data'])
  if (data === '' || data === 'null') return [required('data', 'data is mandatory')]
  const huge = yield* hugeNumberIn(data, slice)
  if (huge !== undefined) {
    const why = `json: cannot unmarshal number ${cutText(huge)} into Go value of type float64`
    return [invalidValue('data', '<value omitted>', `error parsing data: ${why}`)]
  }
  return data.startsWith('{') ? [] : [required('data', 'data must be a valid JSON object')]
}

const isNumberStart = (code: number): boolean => (code >= ZERO && code <= NINE) || code === MINUS
/** Whether a character can occur in a number. This includes `+`, `.`, `E` and `e`. */
const isNumberPart = (code: number): boolean =>
  isNumberStart(code) || code === 0x2b || code === 0x2e || code === 0x45 || code === 0x65
/** Minimum length of a number that can exceed the range of a float64. */
const HUGE_LENGTH_MIN = '1e309'.length

/**
 * Returns the first number that exceeds the range of a float64. Takes time linear in the length of
 * the text.
 */
function* hugeNumberIn(json: string, slice: Slice): Turns<string | undefined> {
  let isText = false
  let start: number | undefined
  let next = STEP
  for (let at = 0; at <= json.length; at++) {
    if (at >= next) {
      next = at + STEP
      if (slice.isOver()) yield undefined
    }
    const code = json.charCodeAt(at)
    if (isText) {
      if (code === BACKSLASH) at++
      else isText = code !== QUOTE
    } else if (start === undefined) {
      isText = code === QUOTE
      if (isNumberStart(code)) start = at
    } else if (!isNumberPart(code)) {
      const number = at - start < HUGE_LENGTH_MIN ? '' : json.slice(start, at)
      if (!Number.isFinite(Number(number))) return number
      start = undefined
    }
  }
  return undefined
}

function* goRaw(data: Json | undefined, slice: Slice): Turns<string> {
  const parts: string[] = []
  const bytes = Buffer.from(textOf(data))
  for (let at = 0; at < bytes.length; at += STEP) {
    parts.push(
      Array.from(bytes.subarray(at, at + STEP), (byte) => `0x${byte.toString(16)}`).join(', '),
    )
    if (slice.isOver()) yield undefined
  }
  const raw = typeof data === 'string' ? `[]uint8{${parts.join(', ')}}` : '[]uint8(nil)'
  return `runtime.RawExtension{Raw:${raw}, Object:runtime.Object(nil)}`
}

/**
 * Reads JSON from an untrusted remote server, one part at a time. The reader yields between parts.
 * Limits on the size and depth of each part bound the time that it takes.
 */
import { JsonScanner } from './json-scanner.ts'
import { parseText } from './json-value.ts'
import { type Fields, isFields, type Json } from './object.ts'
import type { Steps } from '../lib/scheduling/slices.ts'

/** Number of values that are skipped before the reader yields. */
const STEP_VALUES = 512
/**
 * Limits on the characters, values and nesting levels of a part. Real parts are much smaller: the
 * largest definition in kube-apiserver's OpenAPI document has 40 KB and 2,000 values, and the
 * deepest has 12 levels.
 */
const PART_CHARS_MAX = 256 << 10
const PART_VALUES_MAX = 16_384
const PART_DEPTH_MAX = 100
/** Maximum number of fields of an object, whether they are read or skipped. */
const FIELDS_MAX = 1_000

export class PartTooLarge extends Error {}

/**
 * Reads a document. `fields` maps the names of the required fields to the readers of their values;
 * other fields are skipped. Fails if the document is not an object.
 */
export function* readFields(
  text: string,
  fields: { readonly [name: string]: (scanner: JsonScanner) => Steps<void> },
): Steps<void> {
  const scanner = new JsonScanner(text)
  if (scanner.peekType() !== 'object') throw new Error('it is not an object')
  yield* eachField(scanner, fields)
  scanner.end()
}

/**
 * Reads the fields of the object at the scanner's position. A value that is not an object is
 * skipped.
 */
export function* eachField(
  scanner: JsonScanner,
  fields: { readonly [name: string]: (scanner: JsonScanner) => Steps<void> },
): Steps<void> {
  if (scanner.peekType() !== 'object') return yield* skip(scanner)
  let count = 0
  for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
    if (++count > FIELDS_MAX) throw new Error(`an object has more than ${FIELDS_MAX} fields`)
    const name = scanner.readKey()
    const read = Object.hasOwn(fields, name) ? fields[name] : undefined
    yield* read === undefined ? skip(scanner) : read(scanner)
    yield
  }
}

/**
 * Reads the items of the list at the scanner's position. A value that is not a list is skipped.
 * Fails if there are too many items.
 */
export function* eachItem(
  scanner: JsonScanner,
  max: number,
  take: (scanner: JsonScanner) => Steps<void>,
): Steps<void> {
  if (scanner.peekType() !== 'array') return yield* skip(scanner)
  let count = 0
  for (let more = scanner.beginArray(); more; more = scanner.nextInArray()) {
    if (++count > max) throw new Error(`a list has more than ${max} items`)
    yield* take(scanner)
    yield
  }
}

/**
 * Reads the map at the scanner's position. Entries whose values are not objects are skipped. A
 * value that is not a map is also skipped. Fails if there are too many entries.
 */
export function* eachEntry(
  scanner: JsonScanner,
  max: number,
  take: (name: string, part: Fields) => void,
): Steps<void> {
  if (scanner.peekType() !== 'object') return yield* skip(scanner)
  let count = 0
  for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
    if (++count > max) throw new Error(`a map has more than ${max} entries`)
    const name = scanner.readKey()
    const part = yield* readPart(scanner)
    if (isFields(part)) take(name, part)
    yield
  }
}

/** Returns the value at the scanner's position. Fails if the value is too large or too deep. */
export function* readPart(scanner: JsonScanner): Steps<Json> {
  scanner.peekType()
  const start = scanner.at
  yield* skip(scanner, { chars: PART_CHARS_MAX, values: PART_VALUES_MAX })
  const value = parseText(scanner.text.slice(start, scanner.at))
  requireFlat(value, PART_DEPTH_MAX)
  return value
}

/**
 * Skips the value at the scanner's position. Fails with PartTooLarge if the value has more
 * characters or values than `max` allows.
 */
export function* skip(
  scanner: JsonScanner,
  max = { chars: Infinity, values: Infinity },
): Steps<void> {
  const start = scanner.at
  const open: boolean[] = []
  for (let values = 0; !scanner.skipPart(open, STEP_VALUES); values += STEP_VALUES) {
    if (values > max.values) throw new PartTooLarge(`a part has more than ${max.values} values`)
    if (scanner.at - start > max.chars) break
    yield
  }
  if (scanner.at - start > max.chars)
    throw new PartTooLarge(`a part has more than ${max.chars} characters`)
}

function requireFlat(value: Json | undefined, levels: number): void {
  if (typeof value !== 'object' || value === null) return
  if (levels === 0) throw new PartTooLarge(`a part has more than ${PART_DEPTH_MAX} levels`)
  for (const inner of Object.values(value)) requireFlat(inner, levels - 1)
}

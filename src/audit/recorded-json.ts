/** The JSON of requests and responses as it is recorded: on one line, perhaps without managedFields. */
import { JsonScanner, JsonSyntaxError } from '../api/json-scanner.ts'
import { compacted, printString } from '../codec/json.ts'
import { NEWLINE } from '../lib/ascii.ts'
import type { Steps } from '../lib/slices.ts'

/** `json` is compact, as the server prints it. Its memory is not changed afterwards. */
export function* recordedObject(json: Buffer | string, omitsManagedFields: boolean): Steps<Buffer> {
  const bytes = withoutNewline(typeof json === 'string' ? Buffer.from(json) : json)
  return omitsManagedFields ? yield* withoutManagedFields(bytes) : bytes
}

/** The memory is the same. */
export const withoutNewline = (json: Buffer): Buffer => (json.at(-1) === NEWLINE ? json.subarray(0, -1) : json)

/** Values that are compacted between two steps. */
const STEP_VALUES = 256
/** Characters of a string that are printed between two steps. */
const STEP_CHARACTERS = 16_384

/** A patch as it was sent, which may be indented. What is not JSON, such as YAML, is recorded as a string. */
export function* recordedPatch(body: Buffer): Steps<Buffer> {
  const text = body.toString('utf8')
  try {
    return yield* encoded(yield* compactedInSteps(text))
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return yield* encoded(yield* printStringInSteps(text))
  }
}

function* encoded(text: string): Steps<Buffer> {
  yield
  return Buffer.from(text)
}

/** The scanner pauses only between tokens, so each part can be compacted by itself. Fails with a JsonSyntaxError. */
function* compactedInSteps(text: string): Steps<string> {
  const scanner = new JsonScanner(text)
  const open: boolean[] = []
  let printed = ''
  for (let isWhole = false; !isWhole; ) {
    const from = scanner.at
    isWhole = scanner.skipPart(open, STEP_VALUES)
    printed += compacted(text.slice(from, scanner.at))
    yield
  }
  scanner.end()
  return printed
}

function* printStringInSteps(text: string): Steps<string> {
  let printed = ''
  for (let from = 0; from < text.length; ) {
    const end = from + STEP_CHARACTERS
    // A pair of surrogates is not divided.
    const part = text.slice(from, (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end)
    printed += printString(part).slice(1, -1)
    from += part.length
    yield
  }
  return `"${printed}"`
}

/** Of an object, of all items of a list, or of the objects in the rows of a table. */
function* withoutManagedFields(json: Buffer): Steps<Buffer> {
  if (!json.includes('"managedFields"')) return json
  // A character for each byte: all that is looked for is ASCII, and what is cut has the same indices in the bytes.
  const scanner = new JsonScanner(json.toString('latin1'))
  const cuts: Range[] = []
  yield* findInObject(scanner, cuts)
  const kept: Buffer[] = []
  let from = 0
  for (const { start, end } of cuts) {
    kept.push(json.subarray(from, start))
    from = end
  }
  kept.push(json.subarray(from))
  yield
  return Buffer.concat(kept)
}

type Range = { readonly start: number; readonly end: number }

function* findInObject(scanner: JsonScanner, cuts: Range[]): Steps<void> {
  if (scanner.peekType() !== 'object') return scanner.skipValue()
  if (!scanner.beginObject()) return
  do {
    const key = scanner.readKey()
    const type = scanner.peekType()
    if (key === 'metadata' && type === 'object') findInMetadata(scanner, cuts)
    else if (key === 'object') yield* findInObject(scanner, cuts)
    else if ((key === 'items' || key === 'rows') && type === 'array') yield* findInList(scanner, cuts)
    else scanner.skipValue()
  } while (scanner.nextInObject())
}

function* findInList(scanner: JsonScanner, cuts: Range[]): Steps<void> {
  if (!scanner.beginArray()) return
  do {
    yield* findInObject(scanner, cuts)
    yield
  } while (scanner.nextInArray())
}

/** A member is cut with the comma behind it or, if it is the last one, with the comma before it. */
function findInMetadata(scanner: JsonScanner, cuts: Range[]): void {
  if (!scanner.beginObject()) return
  let isFirst = true
  for (;;) {
    const start = scanner.at
    const key = scanner.readKey()
    scanner.skipValue()
    const end = scanner.at
    const hasNext = scanner.nextInObject()
    if (key === 'managedFields') {
      cuts.push(hasNext ? { start, end: scanner.at } : { start: isFirst ? start : start - 1, end })
    }
    if (!hasNext) return
    isFirst = false
  }
}

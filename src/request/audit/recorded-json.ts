/**
 * Converts the JSON of requests and responses to its recorded form: on one line and, if configured,
 * without managedFields.
 */
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { printString, readRaw } from '../../objects/codec/json.ts'
import { NEWLINE } from '../../lib/bytes/ascii.ts'
import { stepOf } from '../../lib/scheduling/parts.ts'
import type { Slices, Steps } from '../../lib/scheduling/slices.ts'

/**
 * Returns an object in its recorded form. `json` must be compact, as the server serializes it. The
 * memory of `json` must not be changed afterwards.
 */
export function* recordedObject(json: Buffer | string, omitsManagedFields: boolean): Steps<Buffer> {
  const bytes = withoutNewline(typeof json === 'string' ? Buffer.from(json) : json)
  return omitsManagedFields ? yield* withoutManagedFields(bytes) : bytes
}

/** Returns the JSON without its final newline. The result shares the memory of the argument. */
export const withoutNewline = (json: Buffer): Buffer =>
  json.at(-1) === NEWLINE ? json.subarray(0, -1) : json

/**
 * Converts a patch to its recorded form: as the client sent it, but without indentation. A patch in
 * YAML is recorded as a string. `slices` is passed only for large patches. Without `slices`, a
 * patch is processed without pauses.
 */
export function* recordedPatch(body: Buffer, slices?: Slices): Steps<Buffer> {
  const text = body.toString('utf8')
  yield
  const printed = yield* stepOf(() => compactedJson(text) ?? printString(text), slices)
  return Buffer.from(printed)
}

/** Returns the JSON without whitespace, or undefined if the string is not JSON. */
function compactedJson(text: string): string | undefined {
  const scanner = new JsonScanner(text)
  try {
    const printed = readRaw(scanner)
    scanner.end()
    return printed
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

/**
 * Removes managedFields from an object, from all items of a list, or from the objects in the rows
 * of a table.
 */
function* withoutManagedFields(json: Buffer): Steps<Buffer> {
  if (!json.includes('"managedFields"')) return json
  // In Latin-1, each byte is one character. The keys that the scanner looks for are ASCII, so their
  // positions in the string equal those in the bytes.
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
    else if ((key === 'items' || key === 'rows') && type === 'array')
      yield* findInList(scanner, cuts)
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

/**
 * Finds managedFields. The removed range includes the following comma or, for the last member, the
 * preceding comma.
 */
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

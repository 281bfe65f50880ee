/**
 * Parses the body of a JSON patch. If its structure is invalid, the messages are those of Go's
 * decoders.
 */
import { badRequest, tooManyOperations } from '../../api/errors.ts'
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { quote } from '../../api/quote.ts'
import { type Value, valueOf } from './document.ts'
import { duplicateSteps, newPathRoom } from '../codec/duplicates.ts'
import type { Operation } from './json-patch.ts'
import { addAll } from '../../lib/scheduling/long-lists.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import type { Work } from './work.ts'

/** Maximum number of operations in a patch, as in kube-apiserver. */
const OPERATIONS_MAX = 10_000
/**
 * Maximum number of errors about unknown and duplicate members of a patch, as in Go's strict
 * decoder.
 */
const STRICT_FAULTS_MAX = 100

export type JsonPatch = {
  readonly operations: readonly Operation[]
  /** Errors about unknown and duplicate members. They are collected only if `isChecked` is true. */
  readonly strictFaults: readonly string[]
}

/**
 * Parses the operations. If `isChecked` is true, checks all members, with the error messages of
 * kube-apiserver's strict decoder. Throws a BadRequest error if the body is invalid, or a
 * RequestEntityTooLarge error if there are too many operations.
 */
export function* readOperations(text: string, work: Work, isChecked: boolean): Steps<JsonPatch> {
  try {
    yield* checkSyntax(text)
    const reader = new Reader(text, work, isChecked)
    const operations = yield* reader.patch()
    const fault = reader.itemFault ?? (isChecked ? reader.memberFault : undefined)
    if (fault !== undefined) throw new JsonSyntaxError(fault)
    if (operations.length > OPERATIONS_MAX)
      throw tooManyOperations(OPERATIONS_MAX, operations.length)
    return {
      operations,
      strictFaults: reader.strictFaults
        .slice(0, STRICT_FAULTS_MAX)
        .map((each) => `json patch ${each}`),
    }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw badRequest(isChecked ? `error decoding patch: ${error.message}` : error.message)
  }
}

/** Names of the types in Go, as used in error messages. */
type Names = { readonly list: string; readonly item: string }
const checkedNames: Names = { list: '[]handlers.jsonPatchOp', item: 'handlers.jsonPatchOp' }
const plainNames: Names = { list: 'jsonpatch.Patch', item: 'jsonpatch.Operation' }

/** Number of values that are skipped in one step. This takes a few tenths of a millisecond. */
const STEP_VALUES = 4_096
const STEP_OPERATIONS = 64

function* checkSyntax(text: string): Steps<void> {
  const scanner = new JsonScanner(text)
  yield* skipInSteps(scanner)
  scanner.end()
}

function* skipInSteps(scanner: JsonScanner): Steps<void> {
  const open: boolean[] = []
  while (!scanner.skipPart(open, STEP_VALUES)) yield undefined
}

type Name = 'op' | 'path' | 'from'

class Reader {
  readonly strictFaults: string[] = []
  /** The error for the first item of the patch that is not an object. */
  itemFault: string | undefined
  /** The error for the first member of an operation that has a wrong type. */
  memberFault: string | undefined
  readonly #scanner: JsonScanner
  readonly #work: Work
  readonly #names: Names

  readonly #isChecked: boolean
  readonly #room = newPathRoom()
  /** Errors that were already added, because the same error is reported only once. */
  readonly #reported = new Set<string>()

  constructor(text: string, work: Work, isChecked: boolean) {
    this.#scanner = new JsonScanner(text)
    this.#work = work
    this.#names = isChecked ? checkedNames : plainNames
    this.#isChecked = isChecked
  }

  *patch(): Steps<Operation[]> {
    const scanner = this.#scanner
    const type = scanner.peekType()
    if (type === 'null') return []
    if (type !== 'array')
      throw new JsonSyntaxError(
        `json: cannot unmarshal ${type} into Go value of type ${this.#names.list}`,
      )
    const operations: Operation[] = []
    for (let more = scanner.beginArray(); more; more = scanner.nextInArray()) {
      if (operations.length % STEP_OPERATIONS === 0) yield undefined
      operations.push(yield* this.#operation(operations.length))
    }
    return operations
  }

  *#operation(index: number): Steps<Operation> {
    const scanner = this.#scanner
    const texts: { [name in Name]?: string | undefined } = {}
    let value: Value | undefined
    const type = scanner.peekType()
    if (type !== 'object') {
      if (type !== 'null')
        this.itemFault ??= `json: cannot unmarshal ${type} into Go value of type ${this.#names.item}`
      scanner.skipValue()
      return { op: undefined, path: undefined, from: undefined, value: undefined }
    }
    const seen = new Set<string>()
    for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
      const key = scanner.readKey()
      if (seen.has(key) && (key === 'value' || isName(key)))
        this.#report('duplicate', `[${index}].${key}`)
      seen.add(key)
      if (key === 'value') value = yield* this.#value(index)
      else if (isName(key)) texts[key] = this.#text(key)
      else {
        this.#report('unknown', `[${index}].${key}`)
        yield* skipInSteps(scanner)
      }
    }
    return { op: texts.op, path: texts.path, from: texts.from, value }
  }

  *#value(index: number): Steps<Value> {
    const scanner = this.#scanner
    scanner.peekType()
    const start = scanner.at
    yield* skipInSteps(scanner)
    const text = scanner.text.slice(start, scanner.at)
    const value = valueOf(text, this.#work)
    yield undefined
    if (this.#hasRoom)
      addAll(this.strictFaults, yield* duplicateSteps(text, `[${index}].value`, this.#room))
    return value
  }

  get #hasRoom(): boolean {
    return this.#isChecked && this.strictFaults.length < STRICT_FAULTS_MAX && !this.#room.isFull
  }

  #report(what: 'duplicate' | 'unknown', path: string): void {
    const fault = `${what} ${path}`
    if (!this.#hasRoom || this.#reported.has(fault)) return
    this.#reported.add(fault)
    this.#room.take(path)
    this.strictFaults.push(`${what} field ${quote(path)}`)
  }

  #text(key: Name): string | undefined {
    const type = this.#scanner.peekType()
    if (type === 'string') return this.#scanner.readString()
    if (type !== 'null') {
      this.memberFault ??= `json: cannot unmarshal ${type} into Go struct field jsonPatchOp.${key} of type string`
    }
    this.#scanner.skipValue()
    return undefined
  }
}

const isName = (key: string): key is Name => key === 'op' || key === 'path' || key === 'from'

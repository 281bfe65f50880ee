/** The body of a JSON patch. What is wrong with its form is told in the words of Go's decoders. */
import { badRequest, tooManyOperations } from '../api/errors.ts'
import { JsonScanner, JsonSyntaxError } from '../api/json-scanner.ts'
import { quote } from '../api/quote.ts'
import { type Value, readValue } from './document.ts'
import { duplicateFields } from './duplicates.ts'
import type { Operation } from './json-patch.ts'
import type { Work } from './work.ts'

/** As upstream. */
const OPERATIONS_MAX = 10_000

export type JsonPatch = {
  readonly operations: readonly Operation[]
  /** Members that are unknown or given twice; none unless they were asked for. */
  readonly strictFaults: readonly string[]
}

/** `isChecked`: wrong members are told, too. Fails with a BadRequest, or RequestEntityTooLarge. */
export function readOperations(text: string, work: Work, isChecked: boolean): JsonPatch {
  try {
    checkSyntax(text)
    const reader = new Reader(text, work)
    const operations = reader.patch(isChecked ? '[]handlers.jsonPatchOp' : 'jsonpatch.Patch')
    if (isChecked && reader.fault !== undefined) throw new JsonSyntaxError(reader.fault)
    if (operations.length > OPERATIONS_MAX) throw tooManyOperations(OPERATIONS_MAX, operations.length)
    const strictFaults = isChecked ? reader.strictFaults.map((fault) => `json patch ${fault}`) : []
    return { operations, strictFaults }
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(`error decoding patch: ${error.message}`)
    throw error
  }
}

function checkSyntax(text: string): void {
  const scanner = new JsonScanner(text)
  scanner.skipValue()
  scanner.end()
}

type Name = 'op' | 'path' | 'from'

class Reader {
  readonly strictFaults: string[] = []
  fault: string | undefined
  readonly #scanner: JsonScanner
  readonly #work: Work

  constructor(text: string, work: Work) {
    this.#scanner = new JsonScanner(text)
    this.#work = work
  }

  patch(goName: string): Operation[] {
    const scanner = this.#scanner
    const type = scanner.peekType()
    if (type === 'null') return []
    if (type !== 'array') throw new JsonSyntaxError(`json: cannot unmarshal ${type} into Go value of type ${goName}`)
    const operations: Operation[] = []
    for (let more = scanner.beginArray(); more; more = scanner.nextInArray()) {
      operations.push(this.#operation(operations.length))
    }
    return operations
  }

  #operation(index: number): Operation {
    const scanner = this.#scanner
    const texts: { [name in Name]?: string | undefined } = {}
    let value: Value | undefined
    const type = scanner.peekType()
    if (type !== 'object') {
      if (type !== 'null') this.fault ??= `json: cannot unmarshal ${type} into Go value of type handlers.jsonPatchOp`
      scanner.skipValue()
      return { op: undefined, path: undefined, from: undefined, value: undefined }
    }
    const seen = new Set<string>()
    for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
      const key = scanner.readKey()
      if (seen.has(key)) this.strictFaults.push(`duplicate field ${quote(`[${index}].${key}`)}`)
      seen.add(key)
      if (key === 'value') value = this.#value(index)
      else if (isName(key)) texts[key] = this.#text(key)
      else {
        this.strictFaults.push(`unknown field ${quote(`[${index}].${key}`)}`)
        scanner.skipValue()
      }
    }
    return { op: texts.op, path: texts.path, from: texts.from, value }
  }

  #value(index: number): Value {
    const start = this.#scanner.at
    const value = readValue(this.#scanner, this.#work)
    const text = this.#scanner.text.slice(start, this.#scanner.at)
    this.strictFaults.push(...duplicateFields(text, `[${index}].value`))
    return value
  }

  #text(key: Name): string | undefined {
    const type = this.#scanner.peekType()
    if (type === 'string') return this.#scanner.readString()
    if (type !== 'null') {
      this.fault ??= `json: cannot unmarshal ${type} into Go struct field jsonPatchOp.${key} of type string`
    }
    this.#scanner.skipValue()
    return undefined
  }
}

const isName = (key: string): key is Name => key === 'op' || key === 'path' || key === 'from'

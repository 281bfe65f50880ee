/**
 * What a definition has been accepted with stays accepted: a schema that an update leaves as it is is not looked at again, so that a
 * later server with stricter limits does not lock it, and expressions in one that changes may use all that this server knows.
 */
import { createHash } from 'node:crypto'
import { type Fields, fieldsOf, isFields, itemsOf, type Json, textOf } from '../../../api/object.ts'
import type { Slice } from '../../../cel/run.ts'
import type { Turns } from '../../../cel/turns.ts'
import { keyOfValue } from '../../../schema/structural/value.ts'

export const schemaOf = (holder: Fields[string]): Fields[string] => fieldsOf(holder)['openAPIV3Schema']

export const hasStatus = (subresources: Fields[string]): boolean => isFields(fieldsOf(subresources)['status'])

export class AcceptedSchemas {
  readonly #versions: readonly Fields[]
  #marks: ReadonlySet<string> | undefined
  #expressions: ReadonlySet<string> | undefined

  /** Undefined: the definition is new. */
  constructor(spec: Fields | undefined) {
    this.#versions = itemsOf(spec?.['versions'])
  }

  /** More is forbidden in the schema of an object whose status is a part of its own. There may be as many versions as schemas. */
  *has(schema: Fields, withStatus: boolean, slice: Slice): Turns<boolean> {
    if (this.#versions.length === 0) return false
    this.#marks ??= yield* this.#marksOf(slice)
    return this.#marks.has(`${withStatus} ${yield* digestInTurns(schema, slice)}`)
  }

  *#marksOf(slice: Slice): Turns<ReadonlySet<string>> {
    const marks = new Set<string>()
    for (const { schema, subresources } of this.#versions) {
      const own = schemaOf(schema)
      if (isFields(own)) marks.add(`${hasStatus(subresources)} ${yield* digestInTurns(own, slice)}`)
    }
    return marks
  }

  /** Old definitions may have versions without a schema, and go on so. */
  get lacksSome(): boolean {
    return this.#versions.some(({ schema }) => !isFields(schemaOf(schema)))
  }

  hasExpression(text: string): boolean {
    this.#expressions ??= new Set(this.#versions.flatMap(({ schema }) => expressionsIn(fieldsOf(schemaOf(schema)))))
    return this.#expressions.has(text)
  }
}

/** Of text that waits to be hashed: a call for each keyword would cost more than all else. */
const CHUNK_CHARACTERS = 16 << 10

/** The same of two schemas only if they say the same, in any order of their keywords. */
function* digestInTurns(schema: Fields, slice: Slice): Turns<string> {
  const hash = createHash('sha256')
  let text = ''
  for (const part of textsOfParts(schema)) {
    text += part
    if (text.length < CHUNK_CHARACTERS) continue
    hash.update(text)
    text = ''
    if (slice.isOver()) yield undefined
  }
  return hash.update(text).digest('base64')
}

function* textsOfParts(value: Json): Generator<string> {
  const names = isFields(value) ? Object.keys(value) : []
  if (!isFields(value) || !names.some((name) => isFields(value[name]))) {
    yield keyOfValue(value)
    return
  }
  yield '{'
  for (const name of names.toSorted()) {
    yield `${JSON.stringify(name)}:`
    yield* textsOfParts(value[name] ?? null)
    yield ','
  }
  yield '}'
}

function expressionsIn(schema: Fields): string[] {
  const parts = [...Object.values(fieldsOf(schema['properties'])), schema['items'], schema['additionalProperties']]
  return [
    ...itemsOf(schema['x-kubernetes-validations']).flatMap((one) => [
      textOf(one['rule']),
      textOf(one['messageExpression']),
    ]),
    ...parts.filter(isFields).flatMap(expressionsIn),
  ]
}

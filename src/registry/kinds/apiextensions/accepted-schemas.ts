/**
 * A schema that was accepted stays accepted: if an update does not change it, it is not validated
 * again, so that a later server with stricter limits does not block updates; and stored expressions
 * in a schema that changes may use the newest CEL environment.
 */
import { createHash } from 'node:crypto'
import { type Fields, fieldsOf, isFields, itemsOf, type Json, textOf } from '../../../api/object.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import type { Turns } from '../../../objects/cel/turns.ts'
import { keyOfValue } from '../../../objects/schema/structural/value.ts'

export const schemaOf = (holder: Fields[string]): Fields[string] =>
  fieldsOf(holder)['openAPIV3Schema']

export const hasStatus = (subresources: Fields[string]): boolean =>
  isFields(fieldsOf(subresources)['status'])

export class AcceptedSchemas {
  readonly #versions: readonly Fields[]
  #marks: ReadonlySet<string> | undefined
  #expressions: ReadonlySet<string> | undefined

  /** `spec` is undefined for a new CRD. */
  constructor(spec: Fields | undefined) {
    this.#versions = itemsOf(spec?.['versions'])
  }

  /**
   * With the subresource status more is forbidden at the root, so it is part of the key. Digests
   * are used since there may be many versions.
   */
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

  /** Old CRDs may have versions without a schema, and may keep them. */
  get lacksSome(): boolean {
    return this.#versions.some(({ schema }) => !isFields(schemaOf(schema)))
  }

  hasExpression(text: string): boolean {
    this.#expressions ??= new Set(
      this.#versions.flatMap(({ schema }) => expressionsIn(fieldsOf(schemaOf(schema)))),
    )
    return this.#expressions.has(text)
  }
}

/**
 * How much text is collected before it is hashed: a call for each keyword would cost more than all
 * else.
 */
const CHUNK_CHARACTERS = 16 << 10

/** Two schemas have the same digest only if they are equal, in any order of their keywords. */
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

/** The texts of lists with more items are made item by item. */
const ITEMS_AT_ONCE = 100

const isLongList = (value: Json | undefined): value is readonly Json[] =>
  Array.isArray(value) && value.length > ITEMS_AT_ONCE

function* textsOfParts(value: Json): Generator<string> {
  if (isLongList(value)) {
    yield '['
    // The generator is not called for the items: a value passes through as many generators as it is
    // deep.
    for (const item of value) yield `${keyOfValue(item)},`
    yield ']'
    return
  }
  const names = isFields(value) ? Object.keys(value) : []
  if (!isFields(value) || !names.some((name) => isFields(value[name]) || isLongList(value[name]))) {
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
  const parts = [
    ...Object.values(fieldsOf(schema['properties'])),
    schema['items'],
    schema['additionalProperties'],
  ]
  return [
    ...itemsOf(schema['x-kubernetes-validations']).flatMap((one) => [
      textOf(one['rule']),
      textOf(one['messageExpression']),
    ]),
    ...parts.filter(isFields).flatMap(expressionsIn),
  ]
}

/**
 * Remembers the schemas of the stored CRD. An update does not validate an unchanged schema again,
 * so that a later server with stricter limits does not block updates. In a changed schema, stored
 * expressions may use the newest CEL environment.
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

  /** Creates the lookup. `spec` is that of the stored CRD, or undefined for a new CRD. */
  constructor(spec: Fields | undefined) {
    this.#versions = itemsOf(spec?.['versions'])
  }

  /**
   * Whether the stored CRD has this schema. The status subresource forbids more keywords at the
   * root, so it is part of the key. Digests are compared, because there may be many versions.
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

  /** Whether a stored version has no schema. Old CRDs may have such versions, and may keep them. */
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
 * Number of characters that are collected before they are hashed. Hashing each keyword separately
 * would be slow.
 */
const CHUNK_CHARACTERS = 16 << 10

/**
 * Returns a digest of a schema. Two schemas have the same digest only if they are equal, whatever
 * the order of their keywords.
 */
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

/**
 * Length up to which the text of a list is made in one piece. Longer lists are printed item by
 * item.
 */
const ITEMS_AT_ONCE = 100

const isLongList = (value: Json | undefined): value is readonly Json[] =>
  Array.isArray(value) && value.length > ITEMS_AT_ONCE

function* textsOfParts(value: Json): Generator<string> {
  if (isLongList(value)) {
    yield '['
    // Do not call the generator for the items: a value passes through as many generators as it is
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

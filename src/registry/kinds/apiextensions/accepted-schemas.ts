/**
 * Finds out which schemas of a CRD are already stored. An update does not validate an unchanged
 * schema again. Otherwise a newer server with stricter limits could reject the update. In a changed
 * schema, unchanged expressions can use the newest CEL environment.
 */
import { createHash } from 'node:crypto'
import type { Gates } from '../../../api/gates.ts'
import { type Fields, fieldsOf, isFields, itemsOf, type Json, textOf } from '../../../api/object.ts'
import { type CelVersion, celVersionOf } from '../../../objects/cel/kubernetes.ts'
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

  /** The feature gates of the server. */
  readonly gates: Gates

  /** `spec` is the spec of the stored CRD, or undefined for a new CRD. */
  constructor(spec: Fields | undefined, gates: Gates) {
    this.gates = gates
    this.#versions = itemsOf(spec?.['versions'])
  }

  /**
   * Whether a version of the stored CRD has this schema and the same setting of the status
   * subresource. The setting matters because the subresource forbids more keywords at the root of
   * the schema. Digests are compared, because there can be many versions.
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

  /**
   * Whether a stored version has no schema. Versions of old CRDs can lack a schema, and can remain
   * without one.
   */
  get lacksSome(): boolean {
    return this.#versions.some(({ schema }) => !isFields(schemaOf(schema)))
  }

  /** Returns the version of the CEL environment for an expression. */
  celVersionOf(text: string): CelVersion {
    this.#expressions ??= new Set(
      this.#versions.flatMap(({ schema }) => expressionsIn(fieldsOf(schemaOf(schema)))),
    )
    return celVersionOf(this.gates, this.#expressions.has(text))
  }
}

/**
 * Number of characters that are buffered before they are hashed. Hashing each keyword separately
 * would be slow.
 */
const CHUNK_CHARACTERS = 16 << 10

/**
 * Returns a digest of a schema. Equal schemas have the same digest, even if their keywords are in a
 * different order.
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

/** Maximum length of a list that is hashed in one step. Longer lists are hashed item by item. */
const ITEMS_AT_ONCE = 100

const isLongList = (value: Json | undefined): value is readonly Json[] =>
  Array.isArray(value) && value.length > ITEMS_AT_ONCE

function* textsOfParts(value: Json): Generator<string> {
  if (isLongList(value)) {
    yield '['
    // Do not call this generator recursively for the items. With nested generators, each value
    // would pass through one generator for each level of nesting, which would be slow.
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

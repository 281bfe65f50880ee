/**
 * Generates random structural schemas of custom kinds with all keywords, list types, defaults and
 * rules. Some of these schemas are invalid.
 */
import { isRecord, type Json, type JsonObject } from '../../recorded/compat/json.ts'
import type { Choices } from './choices.ts'
import { customValue, words } from './custom-values.ts'
import { Expressions, type Grammar, type Scope } from './expressions.ts'
import { textAt } from './json-positions.ts'
import type { Values } from './values.ts'

export class SchemaMaker {
  readonly #choices: Choices
  readonly #values: Values
  readonly #grammar: Grammar

  constructor(choices: Choices, values: Values, grammar: Grammar) {
    this.#choices = choices
    this.#values = values
    this.#grammar = grammar
  }

  object(depth = 3): JsonObject {
    const names = this.#choices.some(words.texts('properties'), 0.45)
    const properties = Object.fromEntries(names.map((name) => [name, this.schema(depth - 1)]))
    const schema = { type: 'object', properties }
    return this.#choices.chance(0.25) ? { ...schema, ...this.#rules(schema) } : schema
  }

  schema(depth: number): JsonObject {
    const choices = this.#choices
    const schema = choices.weigh<() => JsonObject>(
      [depth > 0 ? 3 : 100, () => leafSchema(choices)],
      [3, () => this.#struct(depth)],
      [1.5, () => this.#map(depth)],
      [3, () => this.#list(depth)],
    )()
    if (choices.chance(0.12)) schema['nullable'] = true
    if (choices.chance(0.05)) schema['description'] = choices.pick(['d', '', 'ü'])
    if (choices.chance(0.04))
      schema[choices.pick(['anyOf', 'oneOf', 'allOf'])] = choices.pick(words.of('junctors'))
    if (choices.chance(0.03)) schema['not'] = choices.pick(words.of('negations'))
    if (choices.chance(0.15)) schema['default'] = this.#default(schema)
    return choices.chance(0.12) ? { ...schema, ...this.#rules(schema) } : schema
  }

  #default(schema: JsonObject): Json {
    const values = this.#values
    return this.#choices.chance(0.85)
      ? customValue(this.#choices, schema, { values, depth: 2, wrong: 0.02 })
      : values.any(this.#choices)
  }

  #struct(depth: number): JsonObject {
    const choices = this.#choices
    const names = choices.some(words.texts('properties'), 0.4)
    return {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, this.schema(depth - 1)])),
      ...optional(choices, {
        required: [0.3, () => choices.some(names, 0.4)],
        'x-kubernetes-map-type': [0.1, 'atomic', 'granular', 'x'],
        'x-kubernetes-preserve-unknown-fields': [0.1, true],
        minProperties: [0.08, 1],
        maxProperties: [0.08, 2],
      }),
    }
  }

  #map(depth: number): JsonObject {
    const additionalProperties = this.schema(depth - 1)
    return {
      type: 'object',
      additionalProperties,
      ...optional(this.#choices, { maxProperties: [0.4, 1, 5] }),
    }
  }

  #list(depth: number): JsonObject {
    const choices = this.#choices
    const sort = choices.weigh([3, 'plain'], [2, 'set'], [3, 'map'], [1, 'atomic'])
    const bounds = optional(choices, {
      maxItems: [0.5, 1, 3, 10],
      minItems: [0.1, 1],
      uniqueItems: [0.03, true, false],
    })
    if (sort === 'map') return { ...this.#listMap(depth), ...bounds }
    const scalar = { type: choices.pick(['string', 'integer', 'number', 'boolean']) }
    const items = sort === 'set' ? scalar : this.schema(depth - 1)
    return {
      type: 'array',
      items,
      ...(sort === 'plain' ? {} : { 'x-kubernetes-list-type': sort }),
      ...bounds,
    }
  }

  #listMap(depth: number): JsonObject {
    const choices = this.#choices
    const chosen = choices.some(['a', 'b', 'c'], 0.5)
    const keys = chosen.length === 0 ? ['a'] : chosen
    const keySchema = (): JsonObject => ({
      type: choices.pick(['string', 'integer', 'boolean']),
      ...optional(choices, { default: [0.2, 'a', 1] }),
    })
    const properties = {
      ...Object.fromEntries(keys.map((key) => [key, keySchema()])),
      v: this.schema(depth - 1),
    }
    return {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': keys,
      items: { type: 'object', properties, ...optional(choices, { required: [0.85, () => keys] }) },
    }
  }

  #rules(schema: JsonObject): JsonObject {
    const choices = this.#choices
    const scope: Scope = [
      ...scopeOf(schema, 'self'),
      ...(choices.chance(0.3) ? scopeOf(schema, 'oldSelf') : []),
    ]
    const expressions = new Expressions(choices, this.#grammar, scope, { wrong: 0.01 })
    const rules = Array.from({ length: choices.between(1, 2) }, () => ({
      rule: expressions.make('bool', choices.between(1, 2)),
      ...optional(choices, {
        message: [0.3, 'no'],
        messageExpression: [0.2, () => expressions.make('string', 1)],
        fieldPath: [0.2, '.a', '.b', '.a.b', '.c[0]'],
        reason: [0.1, 'FieldValueForbidden', 'FieldValueRequired'],
        optionalOldSelf: [0.15, true],
      }),
    }))
    return { 'x-kubernetes-validations': rules }
  }
}

/**
 * Maps each key of an object to the probability that it is present, followed by its possible
 * values.
 */
export type Optional = { readonly [key: string]: readonly [number, ...(Json | (() => Json))[]] }

export function optional(choices: Choices, given: Optional): JsonObject {
  const out: JsonObject = {}
  for (const [key, [chance, ...values]] of Object.entries(given)) {
    if (!choices.chance(chance)) continue
    const value = choices.pick(values)
    out[key] = typeof value === 'function' ? value() : value
  }
  return out
}

const leafSchema = (choices: Choices): JsonObject =>
  choices.weigh<() => JsonObject>(
    [4, () => ({ type: 'string', ...optional(choices, stringKeywords) })],
    [3, () => ({ type: 'integer', ...optional(choices, integerKeywords) })],
    [2, () => ({ type: 'number', ...optional(choices, numberKeywords) })],
    [2, () => ({ type: 'boolean' })],
    [1, () => ({ 'x-kubernetes-int-or-string': true, ...optional(choices, intOrStringKeywords) })],
    [
      0.7,
      () => ({
        'x-kubernetes-preserve-unknown-fields': true,
        ...optional(choices, { type: [0.5, 'object'] }),
      }),
    ],
    [
      0.3,
      () => ({
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      }),
    ],
  )()

const stringKeywords: Optional = {
  maxLength: [0.25, 0, 3, 10, 100],
  minLength: [0.15, 0, 1, 2],
  pattern: [0.15, ...words.of('patterns')],
  format: [0.25, ...words.of('formats')],
  enum: [0.1, ['a'], ['a', 'b', 'abc'], ['a', ''], []],
}
const integerKeywords: Optional = {
  minimum: [0.2, 0, -1, 1.5],
  maximum: [0.2, 5, 100, 1e20],
  exclusiveMinimum: [0.1, true, true, false],
  exclusiveMaximum: [0.1, true],
  multipleOf: [0.15, 2, 3, 0, -1, 0.5],
  format: [0.2, 'int32', 'int64', 'x'],
  enum: [0.1, [1, 2, 3]],
}
const numberKeywords: Optional = {
  minimum: [0.2, 0, 0.5],
  multipleOf: [0.15, 0.1, 0.01, 2],
  format: [0.2, 'float', 'double'],
}
const intOrStringKeywords: Optional = {
  anyOf: [0.3, [{ type: 'integer' }, { type: 'string' }]],
  pattern: [0.2, '^\\d+%?$'],
  maximum: [0.2, 10],
}

/**
 * Returns the CEL expressions from which a rule for this schema can be composed, each with its
 * type.
 */
function scopeOf(schema: Json | undefined, expression: string, depth = 3): Scope {
  if (!isRecord(schema)) return []
  const { type, properties, items, additionalProperties } = schema
  const scalar = scalars[textAt(schema, 'type')]
  if (scalar !== undefined)
    return [
      [expression, type === 'string' ? (formats[textAt(schema, 'format')] ?? scalar) : scalar],
    ]
  const element = isRecord(items)
    ? items
    : isRecord(additionalProperties)
      ? additionalProperties
      : undefined
  if (element?.['type'] === 'integer')
    return [[expression, type === 'array' ? 'list<int>' : 'map<string,int>']]
  if (type === 'array' && element?.['type'] === 'string' && element['format'] === undefined)
    return [[expression, 'list<string>']]
  if (depth === 0) return []
  if (element !== undefined)
    return scopeOf(element, `${expression}${type === 'array' ? '[0]' : "['a']"}`, depth - 1)
  return Object.entries(isRecord(properties) ? properties : {}).flatMap(([key, of]) =>
    scopeOf(of, `${expression}.${escaped[key] ?? key}`, depth - 1),
  )
}

const scalars: { readonly [type: string]: string } = {
  integer: 'int',
  number: 'double',
  boolean: 'bool',
  string: 'string',
}
const formats: { readonly [format: string]: string } = {
  'date-time': 'timestamp',
  date: 'timestamp',
  duration: 'duration',
  byte: 'bytes',
}
/** CEL names of properties that are reserved words or not valid identifiers. */
const escaped: { readonly [key: string]: string } = { 'x-y': 'x__dash__y', if: '__if__' }

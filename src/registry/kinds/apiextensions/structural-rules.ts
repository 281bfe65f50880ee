/**
 * Validates that a schema is structural: each field is specified exactly once, outside of allOf,
 * anyOf, oneOf and not. Schemas inside these keywords may restrict the values of fields, but not
 * add fields.
 */
import {
  FAULTS_MAX,
  type FieldFault,
  forbiddenField,
  invalidValue,
  required,
} from '../../../api/field-fault.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  listOf,
  omit,
  textOf,
} from '../../../api/object.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import { atOnce, type Turns } from '../../../objects/cel/turns.ts'
import { isEmpty } from '../../rules/rule.ts'

export function* validateStructural(
  schema: Fields,
  path: string,
  slice: Slice,
): Turns<FieldFault[]> {
  const faults: FieldFault[] = []
  yield* visit(schema, 'root', { path, faults, slice })
  for (const { part, at } of junctorsOf(schema, path)) {
    yield* requireOutside(part, schema, { inner: at, path, faults, slice })
  }
  return sortFaults(faults)
}

/** Whether a schema is structural. Runs to completion without yielding to the event loop. */
export const isStructural = (schema: Fields): boolean =>
  atOnce((slice) => validateStructural(schema, '', slice)).length === 0

/** Sorts errors by their text. kube-apiserver does this for a schema that is not structural. */
export const sortFaults = (faults: readonly FieldFault[]): FieldFault[] =>
  faults
    .map((fault) => ({ fault, text: `${fault.path}: ${fault.message}` }))
    .toSorted((one, other) => (one.text < other.text ? -1 : 1))
    .map(({ fault }) => fault)

type Level = 'root' | 'item' | 'field'
type StructuralContext = {
  readonly path: string
  readonly faults: FieldFault[]
  readonly slice: Slice
}

const emptyType: { readonly [level in Level]: string } = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

function* visit(
  schema: Fields,
  level: Level,
  { path, faults, slice }: StructuralContext,
): Turns<void> {
  if (slice.isOver()) yield undefined
  if (faults.length >= FAULTS_MAX) return
  const { items, additionalProperties } = schema
  if (isFields(items)) yield* visit(items, 'item', { path: `${path}.items`, faults, slice })
  if (isFields(additionalProperties)) {
    yield* visit(additionalProperties, 'field', {
      path: `${path}.additionalProperties`,
      faults,
      slice,
    })
  }
  const properties = fieldsOf(schema['properties'])
  for (const name of Object.keys(properties)) {
    yield* visit(fieldsOf(properties[name]), 'field', {
      path: `${path}.properties[${name}]`,
      faults,
      slice,
    })
  }
  faults.push(
    ...validateType(schema, level, path),
    ...validateExtensions(schema, path),
    ...validateMeta(schema, level, path),
  )
  for (const { part, at, isTyped } of junctorsOf(schema, path)) {
    yield* refuseInside(part, { path: at, faults, slice }, isTyped)
  }
}

function validateType(schema: Fields, level: Level, path: string): FieldFault[] {
  const type = textOf(schema['type'])
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const isOpen =
    schema['x-kubernetes-int-or-string'] === true ||
    schema['x-kubernetes-preserve-unknown-fields'] === true
  const { additionalProperties } = schema
  const faults: FieldFault[] = []
  const isGiven = additionalProperties !== undefined && additionalProperties !== null
  if (isEmbedded && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true'
    faults.push(
      type === '' ? required(`${path}.type`, why) : invalidValue(`${path}.type`, type, why),
    )
  } else if (type === '' && !isOpen) faults.push(required(`${path}.type`, emptyType[level]))
  if (isGiven && isEmbedded) {
    faults.push(
      forbiddenField(
        `${path}.additionalProperties`,
        'must not be used if x-kubernetes-embedded-resource is set',
      ),
    )
  } else if (isGiven && level === 'root') {
    faults.push(forbiddenField(`${path}.additionalProperties`, 'must not be used at the root'))
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    faults.push(invalidValue(`${path}.type`, type, 'must be object at the root'))
  }
  const { items } = schema
  if (type === 'array' && !isFields(items) && !(Array.isArray(items) && items.length > 0)) {
    faults.push(required(`${path}.items`, 'must be specified'))
  }
  return faults
}

function validateExtensions(schema: Fields, path: string): FieldFault[] {
  const faults: FieldFault[] = []
  const notBoth = 'must be false if x-kubernetes-int-or-string is true'
  if (schema['x-kubernetes-int-or-string'] === true) {
    for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource']) {
      if (schema[name] === true) faults.push(invalidValue(`${path}.${name}`, true, notBoth))
    }
  }
  const items = fieldsOf(schema['items'])
  if (schema['x-kubernetes-list-type'] !== 'set') return faults
  const atomic = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const [mapType, listType] = [items['x-kubernetes-map-type'], items['x-kubernetes-list-type']]
  if (items['type'] === 'object' && mapType !== 'atomic') {
    faults.push(
      invalidValue(
        `${path}.items.x-kubernetes-map-type`,
        typeof mapType === 'string' ? mapType : null,
        atomic,
      ),
    )
  }
  if (items['type'] === 'array' && typeof listType === 'string' && listType !== 'atomic') {
    faults.push(invalidValue(`${path}.items.x-kubernetes-list-type`, listType, atomic))
  }
  return faults
}

/**
 * Validates the schemas of kind, apiVersion and metadata. These fields need no schema, and their
 * schemas can have only a few keywords.
 */
function validateMeta(schema: Fields, level: Level, path: string): FieldFault[] {
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const { kind, apiVersion, metadata } = fieldsOf(schema['properties'])
  const faults: FieldFault[] = []
  if (isEmbedded || level === 'root') {
    for (const [name, own] of Object.entries({ kind, apiVersion })) {
      const type = textOf(fieldsOf(own)['type'])
      if (isFields(own) && type !== 'string') {
        faults.push(invalidValue(`${path}.properties[${name}].type`, type, 'must be string'))
      }
    }
    const type = textOf(fieldsOf(metadata)['type'])
    if (isFields(metadata) && type !== 'object') {
      faults.push(invalidValue(`${path}.properties[metadata].type`, type, 'must be object'))
    }
  }
  if (level === 'root' && isFields(metadata) && !isPlainMetadata(metadata)) {
    const why =
      'must not specify anything other than name and generateName, but metadata is implicitly specified'
    faults.push(forbiddenField(`${path}.properties[metadata]`, why))
  }
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true
  if (isEmbedded && !isOpen && isEmpty(schema['properties'])) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    faults.push(required(`${path}.properties`, why))
  }
  return faults
}

function isPlainMetadata(schema: Fields): boolean {
  const names = Object.keys(fieldsOf(schema['properties']))
  const isNamesOnly = names.every((name) => name === 'name' || name === 'generateName')
  return isNamesOnly && Object.values(omit(schema, 'properties', 'type', 'default')).every(isEmpty)
}

type Part = { readonly part: Fields; readonly at: string; readonly isTyped: boolean }

/**
 * Yields the schemas inside allOf, anyOf, oneOf and not. These schemas must not have a type. The
 * only exception is an anyOf that consists of the types integer and string
 * (x-kubernetes-int-or-string).
 */
function* junctorsOf(schema: Fields, path: string): Generator<Part> {
  for (const name of ['allOf', 'anyOf', 'oneOf']) {
    const isTyped = name === 'anyOf' && isIntOrString(schema['anyOf'])
    for (const [at, part] of listOf(schema[name]).entries()) {
      yield { part: fieldsOf(part), at: `${path}.${name}[${at}]`, isTyped }
    }
  }
  if (isFields(schema['not'])) yield { part: schema['not'], at: `${path}.not`, isTyped: false }
}

/**
 * Yields the direct subschemas of a schema, except those of its properties. This is a generator
 * because the number of subschemas can be large.
 */
export function* subschemasOf(schema: Fields): Generator<Json | undefined> {
  const { items, additionalProperties, not, allOf, anyOf, oneOf } = schema
  yield items
  yield additionalProperties
  yield not
  for (const list of [allOf, anyOf, oneOf]) yield* listOf(list)
}

function isIntOrString(anyOf: Json | undefined): boolean {
  if (listOf(anyOf).length !== 2) return false
  const types = itemsOf(anyOf).map(({ type, ...rest }) =>
    Object.values(rest).every(isEmpty) ? type : '',
  )
  return types[0] === 'integer' && types[1] === 'string'
}

const mustBeEmpty = [
  'type',
  'title',
  'description',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-validations',
]
const mustBeAbsent = [
  'additionalProperties',
  'default',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
]
const mustBeFalse = [
  'nullable',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
]

function* refuseInside(
  schema: Fields,
  { path, faults, slice }: StructuralContext,
  isTyped: boolean,
): Turns<void> {
  if (slice.isOver()) yield undefined
  if (faults.length >= FAULTS_MAX) return
  const refuse = (names: readonly string[], how: string): void => {
    for (const name of names) {
      const value = schema[name]
      const isThere = how === 'undefined' ? value !== undefined && value !== null : !isEmpty(value)
      if (isThere && !(isTyped && name === 'type')) {
        faults.push(forbiddenField(`${path}.${name}`, `must be ${how} to be structural`))
      }
    }
  }
  refuse(mustBeEmpty, 'empty')
  refuse(mustBeAbsent, 'undefined')
  refuse(mustBeFalse, 'false')
  const isFirstOfAll = path.endsWith('.allOf[0]')
  for (const { part, at, isTyped: isTypedAny } of junctorsOf(schema, path)) {
    yield* refuseInside(part, { path: at, faults, slice }, isTypedAny && isFirstOfAll)
  }
  if (isFields(schema['items']))
    yield* refuseInside(schema['items'], { path: `${path}.items`, faults, slice }, false)
  const properties = fieldsOf(schema['properties'])
  for (const name of Object.keys(properties)) {
    yield* refuseInside(
      fieldsOf(properties[name]),
      { path: `${path}.properties[${name}]`, faults, slice },
      false,
    )
    if (name === 'metadata') {
      faults.push(
        forbiddenField(`${path}.properties[metadata]`, 'must not be specified in a nested context'),
      )
    }
  }
}

/**
 * Requires that each field that is restricted inside allOf, anyOf, oneOf or not is also specified
 * outside of it.
 */
function* requireOutside(
  part: Fields,
  schema: Json | undefined,
  { inner, path, faults, slice }: StructuralContext & { readonly inner: string },
): Turns<void> {
  if (slice.isOver()) yield undefined
  if (faults.length >= FAULTS_MAX) return
  if (!isFields(schema))
    return void faults.push(required(path, `because it is defined in ${inner}`))
  for (const { part: nested, at } of junctorsOf(part, inner)) {
    yield* requireOutside(nested, schema, { inner: at, path, faults, slice })
  }
  if (isFields(part['items'])) {
    const below = { inner: `${inner}.items`, path: `${path}.items`, faults, slice }
    yield* requireOutside(part['items'], schema['items'], below)
  }
  const properties = fieldsOf(schema['properties'])
  const inside = fieldsOf(part['properties'])
  for (const name of Object.keys(inside)) {
    const outside = Object.hasOwn(properties, name) ? properties[name] : undefined
    const key = `properties[${name}]`
    yield* requireOutside(fieldsOf(inside[name]), outside, {
      inner: `${inner}.${key}`,
      path: `${path}.${key}`,
      faults,
      slice,
    })
  }
}

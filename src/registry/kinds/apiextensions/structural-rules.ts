/**
 * A schema is structural when it says of every field what it is, once: keywords inside of allOf, anyOf, oneOf and not only
 * restrict values.
 */
import { type FieldFault, forbiddenField, invalidValue, required } from '../../../api/field-fault.ts'
import { type Fields, fieldsOf, isFields, itemsOf, type Json, omit, textOf } from '../../../api/object.ts'
import type { Slice } from '../../../cel/run.ts'
import { atOnce, type Turns } from '../../../cel/turns.ts'
import { isEmpty } from '../../rules/rule.ts'

export function* validateStructural(schema: Fields, path: string, slice: Slice): Turns<FieldFault[]> {
  const faults: FieldFault[] = []
  yield* visit(schema, 'root', { path, faults, slice })
  visitJunctors(schema, { path, faults }, (part, at) => requireOutside(part, schema, { inner: at, path, faults }))
  return sortFaults(faults)
}

/** At once. */
export const isStructural = (schema: Fields): boolean =>
  atOnce((slice) => validateStructural(schema, '', slice)).length === 0

/** By their text, as upstream sorts those of a schema that is not structural. */
export const sortFaults = (faults: readonly FieldFault[]): FieldFault[] =>
  faults.toSorted((one, other) => (textOfFault(one) < textOfFault(other) ? -1 : 1))

const textOfFault = ({ path, message }: FieldFault): string => `${path}: ${message}`

type Level = 'root' | 'item' | 'field'
type Place = { readonly path: string; readonly faults: FieldFault[] }

const emptyType: { readonly [level in Level]: string } = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

type Visited = Place & { readonly slice: Slice }

function* visit(schema: Fields, level: Level, { path, faults, slice }: Visited): Turns<void> {
  if (slice.isOver()) yield undefined
  const { items, additionalProperties } = schema
  if (isFields(items)) yield* visit(items, 'item', { path: `${path}.items`, faults, slice })
  if (isFields(additionalProperties)) {
    yield* visit(additionalProperties, 'field', { path: `${path}.additionalProperties`, faults, slice })
  }
  for (const [name, property] of Object.entries(fieldsOf(schema['properties']))) {
    yield* visit(fieldsOf(property), 'field', { path: `${path}.properties[${name}]`, faults, slice })
  }
  faults.push(
    ...validateType(schema, level, path),
    ...validateExtensions(schema, path),
    ...validateMeta(schema, level, path),
  )
  visitJunctors(schema, { path, faults }, (part, at, isTyped) => refuseInside(part, { path: at, faults }, isTyped))
}

function validateType(schema: Fields, level: Level, path: string): FieldFault[] {
  const type = textOf(schema['type'])
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const isOpen =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true
  const { additionalProperties } = schema
  const faults: FieldFault[] = []
  const isGiven = additionalProperties !== undefined && additionalProperties !== null
  if (isEmbedded && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true'
    faults.push(type === '' ? required(`${path}.type`, why) : invalidValue(`${path}.type`, type, why))
  } else if (type === '' && !isOpen) faults.push(required(`${path}.type`, emptyType[level]))
  if (isGiven && isEmbedded) {
    faults.push(
      forbiddenField(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'),
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
      invalidValue(`${path}.items.x-kubernetes-map-type`, typeof mapType === 'string' ? mapType : null, atomic),
    )
  }
  if (items['type'] === 'array' && typeof listType === 'string' && listType !== 'atomic') {
    faults.push(invalidValue(`${path}.items.x-kubernetes-list-type`, listType, atomic))
  }
  return faults
}

/** What all objects have needs no schema, and can have little of one. */
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
    const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
    faults.push(forbiddenField(`${path}.properties[metadata]`, why))
  }
  const isVague = schema['x-kubernetes-preserve-unknown-fields'] !== true && isEmpty(schema['properties'])
  if (isEmbedded && isVague) {
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

type Part = (part: Fields, path: string, isTyped: boolean) => void

/** A number that may be a text says so with types, in exactly one way: they are the only types inside of anything. */
function visitJunctors(schema: Fields, { path }: Place, visitPart: Part): void {
  const isTypedAny = isIntOrString(schema['anyOf'])
  for (const [at, part] of itemsOf(schema['allOf']).entries()) visitPart(part, `${path}.allOf[${at}]`, false)
  for (const [at, part] of itemsOf(schema['anyOf']).entries()) visitPart(part, `${path}.anyOf[${at}]`, isTypedAny)
  for (const [at, part] of itemsOf(schema['oneOf']).entries()) visitPart(part, `${path}.oneOf[${at}]`, false)
  if (isFields(schema['not'])) visitPart(schema['not'], `${path}.not`, false)
}

function isIntOrString(anyOf: Json | undefined): boolean {
  const types = itemsOf(anyOf).map(({ type, ...rest }) => (Object.values(rest).every(isEmpty) ? type : ''))
  return types.length === 2 && types[0] === 'integer' && types[1] === 'string'
}

const mustBeEmpty = ['type', 'title', 'description', 'x-kubernetes-list-map-keys', 'x-kubernetes-validations']
const mustBeAbsent = ['additionalProperties', 'default', 'x-kubernetes-list-type', 'x-kubernetes-map-type']
const mustBeFalse = [
  'nullable',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
]

function refuseInside(schema: Fields, place: Place, isTyped: boolean): void {
  const { path, faults } = place
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
  visitJunctors(schema, place, (part, at, isTypedAny) =>
    refuseInside(part, { path: at, faults }, isTypedAny && isFirstOfAll),
  )
  if (isFields(schema['items'])) refuseInside(schema['items'], { path: `${path}.items`, faults }, false)
  for (const [name, property] of Object.entries(fieldsOf(schema['properties']))) {
    refuseInside(fieldsOf(property), { path: `${path}.properties[${name}]`, faults }, false)
    if (name === 'metadata') {
      faults.push(forbiddenField(`${path}.properties[metadata]`, 'must not be specified in a nested context'))
    }
  }
}

/** What is restricted inside must also be said outside. */
function requireOutside(
  part: Fields,
  schema: Json | undefined,
  { inner, path, faults }: Place & { readonly inner: string },
): void {
  if (!isFields(schema)) return void faults.push(required(path, `because it is defined in ${inner}`))
  visitJunctors(part, { path: inner, faults }, (nested, at) =>
    requireOutside(nested, schema, { inner: at, path, faults }),
  )
  if (isFields(part['items'])) {
    requireOutside(part['items'], schema['items'], { inner: `${inner}.items`, path: `${path}.items`, faults })
  }
  const properties = fieldsOf(schema['properties'])
  for (const [name, property] of Object.entries(fieldsOf(part['properties']))) {
    const outside = Object.hasOwn(properties, name) ? properties[name] : undefined
    const key = `properties[${name}]`
    requireOutside(fieldsOf(property), outside, { inner: `${inner}.${key}`, path: `${path}.${key}`, faults })
  }
}

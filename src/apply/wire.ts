/**
 * An object as the JSON that clients see of it, but as values: with the zero values that are always written, without the empty
 * ones that never are. Owners are decided on what is written, not on what an object holds in memory.
 */
import { type Fields, isFields, type Json, type KubeObject } from '../api/object.ts'
import { JsonMap } from '../api/json-map.ts'
import { JsonScanner } from '../api/json-scanner.ts'
import { readAny } from '../codec/json.ts'
import type { Field, Schema, Struct } from '../schema/schema.ts'
import { isNothing } from './value.ts'

/** Without managedFields, which nobody owns. */
export function wireOf(object: KubeObject, struct: Struct): Fields {
  const { managedFields, ...metadata } = object.metadata
  const plain = managedFields === undefined ? object : { ...object, metadata }
  return structWire(plain, struct)
}

function structWire(value: Fields, struct: Struct): Fields {
  const wire: { [name: string]: Json } = {}
  for (const field of struct.fields) {
    const shown = fieldWire(value[field.name] ?? null, field)
    if (shown !== undefined) wire[field.name] = shown
  }
  return wire
}

/** Undefined: not written. */
function fieldWire(given: Json, field: Field): Json | undefined {
  const { schema, omit, isPointer } = field
  if (given === null) return omit === 'never' ? zeroOf(schema, isPointer) : undefined
  const wire = valueWire(given, schema)
  if (omit === 'absent' || isPointer || !isEmpty(wire)) return wire
  if (omit === 'empty') return undefined
  return schema.type === 'list' || schema.type === 'map' ? null : wire
}

const isEmpty = (value: Json): boolean =>
  value === '' || value === 0 || value === false || (value !== null && isNothing(value))

function valueWire(value: Json, schema: Schema): Json {
  switch (schema.type) {
    case 'struct':
      return structWire(isFields(value) ? value : {}, schema)
    case 'list':
      return isPlain(schema.of) || !Array.isArray(value) ? value : value.map((item: Json) => itemWire(item, schema.of))
    case 'map': {
      if (isPlain(schema.of) || !isFields(value)) return value
      const wire = new JsonMap()
      for (const [key, item = null] of Object.entries(value)) wire[key] = itemWire(item, schema.of)
      return wire
    }
    case 'raw':
      return typeof value === 'string' ? readAny(new JsonScanner(value)) : value
    case 'any':
    case 'string':
    case 'bytes':
    case 'boolean':
    case 'int32':
    case 'int64':
    case 'float64':
    case 'time':
    case 'microTime':
    case 'quantity':
    case 'intOrString':
      return value
  }
}

const itemWire = (item: Json, of: Schema): Json => (item === null ? zeroOf(of, false) : valueWire(item, of))

/** In memory as on the wire. */
const isPlain = ({ type }: Schema): boolean => type !== 'struct' && type !== 'list' && type !== 'map' && type !== 'raw'

function zeroOf(schema: Schema, isPointer: boolean): Json {
  if (isPointer) return null
  switch (schema.type) {
    case 'struct':
      return structWire({}, schema)
    case 'string':
    case 'bytes':
      return ''
    case 'boolean':
      return false
    case 'int32':
    case 'int64':
    case 'float64':
    case 'intOrString':
      return 0
    case 'quantity':
      return '0'
    case 'any':
    case 'list':
    case 'map':
    case 'raw':
    case 'time':
    case 'microTime':
      return null
  }
}

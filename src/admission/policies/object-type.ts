/**
 * Builds the CEL types of objects for type checks. As in kube-apiserver, the types are derived from
 * the published schemas: expressions cannot use a field whose schema has no type, such as a
 * quantity.
 */
import { lazyStruct } from '../../objects/cel/schema-type.ts'
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  list,
  map,
  string,
  timestamp,
  type Type,
} from '../../objects/cel/types.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Schema, Struct } from '../../objects/schema/schema.ts'
import type { Structural } from '../../objects/schema/structural/structural.ts'

/** Returns the type of the objects of a resource. Nested types are named after the kind. */
export function objectTypeOf({ kind, shape: { struct } }: Resource): Type | undefined {
  if (struct.open === undefined) return structType(struct, kind, new Set())
  const metadata = struct.byName.get('metadata')?.schema
  return structuralType({ ...struct.open(), isEmbedded: true }, kind, metadata)
}

/**
 * Returns the type of a struct. `above` has the structs that contain this struct. If a struct
 * contains itself, the type of the inner struct has no fields.
 */
function structType(struct: Struct, name: string, above: ReadonlySet<Struct>): Type {
  if (above.has(struct))
    return lazyStruct(name, { has: () => false, keys: () => [], typeOf: () => undefined })
  const inside = new Set([...above, struct])
  return lazyStruct(name, {
    has: (key) => struct.byName.has(key),
    keys: () => struct.byName.keys(),
    typeOf: (key, of) => {
      const field = struct.byName.get(key)
      return field && schemaType(field.schema, of, inside)
    },
  })
}

function schemaType(schema: Schema, name: string, above: ReadonlySet<Struct>): Type | undefined {
  switch (schema.type) {
    case 'struct':
      return structType(schema, name, above)
    case 'list': {
      const element = schemaType(schema.of, `${name}.@idx`, above)
      return element && list(element)
    }
    case 'map': {
      const value = schemaType(schema.of, `${name}.@elem`, above)
      return value && map(string, value)
    }
    // In the published schemas, a RawExtension is an object without fields.
    case 'raw':
      return lazyStruct(name, { has: () => false, keys: () => [], typeOf: () => undefined })
    case 'any':
    case 'quantity':
      return undefined
    case 'string':
      return string
    case 'boolean':
      return bool
    case 'int32':
    case 'int64':
      return int
    case 'float64':
      return double
    case 'bytes':
      return bytes
    case 'time':
    case 'microTime':
      return timestamp
    case 'intOrString':
      return dyn
  }
}

/**
 * Returns the CEL type of a schema in a CustomResourceDefinition. `metadata` is the schema of
 * ObjectMeta. It replaces any description of metadata in the schema, even for embedded objects.
 */
function structuralType(
  schema: Structural,
  name: string,
  metadata: Schema | undefined,
): Type | undefined {
  const { types, items, additional, properties, isEmbedded } = schema
  const [type = ''] = types
  if (types.length > 1) return dyn
  switch (type) {
    case 'array': {
      const element = items && structuralType(items, `${name}.@idx`, metadata)
      return element && list(element)
    }
    case 'object':
      if (typeof additional === 'object' && !isEmbedded) {
        const value = structuralType(additional, `${name}.@elem`, metadata)
        return value && map(string, value)
      }
      return lazyStruct(name, {
        has: (key) => properties?.has(key) === true,
        keys: () => properties?.keys() ?? [],
        ...(isEmbedded ? { always: objectFields } : {}),
        typeOf: (key, of) => {
          if (isEmbedded && objectFields.has(key)) {
            return key === 'metadata' && metadata !== undefined
              ? schemaType(metadata, of, new Set())
              : string
          }
          const property = properties?.get(key)
          return property && structuralType(property, of, metadata)
        },
      })
    case 'string':
      return formats.get(schema.checks?.format ?? '') ?? string
    case 'boolean':
      return bool
    case 'number':
      return double
    case 'integer':
      return int
    default:
      return undefined
  }
}

const objectFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

const formats: ReadonlyMap<string, Type> = new Map([
  ['byte', bytes],
  ['duration', duration],
  ['date', timestamp],
  ['date-time', timestamp],
])

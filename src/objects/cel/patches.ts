/**
 * The types that expressions of mutating policies can construct: JSON patch operations, and objects
 * such as `Object` and `Object.spec`, whose fields are not declared.
 */
import { sizeOf, TEXT_FACTOR, traversal } from './cost.ts'
import type { Environment, Library } from './environment.ts'
import { global } from './functions.ts'
import { scaled, unknownSize } from './ranges.ts'
import { dyn, type FieldType, string, type StructType } from './types.ts'
import { CelError, noSuchOverload, typeNameOf, type Value } from './values.ts'

const operationFields: ReadonlyMap<string, FieldType> = new Map([
  ['op', { key: 'op', type: string }],
  ['path', { key: 'path', type: string }],
  ['from', { key: 'from', type: string }],
  ['value', { key: 'value', type: dyn }],
])

export const jsonPatchType: StructType = {
  kind: 'struct',
  name: 'JSONPatch',
  field: (name) => operationFields.get(name),
}

/**
 * Returns an error if a field that must be a string is not one. The type checker does not detect
 * this for values of type dyn.
 */
export function operationFault(fields: ReadonlyMap<string, Value>): CelError | undefined {
  for (const [name, value] of fields) {
    if (name === 'value' || typeof value === 'string') continue
    const type = goTypes.get(typeNameOf(value)) ?? typeNameOf(value)
    return new CelError(`unexpected type ${type} for JSONPatchType '${name}' field`)
  }
  return undefined
}

const goTypes: ReadonlyMap<string, string> = new Map([
  ['int', 'int64'],
  ['uint', 'uint64'],
  ['double', 'float64'],
  ['bytes', '[]uint8'],
  ['null_type', 'structpb.NullValue'],
  ['list', '[]interface {}'],
  ['map', 'map[string]interface {}'],
])

/**
 * Returns the type of an object. Its name is the path of the field that has this type, such as
 * `Object.spec.template`.
 */
const objectTypeOf = (name: string): StructType => ({
  kind: 'struct',
  name,
  field: (key) => ({ key, type: dyn }),
})

export const objectType: StructType = objectTypeOf('Object')

export const jsonPatchLibrary: Library = {
  functions: [
    {
      name: 'jsonpatch.escapeKey',
      overloads: [global('string_jsonpatch_escapeKey_string', [string], string)],
      run: (text) =>
        typeof text === 'string'
          ? text.replaceAll('~', '~0').replaceAll('/', '~1')
          : noSuchOverload,
      estimate: ([text]) => {
        const size = text?.size ?? unknownSize
        return { cost: scaled(size, TEXT_FACTOR), size }
      },
      cost: ([text = null]) => traversal(sizeOf(text)),
    },
  ],
}

export const withPatchTypes = (environment: Environment): Environment => ({
  ...environment,
  objects: (name) => {
    if (name === jsonPatchType.name) return jsonPatchType
    return name === objectType.name || name.startsWith(`${objectType.name}.`)
      ? objectTypeOf(name)
      : undefined
  },
})

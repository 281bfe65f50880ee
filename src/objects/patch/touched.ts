/**
 * Creates the JSON tree into which a strategic merge patch is merged. Only fields that the patch
 * contains are printed and converted to a tree. All other fields stay decoded. The merge does not
 * read them, and restore.ts recognizes them.
 */
import { JsonMap } from '../../api/json-map.ts'
import { JsonScanner } from '../../api/json-scanner.ts'
import { type Fields, fieldsOf, isFields, type Json } from '../../api/object.ts'
import { readAny } from '../../api/json-value.ts'
import { printFields } from '../codec/print.ts'
import type { Schema, Struct } from '../schema/schema.ts'

export function touchedTree(value: Fields, patch: JsonMap, struct: Struct): JsonMap {
  const tree = new JsonMap()
  const isTouched = new Set(Object.keys(patch).map(fieldOfKey))
  for (const { name, schema } of struct.fields) {
    const own = value[name]
    const shown = isTouched.has(name) ? touched(own, patch[name], { name, schema, struct }) : own
    if (shown !== undefined) tree[name] = shown
  }
  return tree
}

/**
 * Returns the field to which a key of a patch belongs, such as `finalizers` for
 * `$setElementOrder/finalizers`.
 */
const fieldOfKey = (key: string): string =>
  key.startsWith('$') ? key.slice(key.indexOf('/') + 1) : key

type StructField = { readonly name: string; readonly schema: Schema; readonly struct: Struct }

/**
 * Returns the JSON tree of a field that the patch contains. Undefined if the field is omitted in
 * JSON.
 */
function touched(
  own: Json | undefined,
  patch: Json | undefined,
  { name, schema, struct }: StructField,
): Json | undefined {
  if (schema.type === 'struct' && isFields(own) && patch instanceof JsonMap)
    return touchedTree(own, patch, schema)
  const text = `{${printFields({ [name]: own }, struct, 0)}}`
  return fieldsOf(readAny(new JsonScanner(text)))[name]
}

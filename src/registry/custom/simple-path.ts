/** Paths of scales and selectable fields. They consist of field names only: `.spec.a.b`. */
import { type Fields, isFields, type Json } from '../../api/object.ts'

export const readPath = (path: string): readonly string[] => path.replace(/^\./, '').split('.')

export function valueAtPath(object: Fields, names: readonly string[]): Json | undefined {
  let value: Json | undefined = object
  for (const name of names)
    value = isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return value
}

/** Returns a copy with the value at the path. Missing objects along the path are created. */
export function withValueAt(object: Fields, names: readonly string[], value: Json): Fields {
  const [name, ...rest] = names
  if (name === undefined) return object
  const below = Object.hasOwn(object, name) ? object[name] : undefined
  return {
    ...object,
    [name]: rest.length === 0 ? value : withValueAt(isFields(below) ? below : {}, rest, value),
  }
}

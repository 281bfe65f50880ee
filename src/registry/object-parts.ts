/**
 * Functions that read a field of an object, or return a copy of the object with a field added,
 * removed or replaced. The given object is not modified.
 */
import { type Fields, isFields, type Json, type KubeObject } from '../api/object.ts'

export function without(object: KubeObject, name: string): KubeObject {
  if (object[name] === undefined) return object
  const { [name]: _, ...rest } = object
  return { ...rest, kind: object.kind, apiVersion: object.apiVersion, metadata: object.metadata }
}

export const withField = (object: KubeObject, name: string, value: Json | undefined): KubeObject =>
  value === undefined ? without(object, name) : { ...object, [name]: value }

export const withGeneration = (object: KubeObject, generation: number): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, generation },
})

/** Returns the value at a path such as `spec.nodeName`. */
export function valueAt(object: Fields, path: string): Json | undefined {
  let value: Json | undefined = object
  for (const name of path.split('.'))
    value = isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return value
}

/** Copies of objects with a field added, removed or replaced. The given object is not modified. */
import type { Json, KubeObject } from '../api/object.ts'

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

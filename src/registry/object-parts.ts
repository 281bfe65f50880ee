/** Objects with one part more, less or other. The one that is given stays as it is. */
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

/** The sample objects of a kind and their paths. */
import { isRecord } from '../../recorded/compat/json.ts'
import type { Fields } from '../every-kind.ts'
import { type FieldDefinition, fields, type FieldVersion } from './fetch.ts'
import { given } from './given.ts'
import { type SampleForm, sampleOf } from './sample.ts'

/** Namespace of all namespaced objects. */
export const NAMESPACE = 'field'

/**
 * Returns a sample object, which is the same for each call. Its name consists of `purpose` and the
 * version, unless the kind requires a specific name.
 */
export function sampleObject(
  definition: FieldDefinition,
  version: FieldVersion,
  { form, purpose }: { readonly form: SampleForm; readonly purpose: string },
): Fields {
  const { group, kind, name } = definition
  const { metadata: _metadata, ...sample } = fields(sampleOf(version.schema, form).value)
  const head = {
    apiVersion: `${group}/${version.name}`,
    kind,
    metadata: { name: `${purpose}-${version.name}` },
  }
  const object = { ...sample, ...head }
  return form === 'full' ? object : merged(object, given.get(name) ?? {})
}

/** Merges two values. Objects are merged field by field. All other values are replaced. */
function merged(one: Fields, other: Fields): Fields {
  const made: Record<string, unknown> = { ...one }
  for (const [key, value] of Object.entries(other)) {
    made[key] = isRecord(value) ? merged(fields(made[key]), value) : value
  }
  return made
}

export function collectionPath(
  { group, plural, isNamespaced }: FieldDefinition,
  { name }: FieldVersion,
): string {
  return `/apis/${group}/${name}${isNamespaced ? `/namespaces/${NAMESPACE}` : ''}/${plural}`
}

export const nameOf = (object: Fields): string => String(fields(object['metadata'])['name'])

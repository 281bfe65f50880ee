/** The sample objects of a kind, and where they are. */
import { isRecord } from '../../recorded/compat/json.ts'
import type { Fields } from '../every-kind.ts'
import { type FieldDefinition, fields, type FieldVersion } from './fetch.ts'
import { given } from './given.ts'
import { type SampleForm, sampleOf } from './sample.ts'

/** Where all that lives in a namespace does. */
export const NAMESPACE = 'field'

/**
 * The same for each call: `purpose` and the version make the name, unless only one name will do.
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

/** Objects field by field, all else as a whole. */
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

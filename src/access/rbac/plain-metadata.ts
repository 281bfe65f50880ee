/**
 * Determines whether stored metadata is plain. Plain metadata contains only common fields, with the
 * right types, in the form in which this server writes them.
 */
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { parseTime } from '../../api/time.ts'

type IsOfType = (value: Json | undefined) => boolean
type Types = ReadonlyMap<string, IsOfType>

export const isText: IsOfType = (value) => typeof value === 'string'

/**
 * Whether the metadata is plain. Returns false if it has rarely used fields, which only the slower
 * decoder handles.
 */
export function isPlainMetadata(json: string): boolean {
  try {
    const metadata: Json = JSON.parse(json)
    return isFields(metadata) && hasTypes(metadata, metadataTypes)
  } catch {
    // The metadata is not valid JSON. The caller then uses the decoder, which reports the error.
    return false
  }
}

function hasTypes(fields: Fields, types: Types): boolean {
  for (const name in fields) if (types.get(name)?.(fields[name]) !== true) return false
  return true
}

const isTime: IsOfType = (value) => typeof value === 'string' && 'text' in parseTime(value)
const isTexts: IsOfType = (value) => isFields(value) && Object.values(value).every(isText)
const isListOf =
  (types: Types): IsOfType =>
  (value) =>
    Array.isArray(value) && value.every((one) => isFields(one) && hasTypes(one, types))
const isBoolean: IsOfType = (value) => typeof value === 'boolean'

const textNames = (...names: readonly string[]): [string, IsOfType][] =>
  names.map((name) => [name, isText])

const ownerTypes: Types = new Map([
  ...textNames('apiVersion', 'kind', 'name', 'uid'),
  ['controller', isBoolean],
  ['blockOwnerDeletion', isBoolean],
])

const managedTypes: Types = new Map([
  ...textNames('manager', 'operation', 'apiVersion', 'fieldsType', 'subresource'),
  ['time', isTime],
  ['fieldsV1', isFields],
])

const metadataTypes: Types = new Map([
  ...textNames('name', 'generateName', 'namespace', 'uid', 'resourceVersion'),
  ['creationTimestamp', isTime],
  ['labels', isTexts],
  ['annotations', isTexts],
  ['ownerReferences', isListOf(ownerTypes)],
  ['managedFields', isListOf(managedTypes)],
])

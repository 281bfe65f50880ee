/**
 * Validates embedded resources. Their kind, apiVersion and metadata must be valid whatever their
 * schema says.
 */
import { type FieldFault, invalidValue, required } from '../../../api/field-fault.ts'
import { checkPathSegment } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  type ObjectMeta,
  textOf,
} from '../../../api/object.ts'
import { addAll } from '../../../lib/scheduling/long-lists.ts'
import type { Structural } from '../../../objects/schema/structural/structural.ts'
import { validateMetadata } from '../../metadata.ts'
import { validateKind } from './crd-names.ts'

/**
 * Validates all embedded resources in a value. `path` is the path of the value. With `isObject`,
 * the value itself is an embedded resource.
 */
export function validateEmbedded(
  value: Json,
  schema: Structural,
  path = '',
  isObject = schema.isEmbedded,
): FieldFault[] {
  const faults: FieldFault[] = []
  visit(value, schema, { path, faults, isObject })
  return faults
}

type EmbeddedContext = {
  readonly path: string
  readonly faults: FieldFault[]
  readonly isObject: boolean
}

function visit(value: Json, schema: Structural, { path, faults, isObject }: EmbeddedContext): void {
  if (!isObject && !schema.holds.embedded) return
  if (Array.isArray(value)) {
    const { items } = schema
    if (items === undefined) return
    for (const [at, item] of value.entries()) {
      visit(item, items, { path: `${path}[${at}]`, faults, isObject: items.isEmbedded })
    }
  } else if (isFields(value)) {
    if (isObject) addAll(faults, validateObject(value, path === '' ? '' : `${path}.`))
    for (const [name, field = null] of Object.entries(value)) {
      const property = schema.properties?.get(name)
      const own = property ?? schema.additional
      if (typeof own !== 'object') continue
      const inner =
        property === undefined ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
      visit(field, own, { path: inner, faults, isObject: own.isEmbedded })
    }
  }
}

function validateObject(object: Fields, prefix: string): FieldFault[] {
  const [apiVersion, kind] = [textOf(object['apiVersion']), textOf(object['kind'])]
  const isVersion = apiVersion.split('/').length <= 2
  return [
    ...(apiVersion === '' ? [emptyFault(object, `${prefix}apiVersion`, 'apiVersion')] : []),
    ...(isVersion
      ? []
      : [
          invalidValue(
            `${prefix}apiVersion`,
            apiVersion,
            `unexpected GroupVersion string: ${apiVersion}`,
          ),
        ]),
    ...(kind === ''
      ? [emptyFault(object, `${prefix}kind`, 'kind')]
      : validateKind(kind, `${prefix}kind`)),
    ...validateObjectMetadata(fieldsOf(object['metadata'])).map((fault) => ({
      ...fault,
      path: prefix + fault.path,
    })),
  ]
}

/** Returns the error for an empty field. It differs from the error for an absent field. */
const emptyFault = (object: Fields, path: string, name: string): FieldFault =>
  object[name] === undefined
    ? required(path, 'must not be empty')
    : invalidValue(path, '', 'must not be empty')

/**
 * Validates the metadata of an embedded resource. Unlike other objects, it does not need a name.
 */
function validateObjectMetadata(given: Fields): FieldFault[] {
  const metadata: ObjectMeta = { ...given, name: textOf(given['name']) || 'unnamed' }
  return validateMetadata(metadata, {
    isNamespaced: textOf(given['namespace']) !== '',
    checkName: checkPathSegment,
  })
}

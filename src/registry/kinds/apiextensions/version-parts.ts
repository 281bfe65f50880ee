/**
 * Validates all parts of a version except the schema: subresources, columns, selectable fields, and
 * the deprecation warning.
 */
import {
  duplicate,
  faultsOfEach,
  type FieldFault,
  invalidValue,
  required,
  tooMany,
} from '../../../api/field-fault.ts'
import { type Fields, fieldsOf, isFields, type Json, textOf } from '../../../api/object.ts'
import { once } from '../../../lib/scheduling/parts.ts'

const WARNING_BYTES_MAX = 256
export const SELECTABLE_FIELDS_MAX = 8

export function validateDeprecation(
  { deprecated, deprecationWarning }: Fields,
  path: string,
): FieldFault[] {
  if (typeof deprecationWarning !== 'string') return []
  const refuse = (why: string): FieldFault => invalidValue(path, deprecationWarning, why)
  const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(deprecationWarning)
  const faults: FieldFault[] = []
  if (deprecated !== true) faults.push(refuse('can only be set for deprecated versions'))
  if (deprecationWarning === '') faults.push(refuse('must not be an empty string'))
  if (Buffer.byteLength(deprecationWarning) > WARNING_BYTES_MAX) {
    faults.push(refuse(`must be <= ${WARNING_BYTES_MAX} characters long`))
  }
  if (unprintable !== null) {
    const at = Buffer.byteLength(deprecationWarning.slice(0, unprintable.index))
    faults.push(
      refuse(
        `must only contain printable UTF-8 characters; non-printable character found at index ${at}`,
      ),
    )
  }
  return faults
}

export function validateSubresources(subresources: Json | undefined, path: string): FieldFault[] {
  const { scale } = fieldsOf(subresources)
  if (!isFields(scale)) return []
  const at = (name: string): string => `${path}.scale.${name}`
  const selector = textOf(scale['labelSelectorPath'])
  return [
    ...validateScalePath(textOf(scale['specReplicasPath']), at('specReplicasPath'), ['.spec']),
    ...validateScalePath(textOf(scale['statusReplicasPath']), at('statusReplicasPath'), [
      '.status',
    ]),
    ...(selector === ''
      ? []
      : validateScalePath(selector, at('labelSelectorPath'), ['.spec', '.status'])),
  ]
}

function validateScalePath(value: string, path: string, roots: readonly string[]): FieldFault[] {
  if (value === '') return [required(path)]
  const notSimple = validateSimplePath(value, path)
  if (notSimple.length > 0) return notSimple
  if (roots.some((root) => value.startsWith(`${root}.`))) return []
  const where = roots.length > 1 ? `either ${roots.join(' or ')}` : roots.join()
  return [invalidValue(path, value, `should be a json path under ${where}`)]
}

function validateSimplePath(value: string, path: string): FieldFault[] {
  if (value === '') return [required(path)]
  return value.startsWith('.')
    ? []
    : [invalidValue(path, value, 'must be a simple json path starting with .')]
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

export function validateColumns(columns: readonly Fields[], path: string): FieldFault[] {
  return faultsOfEach(columns, (column, at) => {
    const [name, type, format] = [
      textOf(column['name']),
      textOf(column['type']),
      textOf(column['format']),
    ]
    const own = `${path}[${at}]`
    return [
      ...(name === '' ? [required(`${own}.name`)] : []),
      ...(type === ''
        ? [required(`${own}.type`, oneOf(columnTypes))]
        : validateOneOf(type, columnTypes, `${own}.type`)),
      ...(format === '' ? [] : validateOneOf(format, columnFormats, `${own}.format`)),
      ...validateSimplePath(textOf(column['JSONPath']), `${own}.JSONPath`),
    ]
  })
}

const oneOf = (allowed: readonly string[]): string => `must be one of ${allowed.join(',')}`

const validateOneOf = (value: string, allowed: readonly string[], path: string): FieldFault[] =>
  allowed.includes(value) ? [] : [invalidValue(path, value, oneOf(allowed))]

/**
 * Validates selectable fields. `given` contains the schema of the version. If `path` is
 * `spec.selectableFields`, it contains the schema in the spec.
 */
export function validateSelectable(
  fields: readonly Fields[],
  path: string,
  given: Json | undefined,
): FieldFault[] {
  if (fields.length === 0) return []
  const isCommon = path === 'spec.selectableFields'
  if (isCommon && !isFields(given)) {
    return [
      invalidValue(
        path,
        '',
        'selectableFields may only be set when validations.schema is included',
      ),
    ]
  }
  const schema = fieldsOf(given)['openAPIV3Schema']
  if (!isCommon && !isFields(schema)) {
    const why =
      'selectableFields may only be set when version.schema.openAPIV3Schema is not included'
    return [invalidValue(path, '', why)]
  }
  const seen = once('selectable fields', () => new Set<string>())
  const faults = faultsOfEach(fields, ({ jsonPath }, at) => {
    const text = textOf(jsonPath)
    const own = `${path}[${at}].jsonPath`
    if (text === '') return [required(own)]
    const found = selected(text, fieldsOf(schema))
    if (typeof found === 'string') return [invalidValue(own, text, `is an invalid path: ${found}`)]
    const isSeen = seen.has(text)
    seen.add(text)
    return [
      ...(/^\.metadata(?:\.|$)/.test(text)
        ? [invalidValue(own, text, 'must not point to fields in metadata')]
        : []),
      ...(selectableTypes.includes(textOf(found['type']))
        ? []
        : [invalidValue(own, text, notSelectable)]),
      ...(isSeen ? [duplicate(own, text)] : []),
    ]
  })
  return [
    ...faults,
    ...(seen.size > SELECTABLE_FIELDS_MAX ? [tooMany(path, seen.size, SELECTABLE_FIELDS_MAX)] : []),
  ]
}

const selectableTypes = ['string', 'boolean', 'integer']
const notSelectable =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'

/** Returns the schema of the field at a path, or the reason why the path is invalid. */
function selected(path: string, schema: Fields): Fields | string {
  if (!path.startsWith('.') && !path.startsWith('['))
    return `expected [ or . but got: ${path.split('.')[0]}`
  let found: Fields | undefined = schema
  for (const [step, name = ''] of path.matchAll(/\.([^.[]*)|\[[^\]]*\]?/g)) {
    if (step.startsWith('[')) return 'array notation is not allowed'
    if (name === '' && path.endsWith('.')) return 'unexpected end of JSON path'
    found = schemaBelow(found, name)
    if (found === undefined) return 'does not refer to a valid field'
  }
  return found
}

/** Returns the schema of a property. In a map, all properties have the schema of its values. */
function schemaBelow(
  { properties, additionalProperties }: Fields,
  name: string,
): Fields | undefined {
  const own = isFields(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  const found = isFields(properties) ? own : additionalProperties
  return isFields(found) ? found : undefined
}

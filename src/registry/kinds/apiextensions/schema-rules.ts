/** Validates the schema of a version. Most steps are skipped if an earlier step finds errors. */
import type { Slice } from '../../../objects/cel/run.ts'
import type { Turns } from '../../../objects/cel/turns.ts'
import {
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
} from '../../../api/field-fault.ts'
import { goStruct } from '../../../api/go-value.ts'
import { type Fields, fieldsOf, isFields, type Json, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { isEmpty } from '../../rules/rule.ts'
import type { AcceptedSchemas } from './accepted-schemas.ts'
import { validateDefaults } from './default-rules.ts'
import { validateKeywords } from './keyword-rules.ts'
import { validatePatterns } from './pattern-rules.ts'
import { sortFaults, subschemasOf, validateStructural } from './structural-rules.ts'

export type SchemaContext = {
  readonly hasStatus: boolean
  readonly accepted: AcceptedSchemas
  readonly slice: Slice
}

export function* validateSchema(
  schema: Fields,
  path: string,
  { hasStatus, accepted, slice }: SchemaContext,
): Turns<FieldFault[]> {
  const unreadable = yield* unreadableKeyword(schema, slice)
  const structural =
    unreadable === undefined
      ? sortFaults([
          ...(yield* validateStructural(schema, path, slice)),
          ...(yield* validatePatterns(schema, path, slice)),
        ])
      : []
  const defective =
    structural.length > 0 || unreadable !== undefined
      ? structural
      : yield* validateDefaults(schema, path, { release: accepted.gates.release, slice })
  const withRules = defective.length === 0 && unreadable === undefined
  const faults = [
    ...(hasStatus ? validateRoot(schema, path) : []),
    ...(schema['nullable'] === true
      ? [forbiddenField(`${path}.nullable`, 'nullable cannot be true at the root')]
      : []),
    ...defective,
    ...(yield* validateKeywords(schema, path, { withRules, accepted, slice })),
  ]
  if (faults.length > 0 || unreadable === undefined) return faults
  return [invalidValue(path, '', `OpenAPIV3Schema '${unreadable}' is not supported`)]
}

/**
 * Go names of the keywords that are allowed at the root of a schema if the status subresource is
 * enabled. The status is then validated separately from the other fields, so other keywords at the
 * root would have no effect.
 */
const allowedAtRoot = [
  'Description',
  'Type',
  'Format',
  'Title',
  'Maximum',
  'ExclusiveMaximum',
  'Minimum',
  'ExclusiveMinimum',
  'MaxLength',
  'MinLength',
  'Pattern',
  'MaxItems',
  'MinItems',
  'UniqueItems',
  'MultipleOf',
  'Required',
  'Items',
  'Properties',
  'ExternalDocs',
  'Example',
  'XPreserveUnknownFields',
  'XValidations',
]

function validateRoot(schema: Fields, path: string): FieldFault[] {
  const type = textOf(schema['type'])
  if (type !== '' && type !== 'object') {
    const why =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
    return [invalidValue(`${path}.type`, type, why)]
  }
  const others = Object.keys(schema).filter(
    (name) => !allowedAtRoot.includes(goName(name)) && isSet(name, schema[name]),
  )
  if (others.length === 0) return []
  const shown = goStruct('apiextensions.JSONSchemaProps', { Type: quote(type) })
  const why = `only [${allowedAtRoot.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`
  return [invalidShown(path, shown, why, { type: 'apiextensions.JSONSchemaProps', json: schema })]
}

/**
 * Whether a keyword is set, even to an empty value. An empty string or false counts as set only if
 * the field is a pointer in Go.
 */
const isSet = (keyword: string, value: Json | undefined): boolean =>
  value !== undefined &&
  value !== null &&
  !((value === '' || value === false) && plain.includes(keyword))

const plain = [
  'id',
  '$schema',
  'nullable',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
]

/** Returns the Go name of a keyword, such as XValidations for `x-kubernetes-validations`. */
const goName = (keyword: string): string =>
  keyword
    .replace(/^x-kubernetes-/, 'x-')
    .split('-')
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('')

const unsupported = [
  ['id', 'id'],
  ['$schema', 'schema'],
  ['$ref', '$ref'],
  ['additionalItems', 'additionalItems'],
  ['patternProperties', 'patternProperties'],
  ['definitions', 'definitions'],
  ['dependencies', 'dependencies'],
] as const

const keepsUnknown = 'x-kubernetes-preserve-unknown-fields'

/**
 * Finds a keyword that structural schemas do not support. As in kube-apiserver, its position is not
 * reported.
 */
function* unreadableKeyword(schema: Fields, slice: Slice): Turns<string | undefined> {
  if (slice.isOver()) yield undefined
  for (const [keyword, name] of unsupported) if (!isEmpty(schema[keyword])) return name
  if (Array.isArray(schema['items']) && schema['items'].length > 0) return 'items'
  if (schema[keepsUnknown] === false) return keepsUnknown
  const properties = fieldsOf(schema['properties'])
  for (const name of Object.keys(properties)) {
    const found = yield* unreadableKeyword(fieldsOf(properties[name]), slice)
    if (found !== undefined) return found
  }
  for (const part of subschemasOf(schema)) {
    const found = isFields(part) ? yield* unreadableKeyword(part, slice) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** Validates the keywords of a schema and their values. The schema need not be structural. */
import {
  FAULTS_MAX,
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { goPointer, goStrings, goStruct } from '../../../api/go-value.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  listOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import { inPartsOf, type Turns } from '../../../objects/cel/turns.ts'
import { addAll, repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { once } from '../../../lib/scheduling/parts.ts'
import { isEmpty } from '../../rules/rule.ts'
import type { AcceptedSchemas } from './accepted-schemas.ts'
import {
  countBelow,
  elementsOf,
  RuleChecks,
  type RulePosition,
  validateRuleFields,
} from './expression-rules.ts'

/**
 * Validates the keywords of a schema. With `withRules`, also compiles the CEL rules of the schema,
 * unless the schema has other errors.
 */
export function* validateKeywords(
  schema: Fields,
  path: string,
  { withRules, accepted, slice }: KeywordContext,
): Turns<FieldFault[]> {
  const faults: FieldFault[] = []
  const rules = withRules ? new RuleChecks(accepted) : undefined
  const root = {
    ...{
      path,
      faults,
      rules,
      slice,
      isRoot: true,
      isInMeta: false,
      noDefaults: '',
      count: 1,
      uncorrelated: '',
    },
    ...{ isBelowRule: false, isBelowUnknown: false, holder: undefined },
  }
  yield* visit(schema, root)
  return rules === undefined ? faults : [...faults, ...rules.faults, ...rules.total(path)]
}

export type KeywordContext = {
  readonly withRules: boolean
  readonly accepted: AcceptedSchemas
  readonly slice: Slice
}

type KeywordPosition = RulePosition & {
  readonly slice: Slice
  readonly faults: FieldFault[]
  readonly rules: RuleChecks | undefined
  /** Whether the schema is within the metadata of an object. */
  readonly isInMeta: boolean
  /** The reason why defaults are forbidden. Empty if they are allowed. */
  readonly noDefaults: string
}

function* visit(schema: Fields, place: KeywordPosition): Turns<void> {
  if (place.slice.isOver()) yield undefined
  if (place.faults.length >= FAULTS_MAX) return
  const { path, faults, isRoot, isInMeta, count } = place
  const start = faults.length
  const isBelowRule = place.isBelowRule || listOf(schema['x-kubernetes-validations']).length > 0
  const isBelowUnknown = place.isBelowUnknown || (isBelowRule && !isKnownType(schema['type']))
  const below = { ...place, isRoot: false, isBelowRule, isBelowUnknown, holder: undefined }
  const holderOf = (part: Fields): Fields | undefined =>
    isBelowRule && elementsOf(schema) !== part ? schema : undefined
  const { additionalProperties, items, not } = schema
  if (isFields(additionalProperties)) {
    const noDefaults = isInMeta
      ? 'inside additionalProperties applying to object metadata'
      : place.noDefaults
    const values = countBelow(count, schema['maxProperties'])
    const own = { ...below, path: `${path}.additionalProperties`, noDefaults, count: values }
    yield* visit(additionalProperties, { ...own, holder: holderOf(additionalProperties) })
  }
  const isObject = isRoot || schema['x-kubernetes-embedded-resource'] === true
  const mapType = schema['x-kubernetes-map-type']
  const isKnownMap = typeof mapType !== 'string' || mapTypes.includes(mapType)
  const properties = fieldsOf(schema['properties'])
  for (const name of Object.keys(properties)) {
    const isMeta = isObject && (name === 'metadata' || name === 'apiVersion' || name === 'kind')
    const noDefaults = isMeta && isRoot ? `in top-level ${name}` : place.noDefaults
    const own = {
      ...below,
      path: `${path}.properties[${name}]`,
      isInMeta: isInMeta || isMeta,
      noDefaults,
    }
    yield* visit(fieldsOf(properties[name]), isKnownMap ? own : uncorrelatedIn(own, path))
  }
  // CEL rules inside not, allOf, oneOf and anyOf are not compiled.
  const unruled = { ...below, rules: undefined }
  if (isFields(not)) yield* visit(not, { ...unruled, path: `${path}.not` })
  for (const name of ['allOf', 'oneOf', 'anyOf']) {
    for (const [at, part] of listOf(schema[name]).entries())
      yield* visit(fieldsOf(part), { ...unruled, path: `${path}.${name}[${at}]` })
  }
  if (isFields(items)) {
    const values = countBelow(count, schema['maxItems'])
    const own = { ...below, path: `${path}.items`, count: values, holder: holderOf(items) }
    yield* visit(
      items,
      schema['x-kubernetes-list-type'] === 'map' ? own : uncorrelatedIn(own, path),
    )
  }
  addAll(faults, validateOwn(schema, place))
  addAll(faults, yield* validateExtensions(schema, place))
  // CEL rules are compiled only if neither the schema nor a schema inside it has an error.
  // Otherwise the errors of the rules would be misleading.
  if (faults.length === start && place.rules !== undefined) yield* place.rules.check(schema, place)
}

/**
 * Validates the Kubernetes extensions of a schema. Most schemas have neither CEL rules nor list map
 * keys, and are validated without time slices.
 */
function* validateExtensions(
  schema: Fields,
  { path, slice }: KeywordPosition,
): Turns<readonly FieldFault[]> {
  const validate = (): FieldFault[] => [
    ...validateLists(schema, path),
    ...validateMapType(schema, path),
    ...validateRuleFields(schema, path),
  ]
  const { 'x-kubernetes-list-map-keys': keys, 'x-kubernetes-validations': rules } = schema
  return keys === undefined && rules === undefined ? validate() : yield* inPartsOf(validate, slice)
}

/**
 * Records that a position is inside the list or map at `path`, whose elements cannot be matched
 * with those of the stored object. If such lists and maps are nested, errors refer to the outermost
 * one.
 */
const uncorrelatedIn = (place: KeywordPosition, path: string): KeywordPosition =>
  place.uncorrelated === '' ? { ...place, uncorrelated: path } : place

const mapTypes = ['atomic', 'granular']
const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']
/** Whether a type is supported. An absent type is accepted. */
const isKnownType = (type: Json | undefined): boolean =>
  typeof type !== 'string' || type === '' || types.includes(type)
const unsupported = [
  'id',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
  '$ref',
]

/** Keywords that count as set even if their value is empty. */
const pointers: ReadonlySet<string> = new Set(['additionalItems', 'dependencies', '$ref'])

function validateOwn(
  schema: Fields,
  { path, isInMeta, noDefaults }: KeywordPosition,
): FieldFault[] {
  const faults: FieldFault[] = []
  const type = textOf(schema['type'])
  const { properties, additionalProperties: additional, items } = schema
  if (noDefaults !== '' && !isEmptyJson(schema['default'])) {
    faults.push(forbiddenField(`${path}.default`, `must not be set ${noDefaults}`))
  }
  for (const name of unsupported) {
    const isGiven = pointers.has(name) ? !isEmptyJson(schema[name]) : !isEmpty(schema[name])
    if (isGiven) faults.push(forbiddenField(`${path}.${name}`, `${name} is not supported`))
  }
  if (type !== '' && !types.includes(type)) faults.push(notSupported(`${path}.type`, type, types))
  if (type === 'null') {
    faults.push(
      forbiddenField(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'),
    )
  }
  if (Array.isArray(items) && items.length > 0) {
    faults.push(forbiddenField(`${path}.items`, 'items must be a schema object and not an array'))
  }
  if (isInMeta && schema['x-kubernetes-embedded-resource'] === true) {
    faults.push(
      forbiddenField(
        `${path}.x-kubernetes-embedded-resource`,
        'must not be used inside of resource meta',
      ),
    )
  }
  if (schema['uniqueItems'] === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    faults.push(forbiddenField(`${path}.uniqueItems`, why))
  }
  if (!isEmpty(properties) && (additional === false || isFields(additional))) {
    const why = 'additionalProperties and properties are mutual exclusive'
    faults.push(forbiddenField(`${path}.additionalProperties`, why))
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    faults.push(
      invalidValue(
        `${path}.x-kubernetes-preserve-unknown-fields`,
        false,
        'must be true or undefined',
      ),
    )
  }
  return faults
}

const isEmptyJson = (value: Fields[string]): boolean => value === undefined || value === null

function validateMapType(schema: Fields, path: string): FieldFault[] {
  const mapType = schema['x-kubernetes-map-type']
  if (typeof mapType !== 'string') return []
  return [
    ...validateTypeIs('object', schema, { path, extension: 'x-kubernetes-map-type' }),
    ...(mapTypes.includes(mapType)
      ? []
      : [notSupported(`${path}.x-kubernetes-map-type`, mapType, mapTypes)]),
  ]
}

function validateTypeIs(
  wanted: string,
  schema: Fields,
  { path, extension }: { readonly path: string; readonly extension: string },
): FieldFault[] {
  const type = textOf(schema['type'])
  const why = `must be ${wanted} if ${extension} is specified`
  if (type === wanted) return []
  return [type === '' ? required(`${path}.type`, why) : invalidValue(`${path}.type`, type, why)]
}

const listTypes = ['atomic', 'set', 'map']

function validateLists(schema: Fields, path: string): FieldFault[] {
  const listType = schema['x-kubernetes-list-type']
  const keys = textsOf(schema['x-kubernetes-list-map-keys'])
  const own = `${path}.x-kubernetes-list-type`
  const isMapOnly = 'must be map if x-kubernetes-list-map-keys is non-empty'
  if (typeof listType !== 'string') return keys.length > 0 ? [required(own, isMapOnly)] : []
  const faults = [
    ...validateTypeIs('array', schema, { path, extension: 'x-kubernetes-list-type' }),
    ...(listTypes.includes(listType) ? [] : [notSupported(own, listType, listTypes)]),
    ...(keys.length > 0 && listType !== 'map' ? [invalidValue(own, listType, isMapOnly)] : []),
  ]
  const items = fieldsOf(schema['items'])
  const isDistinct = listType === 'set' || listType === 'map'
  if (isDistinct && items['nullable'] === true) {
    faults.push(
      forbiddenField(
        `${path}.items.nullable`,
        `cannot be nullable when x-kubernetes-list-type is ${listType}`,
      ),
    )
  }
  return listType === 'map' ? [...faults, ...validateKeyed(schema, keys, path)] : faults
}

function validateKeyed(schema: Fields, keys: readonly string[], path: string): FieldFault[] {
  const { items } = schema
  const own = `${path}.x-kubernetes-list-map-keys`
  const faults: FieldFault[] = []
  if (keys.length === 0)
    faults.push(required(own, 'must not be empty if x-kubernetes-list-type is map'))
  if (isEmptyJson(items)) {
    return [
      ...faults,
      required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'),
    ]
  }
  // `items` is false if the field is neither a schema nor a list of schemas.
  if (items === false || Array.isArray(items)) {
    const shown = goStruct('apiextensions.JSONSchemaPropsOrArray', {
      Schema: goPointer('apiextensions.JSONSchemaProps', false),
      JSONSchemas: `[]apiextensions.JSONSchemaProps${items === false ? '(nil)' : '{}'}`,
    })
    return [
      ...faults,
      invalidShown(
        `${path}.items`,
        shown,
        'must only have a single schema if x-kubernetes-list-type is map',
      ),
    ]
  }
  const item = fieldsOf(items)
  const type = textOf(item['type'])
  const properties = fieldsOf(item['properties'])
  const isKnown = (key: string): boolean => Object.hasOwn(properties, key)
  if (type !== 'object') {
    const why = "must be object if parent array's x-kubernetes-list-type is map"
    faults.push(invalidValue(`${path}.items.type`, type, why))
  } else {
    const shown = once('shown list map keys', () => goStrings(keys))
    const repeats = repeatsIn(keys)
    const ofKeys = faultsOfEach(keys, (key, at) => [
      ...(isKnown(key)
        ? []
        : [invalidShown(own, shown, 'entries must all be names of item properties')]),
      ...(repeats.has(at) ? [invalidShown(own, shown, 'must not contain duplicate entries')] : []),
    ])
    addAll(faults, ofKeys)
  }
  const needed = new Set(textsOf(item['required']))
  for (const key of new Set(keys.filter(isKnown))) {
    const property = fieldsOf(properties[key])
    const at = `${path}.items.properties[${key}]`
    if (type === 'object') faults.push(...validateKeyType(property, at))
    faults.push(...validateKey(property, at, needed.has(key)))
  }
  return faults
}

/** Validates the type of a property that is listed in x-kubernetes-list-map-keys. */
function validateKeyType(key: Fields, path: string): FieldFault[] {
  const type = textOf(key['type'])
  if (type !== 'array' && type !== 'object') return []
  // As in kube-apiserver, the error message shows the type of the list items instead of the
  // property.
  return [
    invalidValue(
      `${path}.type`,
      'object',
      "must be a scalar type if parent array's x-kubernetes-list-type is map",
    ),
  ]
}

function validateKey(key: Fields, path: string, isRequired: boolean): FieldFault[] {
  const listed = 'this property is in x-kubernetes-list-map-keys, so it'
  const faults: FieldFault[] = []
  if (!isRequired && isEmptyJson(key['default'])) {
    faults.push(
      required(`${path}.default`, `${listed} must have a default or be a required property`),
    )
  }
  if (key['nullable'] === true)
    faults.push(forbiddenField(`${path}.nullable`, `${listed} cannot be nullable`))
  return faults
}

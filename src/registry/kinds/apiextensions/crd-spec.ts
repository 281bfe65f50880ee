/**
 * Rules for the spec of a CRD. kube-apiserver validates the stored form, and errors have the paths
 * of that form. In the stored form, settings that are equal in all versions are moved from the
 * versions to the spec itself.
 */
import { quote } from '../../../api/quote.ts'
import {
  checked,
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import type { Gates } from '../../../api/gates.ts'
import { goStruct, shownItems } from '../../../api/go-value.ts'
import { checkDns1035Label, checkDnsSubdomain } from '../../../api/names.ts'
import { type Fields, fieldsOf, isFields, itemsOf, type Json, textOf } from '../../../api/object.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import { inPartsOf, type Turns } from '../../../objects/cel/turns.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import { addAll, firstBy } from '../../../lib/scheduling/long-lists.ts'
import { AcceptedSchemas, hasStatus, schemaOf } from './accepted-schemas.ts'
import { type StoredCrd, validateConversion } from './conversion.ts'
import { requireNames, validateNames } from './crd-names.ts'
import { hasDefaults } from './default-rules.ts'
import { validateSchema } from './schema-rules.ts'
import { toStoredSpec } from './stored-form.ts'
import {
  SELECTABLE_FIELDS_MAX,
  validateColumns,
  validateDeprecation,
  validateSelectable,
  validateSubresources,
} from './version-parts.ts'

export function* validateSpec(
  given: Fields,
  { gates, slice }: { readonly gates: Gates; readonly slice: Slice },
  before?: StoredCrd,
): Turns<FieldFault[]> {
  const spec = yield* inPartsOf(() => toStoredSpec(given), slice)
  const accepted = new AcceptedSchemas(before?.was, gates)
  const versions = itemsOf(spec['versions'])
  const names = fieldsOf(spec['names'])
  const ofVersions: FieldFault[] = []
  for (const [at, version] of versions.entries()) {
    addAll(
      ofVersions,
      yield* validateVersion(version, spec, { path: `spec.versions[${at}]`, accepted, slice }),
    )
  }
  const faults = [
    ...validateGroup(textOf(spec['group'])),
    ...validateScope(textOf(spec['scope'])),
    ...(accepted.lacksSome ? [] : validateSchemasGiven(spec, versions)),
    ...(yield* validatePreserving(spec, versions, slice)),
    ...ofVersions,
    ...(yield* inPartsOf(() => validateTogether(spec['versions']), slice)),
    ...(textOf(spec['version']) === ''
      ? []
      : checked('spec.version', textOf(spec['version']), checkDns1035Label)),
    ...requireNames(names, 'spec.names'),
    ...(yield* inPartsOf(() => validateNames(names, 'spec.names'), slice)),
    ...(yield* validateParts(spec, {
      path: 'spec',
      schemaPath: 'spec.validation',
      hasStatus: hasAnyStatus(spec, versions),
      accepted,
      slice,
    })),
    ...(yield* inPartsOf(() => validateConversion(spec['conversion'], before), slice)),
  ]
  const allowsKept = before !== undefined && gates.release >= KEPT_FIELDS_SINCE
  return allowsKept && faults.some(isTooManySelectable)
    ? withoutKept(faults, spec, yield* inPartsOf(() => toStoredSpec(before.was), slice))
    : faults
}

/** The first release in which too many selectable fields are tolerated if they do not change. */
const KEPT_FIELDS_SINCE = 35

const isTooManySelectable = ({ path, reason }: FieldFault): boolean =>
  reason === 'FieldValueTooMany' && path.endsWith('.selectableFields')

const isKeptSelectable = (now: Fields, old: Fields | undefined): boolean =>
  itemsOf(old?.['selectableFields']).length > SELECTABLE_FIELDS_MAX &&
  isSame(now['selectableFields'], old?.['selectableFields'])

/** Removes the errors about too many selectable fields that the stored CRD also has. */
function withoutKept(faults: readonly FieldFault[], spec: Fields, was: Fields): FieldFault[] {
  const oldVersions = firstBy(itemsOf(was['versions']), ({ name }) => name)
  const kept = new Set([
    ...(isKeptSelectable(spec, was) ? ['spec'] : []),
    ...itemsOf(spec['versions']).flatMap((version, at) =>
      isKeptSelectable(version, oldVersions.get(version['name'])) ? [`spec.versions[${at}]`] : [],
    ),
  ])
  return faults.filter(
    (fault) => !isTooManySelectable(fault) || !kept.has(fault.path.replace(/\.\w+$/, '')),
  )
}

function validateGroup(group: string): FieldFault[] {
  if (group === '') return [required('spec.group')]
  const faults = checkDnsSubdomain(group)
  if (faults.length > 0) return [invalidValue('spec.group', group, faults.join(','))]
  return group.includes('.')
    ? []
    : [invalidValue('spec.group', group, 'should be a domain with at least one dot')]
}

function validateScope(scope: string): FieldFault[] {
  if (scope === '') return [required('spec.scope')]
  const scopes = ['Cluster', 'Namespaced']
  return scopes.includes(scope) ? [] : [notSupported('spec.scope', scope, scopes)]
}

function validateSchemasGiven(spec: Fields, versions: readonly Fields[]): FieldFault[] {
  if (isFields(schemaOf(spec['validation']))) return []
  return faultsOfEach(versions, (version, at) => {
    const path = `spec.versions[${at}].schema.openAPIV3Schema`
    return isFields(schemaOf(version['schema'])) ? [] : [required(path, 'schemas are required')]
  })
}

/** Refuses preserveUnknownFields if a schema has defaults. */
function* validatePreserving(
  spec: Fields,
  versions: readonly Fields[],
  slice: Slice,
): Turns<FieldFault[]> {
  if (spec['preserveUnknownFields'] !== true) return []
  for (const schema of [spec['validation'], ...versions.map((version) => version['schema'])]) {
    if (yield* hasDefaults(schemaOf(schema), slice)) {
      return [
        invalidValue(
          'spec.preserveUnknownFields',
          true,
          'must be false in order to use defaults in the schema',
        ),
      ]
    }
  }
  return []
}

const hasAnyStatus = (spec: Fields, versions: readonly Fields[]): boolean =>
  hasStatus(spec['subresources']) || versions.some((version) => hasStatus(version['subresources']))

function* validateVersion(
  version: Fields,
  spec: Fields,
  { path, accepted, slice }: Pick<SchemaContext, 'path' | 'accepted' | 'slice'>,
): Turns<FieldFault[]> {
  const own = version['subresources'] ?? spec['subresources']
  return [
    ...checked(`${path}.name`, textOf(version['name']), checkDns1035Label),
    ...validateDeprecation(version, `${path}.deprecationWarning`),
    ...(yield* validateParts(
      { ...version, validation: version['schema'] },
      { path, schemaPath: `${path}.schema`, hasStatus: hasStatus(own), accepted, slice },
    )),
  ]
}

type SchemaContext = {
  readonly path: string
  readonly schemaPath: string
  readonly hasStatus: boolean
  readonly accepted: AcceptedSchemas
  readonly slice: Slice
}

/**
 * Validates the schema, the subresources, the columns and the selectable fields. These are in each
 * version or, if they are equal in all versions, in the spec.
 */
function* validateParts(parts: Fields, place: SchemaContext): Turns<FieldFault[]> {
  const { path, schemaPath, hasStatus: withStatus, accepted, slice } = place
  const schema = schemaOf(parts['validation'])
  return [
    ...(isFields(schema) && !(yield* accepted.has(schema, withStatus, slice))
      ? yield* validateSchema(schema, `${schemaPath}.openAPIV3Schema`, {
          hasStatus: withStatus,
          accepted,
          slice,
        })
      : []),
    ...validateSubresources(parts['subresources'], `${path}.subresources`),
    ...validateColumns(
      itemsOf(parts['additionalPrinterColumns']),
      `${path}.additionalPrinterColumns`,
    ),
    ...validateSelectable(
      itemsOf(parts['selectableFields']),
      `${path}.selectableFields`,
      parts['validation'],
    ),
  ]
}

function validateTogether(given: Json | undefined): FieldFault[] {
  const value = { type: '[]apiextensions.CustomResourceDefinitionVersion', json: given ?? null }
  const versions = itemsOf(given)
  const shown = goVersions(versions, Array.isArray(given))
  const isUnique = new Set(versions.map(({ name }) => name)).size === versions.length
  const isOneStored = versions.filter(({ storage }) => storage === true).length === 1
  return [
    ...(isUnique
      ? []
      : [invalidShown('spec.versions', shown, 'must contain unique version names', value)]),
    ...(isOneStored
      ? []
      : [
          invalidShown(
            'spec.versions',
            shown,
            'must have exactly one version marked as storage version',
            value,
          ),
        ]),
  ]
}

function goVersions(versions: readonly Fields[], isGiven: boolean): string {
  const type = '[]apiextensions.CustomResourceDefinitionVersion'
  if (!isGiven) return `${type}(nil)`
  const items = shownItems(versions, ({ name, served, storage }) =>
    goStruct('apiextensions.CustomResourceDefinitionVersion', {
      Name: quote(textOf(name)),
      Served: `${served === true}`,
      Storage: `${storage === true}`,
    }),
  )
  return `${type}{${items}}`
}

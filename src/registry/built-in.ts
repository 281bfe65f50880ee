/** The built-in resources: rows of the catalogue, combined with the rules in kinds/. */
import { defaultGates, type Gates } from '../api/gates.ts'
import {
  type Fields,
  isFields,
  type Json,
  type KubeObject,
  type ObjectMeta,
  present,
} from '../api/object.ts'
import { zeroTime } from '../api/time.ts'
import { isEqual } from '../objects/schema/equal.ts'
import { Defaults } from '../objects/schema/defaults.ts'
import type {
  ObjectSchema,
  ReadForm,
  StorageMedia,
  StoredForm,
} from '../objects/schema/object-schema.ts'
import type { Field, Schema, Struct } from '../objects/schema/schema.ts'
import { assert } from '../lib/assert.ts'
import { resourceTable } from './catalogue/resources.ts'
import { type DeclarativeReport, withDeclarative } from './declarative.ts'
import { GatedFields } from './gated-fields.ts'
import type { ClusterFacts, KindRules, KindUpdateRules } from './kind-rules.ts'
import { rulesByKind } from './kinds/all.ts'
import { relaxedBy } from './kinds/core/pod/relaxed.ts'
import { podSpecOf } from './pod-specs.ts'
import { strictAddressFaults, strictPodFaults } from './rules/strict-addresses.ts'
import { validateUnprivileged } from './privileged.ts'
import { readResources, type ResourceRow, splitApiVersion } from './read-resources.ts'
import { apiVersionOf, type Resource, type UpdateRules } from './resource.ts'
import { scaleView } from './scale.ts'
import { oldVersions } from './old-versions/all.ts'
import { packageOfGroup, schemeOf } from './scheme.ts'
import {
  deprecationOf,
  type Generation,
  metadataRulesOf,
  nameRuleOf,
  resetPathsOf,
  type Strategy,
} from './strategy.ts'
import { defaultTable, tables } from './tables/all.ts'
import { findType, typeOf } from './types.ts'
import { withField, withGeneration, without } from './object-parts.ts'

type BuiltInOptions = Partial<ClusterFacts> & {
  readonly allowsPrivileged?: boolean
  readonly storedAs?: StorageMedia
  readonly gates?: Gates
  /** Receives differences between declarative and handwritten validation. */
  readonly declarative?: DeclarativeReport
  /** Absent: the versions that are served by default. */
  readonly isServed?: (resource: Pick<ResourceRow, 'group' | 'version' | 'plural'>) => boolean
}

/** Versions that are not stable are off by default. */
const isServedByDefault = ({ version }: Pick<ResourceRow, 'version'>): boolean =>
  /^v\d+$/.test(version)

/** In the order in which discovery lists groups and versions. */
export function builtInResources({
  allowsPrivileged = true,
  storedAs = 'json',
  ipFamily = 'IPv4',
  gates = defaultGates,
  now = () => zeroTime,
  isServed = isServedByDefault,
  declarative = { mismatch: () => undefined, panic: () => undefined },
}: BuiltInOptions = {}): Resource[] {
  const gated = new GatedFields(gates)
  const defaults = new Defaults(gates)
  const both = gates.isOn('DeclarativeValidation')
    ? { isTakenOver: gates.isOn('DeclarativeValidationTakeover'), reporter: declarative }
    : undefined
  const isThere = (row: ResourceRow): boolean =>
    isServed(row) && isGateOn(rulesOf(row).strategy?.gate, gates)
  const rows = readResources(resourceTable).filter(isThere)
  return rows.map((row) => {
    const name = kindName(row)
    const rules = rulesOf(row)
    const strict = gates.isOn('StrictIPCIDRValidation') ? withStrictAddresses(rules, name) : rules
    const handwritten = allowsPrivileged ? strict : unprivileged(strict, name)
    return builtIn(row, both === undefined ? handwritten : withDeclarative(handwritten, both), {
      storedAs,
      cluster: { ipFamily, gates, now },
      gated,
      defaults,
    })
  })
}

function unprivileged(rules: KindRules, kind: string): KindRules {
  const { validate, validateUpdate } = rules
  return {
    ...rules,
    validate: (object, gates) => [
      ...(validate?.(object, gates) ?? []),
      ...validateUnprivileged(object, kind),
    ],
    validateUpdate: (object, current, gates) => [
      ...(validateUpdate?.(object, current, gates) ?? validate?.(object, gates) ?? []),
      ...validateUnprivileged(object, kind),
    ],
  }
}

function withStrictAddresses(rules: KindRules, kind: string): KindRules {
  const { validate, validateUpdate, status } = rules
  return {
    ...rules,
    validate: (object, gates) => [
      ...(validate?.(object, gates) ?? []),
      ...strictAddressFaults(object, undefined, kind),
      ...strictPodFaults(object, undefined, kind),
    ],
    validateUpdate: (object, current, gates) => [
      ...(validateUpdate?.(object, current, gates) ?? validate?.(object, gates) ?? []),
      ...strictAddressFaults(object, current, kind),
      ...strictPodFaults(object, current, kind),
    ],
    status: {
      ...status,
      validateUpdate: (object, current, gates) => [
        ...(status?.validateUpdate?.(object, current, gates) ?? []),
        ...strictAddressFaults(object, current, kind),
      ],
    },
  }
}

/** The kind as errors name it: `Deployment.apps`. */
const kindName = ({ kind, group }: { readonly kind: string; readonly group: string }): string =>
  group === '' ? kind : `${kind}.${group}`

function rulesOf(row: ResourceRow): KindRules {
  const name = kindName(row)
  return rulesByKind.get(`${name} ${row.version}`) ?? rulesByKind.get(name) ?? {}
}

const isGateOn = (gate: string | undefined, gates: Gates): boolean =>
  gate === undefined || gates.isOn(gate)

type Surroundings = {
  readonly storedAs: StorageMedia
  readonly cluster: ClusterFacts
  readonly gated: GatedFields
  readonly defaults: Defaults
}

function builtIn(
  row: ResourceRow,
  rules: KindRules,
  { storedAs, cluster, gated, defaults }: Surroundings,
): Resource {
  const name = kindName(row)
  const hasStatus = row.subresources.some((subresource) => subresource.name === 'status')
  const { strategy = {} } = rules
  const { generation, takesStatus } = strategy
  const deprecation = deprecationOf(strategy, row.version)
  const gatesFor = (current: KubeObject): Gates => {
    const before = podSpecOf(current, name)
    return before === undefined ? cluster.gates : relaxedBy(cluster.gates, before)
  }
  const { gatedForm } = rules
  const dropGated = (object: KubeObject, current: KubeObject | undefined): KubeObject => {
    if (gatedForm === undefined) return gated.drop(object, current, shape().struct)
    const struct = typeOf(row.packageName.replace(/[^/]*$/, gatedForm.version), row.kind)
    if (!gated.areIn(struct)) return object
    const whole = gatedForm.to(object)
    const usable = gated.drop(whole, current && gatedForm.to(current), struct)
    return usable === whole ? object : gatedForm.from(usable)
  }
  let schema: ObjectSchema | undefined
  const shape = (): ObjectSchema =>
    (schema ??= { ...schemaOf(row, rules, { cluster, defaults }), storedAs })
  return {
    group: row.group,
    version: row.version,
    kind: row.kind,
    listKind: `${row.kind}List`,
    plural: row.plural,
    singular: row.kind.toLowerCase(),
    shortNames: row.shortNames,
    categories: row.categories,
    isNamespaced: row.isNamespaced,
    isCustom: false,
    isStored: row.verbs.includes('update'),
    verbs: row.verbs,
    subresources: row.subresources.filter((part) =>
      isGateOn(strategy.subresourceGates?.[part.name], cluster.gates),
    ),
    ...(row.storageVersion === undefined ? {} : { storageVersion: row.storageVersion }),
    ...(deprecation === undefined ? {} : { deprecation }),
    get shape(): ObjectSchema {
      return shape()
    },
    selectableFields: fieldReaders(rules.selectableFields ?? []),
    ...(rules.indexedFields === undefined ? {} : { indexedFields: rules.indexedFields }),
    allowsUnconditionalUpdate: strategy.needsResourceVersion !== true,
    createsOnUpdate: strategy.createsOnUpdate === true,
    returnsDeleted: strategy.returnsDeleted === true,
    defaultPropagation: strategy.orphansDependents === true ? 'Orphan' : 'Background',
    isGarbageCollected: rules.isGarbageCollected ?? true,
    deleteForbiddenReason: rules.deleteForbiddenReason ?? (() => undefined),
    ...(rules.graceOf && { graceOf: rules.graceOf }),
    ...(rules.ownDeletion && { ownDeletion: rules.ownDeletion }),
    ...(rules.deletionWarning && { deletionWarning: rules.deletionWarning }),
    faultGroup: strategy.faultGroup ?? row.group,
    ...(rules.usesGenerateNameVerbatim === true ? { usesGenerateNameVerbatim: true } : {}),
    checkName: rules.checkName ?? nameRuleOf(strategy),
    metadataRules: metadataRulesOf(strategy),
    prepareCreate: (given, writer) => {
      const object = hasStatus && takesStatus === undefined ? without(given, 'status') : given
      const usable = dropGated(object, undefined)
      const numbered =
        generation === undefined || generation.kept === true ? usable : withGeneration(usable, 1)
      return rules.prepareCreate?.(numbered, writer, cluster.gates) ?? numbered
    },
    prepareUpdate: (given, current, writer) => {
      const keepsStatus = hasStatus && takesStatus !== 'create and update'
      const whole = keepsStatus ? withField(given, 'status', current['status']) : given
      const object = dropGated(whole, current)
      const prepared = rules.prepareUpdate?.(object, current, writer) ?? object
      return generation === undefined ? prepared : counted(prepared, current, { generation, row })
    },
    table: tables.get(name) ?? defaultTable,
    validate: (object) => rules.validate?.(object, cluster.gates) ?? [],
    validateUpdate: (object, current) =>
      (rules.validateUpdate === undefined
        ? rules.validate?.(object, gatesFor(current))
        : rules.validateUpdate(object, current, gatesFor(current))) ?? [],
    ...(rules.validateInSlices && { validateInSlices: rules.validateInSlices }),
    ...(rules.namespaceRule && { namespaceRule: rules.namespaceRule }),
    warnings: (object, current) => rules.warnings?.(object, current, cluster.gates) ?? [],
    resetPaths: resetPathsOf(strategy, hasStatus),
    subresourceRules: {
      ...(hasStatus
        ? {
            status: gatedRules(statusRules(strategy, rules.status ?? {}, cluster.gates), dropGated),
          }
        : {}),
      ...Object.fromEntries(
        Object.entries(rules.subresourceRules ?? {}).map(([part, own]) => [
          part,
          countingRules(gatedRules(withGates(own, gatesFor), dropGated), generation, row),
        ]),
      ),
    },
    views: row.subresources.some((subresource) => subresource.name === 'scale')
      ? { scale: scaleView() }
      : {},
  }
}

function schemaOf(
  row: ResourceRow,
  rules: KindRules,
  { cluster, defaults }: Pick<Surroundings, 'cluster' | 'defaults'>,
): ObjectSchema {
  const struct = typeOf(row.packageName, row.kind)
  const stored =
    row.storageVersion === undefined ? undefined : storedForm(row, row.storageVersion, rules)
  const { setDefaults, completeStored, refuse, isDefaultedAgain = false } = rules
  const bytesField = struct.fields.find(
    ({ schema }) => schema.type === 'map' && schema.of.type === 'bytes',
  )?.name
  return {
    struct,
    ...(refuse === undefined ? {} : { refuse }),
    ...(completeStored === undefined
      ? {}
      : { completeStored: (object) => completeStored(object, cluster) }),
    ...(isDefaultedAgain ? { isDefaultedAgain } : {}),
    ...(bytesField === undefined ? {} : { bytesField }),
    setDefaults: (object) => {
      const own = setDefaults?.(object, cluster.gates, cluster.now) ?? object
      const { metadata, kind, apiVersion } = own
      const result = defaults.set(own, struct)
      return result === own ? own : { ...result, metadata, kind, apiVersion }
    },
    otherForm: otherForms(row, struct, stored),
    stored,
    scheme: schemeOf(row.group),
  }
}

/** Converters by the apiVersions that etcd has been found to contain, of which there are few. */
function otherForms(
  row: ResourceRow,
  struct: Struct,
  stored: StoredForm | undefined,
): (apiVersion: string) => ReadForm | undefined {
  const served = apiVersionOf(row)
  const known = new Map<string, ReadForm>([[served, { struct, fromStored: (object) => object }]])
  return (apiVersion) => {
    const form = known.get(apiVersion) ?? otherForm(apiVersion, row, { struct, stored })
    if (form !== undefined) known.set(apiVersion, form)
    return form
  }
}

function otherForm(
  apiVersion: string,
  row: ResourceRow,
  { struct, stored }: { readonly struct: Struct; readonly stored: StoredForm | undefined },
): ReadForm | undefined {
  const old = findType(packageOf(apiVersion, row), row.kind)
  if (old === undefined) return undefined
  const convert = oldVersions.get(`${apiVersion} ${row.kind}`)
  const current = { apiVersion: row.storageVersion ?? apiVersionOf(row), kind: row.kind }
  if (convert !== undefined) {
    const renew = (object: KubeObject): KubeObject => ({ ...convert(object), ...current })
    return {
      struct: old,
      fromStored: (object) => stored?.fromStored(renew(object)) ?? renew(object),
    }
  }
  // Versions with the same fields differ only in their names: in the catalogue, one is an alias of the other.
  if (old.fields === struct.fields) {
    const served = apiVersionOf(row)
    return { struct, fromStored: (object) => ({ ...object, apiVersion: served }) }
  }
  if (stored !== undefined && old.fields === stored.struct.fields)
    return {
      struct: stored.struct,
      fromStored: (object) => stored.fromStored({ ...object, ...current }),
    }
  const { group, version } = splitApiVersion(apiVersion)
  if (group !== row.group) return undefined
  // Another version that is served today: converted by way of the storage version.
  const toStored = rulesByKind.get(`${kindName(row)} ${version}`)?.convert?.toStored ?? sameFields
  const renew = (object: KubeObject): KubeObject => ({ ...toStored(object), ...current })
  return { struct: old, fromStored: (object) => stored?.fromStored(renew(object)) ?? renew(object) }
}

const sameFields = (object: KubeObject): KubeObject => object

/** The package of the kind's group, or of a group from which the kind was moved. */
function packageOf(apiVersion: string, row: ResourceRow): string {
  const { group, version } = splitApiVersion(apiVersion)
  const own = group === row.group ? row.packageName.replace(/\/[^/]*$/, '') : packageOfGroup(group)
  return `${own}/${version}`
}

/** Versions of a kind with the same fields differ only in their apiVersion. */
function storedForm(row: ResourceRow, apiVersion: string, { convert }: KindRules): StoredForm {
  const served = apiVersionOf(row)
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const packageName = apiVersion === 'v1' ? 'core/v1' : row.packageName.replace(/[^/]*$/, version)
  return {
    apiVersion,
    struct: typeOf(packageName, row.kind),
    toStored: (object) => ({ ...(convert?.toStored(object) ?? object), apiVersion }),
    fromStored: (object) => ({ ...(convert?.fromStored(object) ?? object), apiVersion: served }),
  }
}

const withGates = (
  rules: KindUpdateRules,
  gatesFor: (current: KubeObject) => Gates,
): UpdateRules => ({
  ...rules,
  validateUpdate: (object, current) => rules.validateUpdate(object, current, gatesFor(current)),
})

const gatedRules = (
  rules: UpdateRules,
  dropGated: (object: KubeObject, current: KubeObject) => KubeObject,
): UpdateRules => ({
  ...rules,
  prepareUpdate: (object, current, writer) =>
    dropGated(rules.prepareUpdate(object, current, writer), current),
})

/** A change through a subresource increments the generation like any other. */
function countingRules(
  rules: UpdateRules,
  generation: Generation | undefined,
  row: ResourceRow,
): UpdateRules {
  if (generation === undefined) return rules
  return {
    ...rules,
    prepareUpdate: (object, current, writer) =>
      counted(rules.prepareUpdate(object, current, writer), current, { generation, row }),
  }
}

/** An update through /status changes the status, and the metadata that the kind allows. */
function statusRules(
  { statusKeeps = [] }: Strategy,
  own: Partial<KindUpdateRules>,
  gates: Gates,
): UpdateRules {
  return {
    prepareUpdate: (object, current, writer) => {
      const was = current.metadata
      const metadata =
        statusKeeps === 'metadata'
          ? metadataOfStatusOnly(object.metadata, was)
          : present({
              ...object.metadata,
              ...Object.fromEntries(statusKeeps.map((name) => [name, was[name]])),
            })
      const prepared = withField({ ...current, metadata }, 'status', object['status'])
      return own.prepareUpdate?.(prepared, current, writer) ?? prepared
    },
    validateUpdate: (object, current) => own.validateUpdate?.(object, current, gates) ?? [],
    warnings: own.warnings ?? (() => []),
    ...(own.namespaceRule === undefined ? {} : { namespaceRule: own.namespaceRule }),
    ...(own.updateChecks === undefined ? {} : { updateChecks: own.updateChecks }),
  }
}

/** The fields that identify the object are kept as they were sent, so that they can be validated. */
function metadataOfStatusOnly(given: ObjectMeta, current: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion } = given
  return present({ ...current, name, namespace, uid, resourceVersion })
}

type Counting = { readonly generation: Generation; readonly row: ResourceRow }

function counted(
  object: KubeObject,
  current: KubeObject,
  { generation, row }: Counting,
): KubeObject {
  const struct = typeOf(row.packageName, row.kind)
  const isChanged = generation.fields.some((path) => {
    const [now, before] = [valueAt(object, path), valueAt(current, path)]
    return !isEqual(schemaAt(struct, path), now, before, generation.equality)
  })
  return isChanged ? withGeneration(object, (current.metadata.generation ?? 0) + 1) : object
}

function schemaAt(struct: Struct, path: string): Schema {
  let schema: Schema = struct
  for (const name of path.split('.')) {
    const field: Field | undefined = schema.type === 'struct' ? schema.byName.get(name) : undefined
    assert(field !== undefined, `${struct.name} has a field ${path}`)
    schema = field.schema
  }
  return schema
}

function valueAt(object: Fields, path: string): Json | undefined {
  let value: Json | undefined = object
  for (const name of path.split('.'))
    value = isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return value
}

function fieldReaders(
  fields: readonly string[] | Resource['selectableFields'],
): Resource['selectableFields'] {
  if (!isNames(fields)) return fields
  return Object.fromEntries(
    fields.map((path) => [
      path,
      (object: KubeObject): string => {
        const value = valueAt(object, path)
        return typeof value === 'object' || value === undefined ? '' : `${value}`
      },
    ]),
  )
}

const isNames = (
  fields: readonly string[] | Resource['selectableFields'],
): fields is readonly string[] => Array.isArray(fields)

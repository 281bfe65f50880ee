/**
 * Built-in resources. Each one combines an entry of the catalog (catalogue/) with the rules in
 * kinds/.
 */
import { defaultGates, type Gates } from '../api/gates.ts'
import { deprecationOf } from '../api/lifecycle.ts'
import type { KubeObject } from '../api/object.ts'
import { zeroTime } from '../api/time.ts'
import { Defaults } from '../objects/schema/defaults.ts'
import type {
  ObjectSchema,
  ReadForm,
  StorageMedia,
  StoredForm,
} from '../objects/schema/object-schema.ts'
import type { Struct } from '../objects/schema/schema.ts'
import { hasSubresource, kindName, writeRules } from './built-in-rules.ts'
import { type DeclarativeReport, withDeclarative } from './declarative.ts'
import { GatedFields } from './gated-fields.ts'
import type { DeletionRules } from './deletion.ts'
import type { ClusterFacts, KindRules } from './kind-rules.ts'
import { rulesByKind } from './kinds/all.ts'
import { strictAddressFaults, strictPodFaults } from './rules/strict-addresses.ts'
import { validateUnprivileged } from './privileged.ts'
import { type ResourceRow, resourcesOf, splitApiVersion } from './read-resources.ts'
import {
  apiVersionOf,
  type FieldSelection,
  type Resource,
  type ResourceDiscovery,
} from './resource.ts'
import { scaleView } from './scale.ts'
import { oldVersions } from './old-versions/all.ts'
import { packageOfGroup, schemeOf } from './scheme.ts'
import { tableOf } from './tables/all.ts'
import { findType, typeOf } from './types.ts'
import { valueAt } from './object-parts.ts'

type BuiltInOptions = Partial<ClusterFacts> & {
  readonly allowsPrivileged?: boolean
  readonly storedAs?: StorageMedia
  readonly gates?: Gates
  /**
   * Receives mismatches between declarative and handwritten validation, and internal errors of
   * declarative validation.
   */
  readonly declarative?: DeclarativeReport
  /** Whether a resource is served. By default, only stable versions are served. */
  readonly isServed?: (resource: Pick<ResourceRow, 'group' | 'version' | 'plural'>) => boolean
}

/** Alpha and beta versions are not served by default. */
const isServedByDefault = ({ version }: Pick<ResourceRow, 'version'>): boolean =>
  /^v\d+$/.test(version)

/** Returns the built-in resources, sorted by group and version as in discovery. */
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
  const rows = resourcesOf(gates.release).filter(isThere)
  return rows.map((row) => {
    const name = kindName(row)
    const rules = rulesOf(row)
    const strict = gates.isOn('StrictIPCIDRValidation')
      ? withStrictAddresses(rules, { kind: name, release: gates.release })
      : rules
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

function withStrictAddresses(
  rules: KindRules,
  of: { readonly kind: string; readonly release: number },
): KindRules {
  const { kind } = of
  const { validate, validateUpdate, status } = rules
  return {
    ...rules,
    validate: (object, gates) => [
      ...(validate?.(object, gates) ?? []),
      ...strictAddressFaults(object, undefined, kind),
      ...strictPodFaults(object, undefined, of),
    ],
    validateUpdate: (object, current, gates) => [
      ...(validateUpdate?.(object, current, gates) ?? validate?.(object, gates) ?? []),
      ...strictAddressFaults(object, current, kind),
      ...strictPodFaults(object, current, of),
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

function rulesOf(row: ResourceRow): KindRules {
  const name = kindName(row)
  return rulesByKind.get(`${name} ${row.version}`) ?? rulesByKind.get(name) ?? {}
}

const isGateOn = (gate: string | undefined, gates: Gates): boolean =>
  gate === undefined || gates.isOn(gate)

type ResourceEnvironment = {
  readonly storedAs: StorageMedia
  readonly cluster: ClusterFacts
  readonly gated: GatedFields
  readonly defaults: Defaults
}

function builtIn(
  row: ResourceRow,
  rules: KindRules,
  { storedAs, cluster, gated, defaults }: ResourceEnvironment,
): Resource {
  const { strategy = {} } = rules
  let shape: ObjectSchema | undefined
  const resource: Resource = {
    group: row.group,
    faultGroup: strategy.faultGroup ?? row.group,
    version: row.version,
    kind: row.kind,
    listKind: `${row.kind}List`,
    plural: row.plural,
    isNamespaced: row.isNamespaced,
    release: cluster.gates.release,
    isCustom: false,
    isStored: row.verbs.includes('update'),
    verbs: row.verbs,
    subresources: row.subresources.filter((part) =>
      isGateOn(strategy.subresourceGates?.[part.name], cluster.gates),
    ),
    get shape(): ObjectSchema {
      return (shape ??= { ...schemaOf(row, rules, { cluster, defaults }), storedAs })
    },
    discovery: discoveryOf(row, cluster.gates.release),
    versions: row.storageVersion === undefined ? {} : { storageVersion: row.storageVersion },
    selection: {
      fields: fieldReaders(rules.selectableFields ?? []),
      ...(rules.indexedFields === undefined ? {} : { indexed: rules.indexedFields }),
    },
    rules: writeRules(row, rules, { cluster, gated, struct: () => resource.shape.struct }),
    deletion: deletionRules(rules),
    table: tableOf(kindName(row), cluster.gates.release),
    views: hasSubresource(row, 'scale') ? { scale: scaleView(cluster.gates.release) } : {},
  }
  return resource
}

function discoveryOf(row: ResourceRow, release: number): ResourceDiscovery {
  const groupVersion = row.group === '' ? row.version : `${row.group}/${row.version}`
  const deprecation = deprecationOf(release, groupVersion, row.kind)
  return {
    singular: row.kind.toLowerCase(),
    shortNames: row.shortNames,
    categories: row.categories,
    ...(deprecation === undefined ? {} : { deprecation }),
  }
}

function deletionRules(rules: KindRules): DeletionRules {
  const { strategy = {}, graceOf, ownDeletion, deletionWarning } = rules
  return {
    isGarbageCollected: rules.isGarbageCollected ?? true,
    defaultPropagation: strategy.orphansDependents === true ? 'Orphan' : 'Background',
    deleteForbiddenReason: rules.deleteForbiddenReason ?? (() => undefined),
    returnsDeleted: strategy.returnsDeleted === true,
    ...(graceOf && { graceOf }),
    ...(ownDeletion && { ownDeletion }),
    ...(deletionWarning && { deletionWarning }),
  }
}

function schemaOf(
  row: ResourceRow,
  rules: KindRules,
  { cluster, defaults }: Pick<ResourceEnvironment, 'cluster' | 'defaults'>,
): ObjectSchema {
  const { release } = cluster.gates
  const struct = typeOf(row.packageName, row.kind, release)
  const stored = row.storageVersion === undefined ? undefined : storedForm(row, rules, release)
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
    otherForm: otherForms(row, { struct, stored, release }),
    stored,
    scheme: schemeOf(row.group, release),
  }
}

/**
 * Returns a function that finds the converter for the apiVersion of a stored object. Converters are
 * cached by apiVersion. The cache remains small, because etcd contains objects of a kind in only a
 * few apiVersions.
 */
function otherForms(
  row: ResourceRow,
  forms: KnownForms,
): (apiVersion: string) => ReadForm | undefined {
  const served = apiVersionOf(row)
  const known = new Map<string, ReadForm>([
    [served, { struct: forms.struct, fromStored: (object) => object }],
  ])
  return (apiVersion) => {
    const form = known.get(apiVersion) ?? otherForm(apiVersion, row, forms)
    if (form !== undefined) known.set(apiVersion, form)
    return form
  }
}

type KnownForms = {
  /** Type of the objects in the served version. */
  readonly struct: Struct
  readonly stored: StoredForm | undefined
  readonly release: number
}

function otherForm(
  apiVersion: string,
  row: ResourceRow,
  { struct, stored, release }: KnownForms,
): ReadForm | undefined {
  const old = findType(packageOf(apiVersion, row), row.kind, release)
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
  // Versions with the same fields differ only in their apiVersion. In this case, the catalog
  // declares one version as an alias of the other.
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
  // The object is stored in another version that is still served. Convert it to the storage version
  // first.
  const rules = rulesByKind.get(`${kindName(row)} ${version}`)
  const toStored = conversionsOf(rules, current.apiVersion)?.toStored ?? sameFields
  const renew = (object: KubeObject): KubeObject => ({ ...toStored(object), ...current })
  return { struct: old, fromStored: (object) => stored?.fromStored(renew(object)) ?? renew(object) }
}

const sameFields = (object: KubeObject): KubeObject => object

const conversionsOf = (
  rules: KindRules | undefined,
  storedAs: string,
): Pick<StoredForm, 'toStored' | 'fromStored'> | undefined =>
  rules?.convertFor?.(splitApiVersion(storedAs).version) ?? rules?.convert

/**
 * Returns the catalog package of the kind's group, or of the group from which the kind was moved.
 */
function packageOf(apiVersion: string, row: ResourceRow): string {
  const { group, version } = splitApiVersion(apiVersion)
  const own = group === row.group ? row.packageName.replace(/\/[^/]*$/, '') : packageOfGroup(group)
  return `${own}/${version}`
}

/**
 * Returns the converter for objects of the kind that are stored in the storage version. Without a
 * converter, both versions have the same fields and differ only in their apiVersion.
 */
function storedForm(row: ResourceRow, rules: KindRules, release: number): StoredForm {
  const apiVersion = row.storageVersion ?? apiVersionOf(row)
  const convert = conversionsOf(rules, apiVersion)
  const served = apiVersionOf(row)
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const packageName = apiVersion === 'v1' ? 'core/v1' : row.packageName.replace(/[^/]*$/, version)
  return {
    apiVersion,
    struct: typeOf(packageName, row.kind, release),
    toStored: (object) => ({ ...(convert?.toStored(object) ?? object), apiVersion }),
    fromStored: (object) => ({ ...(convert?.fromStored(object) ?? object), apiVersion: served }),
  }
}

function fieldReaders(
  fields: readonly string[] | FieldSelection['fields'],
): FieldSelection['fields'] {
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
  fields: readonly string[] | FieldSelection['fields'],
): fields is readonly string[] => Array.isArray(fields)

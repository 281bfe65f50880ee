/**
 * A custom resource in one version. It has the same type as a built-in resource, but is derived
 * from a CustomResourceDefinition instead of the catalog of built-in types. Expensive values are
 * computed on first use, because a server can have ten thousand CRDs.
 */
import { quote } from '../../api/quote.ts'
import { defaultMinor } from '../../api/releases.ts'
import { checkDnsSubdomain, isStandardFinalizer } from '../../api/names.ts'
import { type Fields, isFields, type Json, type KubeObject, present } from '../../api/object.ts'
import type { TableKind } from '../../api/table.ts'
import { keysOf } from '../../lib/scheduling/long-lists.ts'
import { eachItem, everyItem, everyKey, once } from '../../lib/scheduling/parts.ts'
import type { ObjectSchema } from '../../objects/schema/object-schema.ts'
import { isStructural } from '../kinds/apiextensions/structural-rules.ts'
import { compareVersions } from '../priorities.ts'
import type { DeletionRules } from '../deletion.ts'
import type {
  FieldSelection,
  MetadataRules,
  Resource,
  ResourceDiscovery,
  ResourceVersions,
  Subresource,
  UpdateRules,
  Verb,
  View,
  WriteRules,
} from '../resource.ts'
import { CustomSchema } from './custom-schema.ts'
import { customScaleView, validateScale, validateScaleStatus } from './custom-scale.ts'
import { customTable } from './custom-table.ts'
import type { Crd, CrdVersion, ScalePaths } from './crd.ts'
import { readPath, valueAtPath } from './simple-path.ts'
import { withField, withGeneration, without } from '../object-parts.ts'

/** Verbs, sorted as in discovery. */
const verbs: readonly Verb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
]
/**
 * Verbs that discovery lists while the CRD is being deleted. Updates are still served, so that
 * finalizers can be removed.
 */
const lastVerbs: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'watch']
const partVerbs: readonly Verb[] = ['get', 'patch', 'update']

/**
 * Returns one resource for each version. This includes versions that are not served, because stored
 * objects can be in any of them. `release` is the release of the server.
 */
export function customResources(crd: Crd, release = defaultMinor): readonly CustomResource[] {
  const schemas = new Map(
    crd.versions.map((version) => [version.name, new CustomSchema(crd, version, release)]),
  )
  const made = new Map<string, CustomResource>()
  const inVersion = (name: string): Resource | undefined => made.get(name)
  for (const version of crd.versions) {
    made.set(version.name, customResource(crd, version, { release, schemas, inVersion }))
  }
  return [...made.values()]
}

type Siblings = {
  readonly release: number
  readonly schemas: ReadonlyMap<string, CustomSchema>
  readonly inVersion: (name: string) => Resource | undefined
}

export type CustomResource = Resource & { readonly isServed: boolean }

function customResource(
  crd: Crd,
  version: CrdVersion,
  { release, schemas, inVersion }: Siblings,
): CustomResource {
  const { group, names, isNamespaced, storageVersion } = crd
  const own = schemas.get(version.name) ?? new CustomSchema(crd, version, release)
  let shape: ObjectSchema | undefined
  let table: TableKind | undefined
  return {
    group,
    faultGroup: group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind,
    plural: names.plural,
    isNamespaced,
    release,
    isCustom: true,
    definition: { name: crd.name, uid: crd.uid },
    isServed: version.isServed,
    isStored: true,
    verbs: crd.isTerminating ? lastVerbs : verbs,
    subresources: subresourcesOf(crd, version),
    get shape(): ObjectSchema {
      return (shape ??= own.shape(schemas))
    },
    load: () => own.load() ?? schemas.get(storageVersion)?.load(),
    discovery: discoveryOf(crd, version),
    versions: versionsOf(crd, version, inVersion),
    selection: {
      get fields() {
        return selectableFields(version)
      },
      get indexed() {
        return Object.keys(selectableFields(version))
      },
    },
    rules: writeRules(version, own),
    deletion,
    get table() {
      return (table ??= customTable(version.columns))
    },
    views: viewsOf(crd, version, release),
  }
}

function viewsOf(
  { group, versions }: Crd,
  { scale }: CrdVersion,
  release: number,
): Resource['views'] {
  if (scale === undefined) return noViews
  const pathsIn = (apiVersion: string): ScalePaths | undefined =>
    versions.find(({ name }) => `${group}/${name}` === apiVersion)?.scale
  return { scale: customScaleView(scale, release, pathsIn) }
}

const deletion: DeletionRules = {
  isGarbageCollected: true,
  defaultPropagation: 'Background',
  deleteForbiddenReason: () => undefined,
  returnsDeleted: false,
}

function discoveryOf(crd: Crd, version: CrdVersion): ResourceDiscovery {
  const { names } = crd
  const deprecation = deprecationOf(crd, version)
  return {
    singular: names.singular,
    shortNames: names.shortNames,
    categories: names.categories,
    ...(deprecation === undefined ? {} : { deprecation }),
    published: {
      schema: () => structuralOf(version.schema()),
      isOpen: crd.keepsUnknown,
      get mark() {
        return JSON.stringify([crd.uid, crd.generation, crd.isTerminating, names])
      },
    },
  }
}

function versionsOf(
  crd: Crd,
  version: CrdVersion,
  inVersion: (name: string) => Resource | undefined,
): ResourceVersions {
  const { group, storageVersion, webhook } = crd
  const stored = (): Resource | undefined => inVersion(storageVersion)
  return {
    ...(storageVersion === version.name ? {} : { storageVersion: `${group}/${storageVersion}` }),
    ...(webhook === undefined ? {} : { conversionWebhook: webhook }),
    ...(webhook === undefined || !mayDiffer(crd, version) ? {} : { converted: stored }),
    inVersion,
  }
}

function writeRules({ hasStatus, scale }: CrdVersion, schema: CustomSchema): WriteRules {
  const ignored = hasStatus ? ['metadata', 'status'] : ['metadata']
  return {
    allowsUnconditionalUpdate: false,
    createsOnUpdate: false,
    metadata: metadataRules,
    prepareCreate: (given) => withGeneration(hasStatus ? without(given, 'status') : given, 1),
    prepareUpdate: (given, current) =>
      counted(hasStatus ? withField(given, 'status', current['status']) : given, current, ignored),
    validate: () => [],
    validateUpdate: () => [],
    validateInSlices: async (object, current, tools) => [
      ...(await (current === undefined
        ? schema.validate(object, tools)
        : schema.validateUpdate(object, current, tools))),
      ...validateScale(object, scale),
    ],
    warnings: finalizerWarnings,
    subresources: hasStatus ? { status: statusRules(schema, scale) } : {},
    resetPaths: (subresource) =>
      subresource === 'status' ? ['spec'] : hasStatus ? ['status'] : [],
  }
}

const metadataRules: MetadataRules = {
  checkName: checkDnsSubdomain,
  isChecked: true,
  needsDomains: false,
  updateChecks: ['change', 'rules'],
}

/**
 * Returns the schema of a version, or undefined if it is not structural. Old CRDs can have no
 * schema, or a schema that is not structural.
 */
const structuralOf = (schema: Fields): Fields | undefined =>
  Object.keys(schema).length > 0 && isStructural(schema) ? schema : undefined

/**
 * Maximum number of finalizers that cause a warning. A response has room for only a few kilobytes
 * of warnings.
 */
const WARNED_FINALIZERS_MAX = 1_000

const newSet = (): Set<string> => new Set()

/** Warns about finalizers whose names have no domain. */
function finalizerWarnings({ metadata }: KubeObject, current: KubeObject | undefined): string[] {
  const known = keysOf(current?.metadata.finalizers ?? [], (name) => name)
  const warned = eachItem(
    'finalizers to warn about',
    metadata.finalizers ?? [],
    newSet,
    (names, name) => {
      if (!known.has(name) && !name.includes('/') && !isStandardFinalizer(name)) names.add(name)
      return names.size < WARNED_FINALIZERS_MAX
    },
  )
  return [...warned].toSorted().map((name) => {
    const what = name.includes('.') ? 'finalizer name including a path (/)' : 'finalizer name'
    return `metadata.finalizers: ${quote(name)}: prefer a domain-qualified ${what} to avoid accidental conflicts with other finalizer writers`
  })
}

/** Whether stored objects can be in a version other than this one. */
const mayDiffer = ({ storageVersion, storedVersions }: Crd, { name }: CrdVersion): boolean =>
  storageVersion !== name || storedVersions.some((stored) => stored !== name)

const noViews: { readonly [subresource: string]: View } = {}

/** Returns the subresources, sorted as in discovery. */
function subresourcesOf({ group, names }: Crd, version: CrdVersion): readonly Subresource[] {
  const { name, hasStatus, scale } = version
  const status: Subresource = {
    name: 'status',
    kind: names.kind,
    group,
    version: name,
    verbs: partVerbs,
  }
  return [...(hasStatus ? [status] : []), ...(scale === undefined ? [] : [scalePart])]
}

const scalePart: Subresource = {
  name: 'scale',
  kind: 'Scale',
  group: 'autoscaling',
  version: 'v1',
  verbs: partVerbs,
}

/**
 * Returns the deprecation warning of a version. The default text recommends the highest-priority
 * version that is not deprecated.
 */
function deprecationOf({ group, names, versions }: Crd, version: CrdVersion): string | undefined {
  if (version.deprecation === undefined || version.deprecation !== '') return version.deprecation
  const better = versions
    .filter(
      ({ isServed, deprecation, name }) =>
        isServed && deprecation === undefined && compareVersions(name, version.name) < 0,
    )
    .toSorted((one, other) => compareVersions(one.name, other.name))[0]
  const hint = better === undefined ? '' : `; use ${group}/${better.name} ${names.kind}`
  return `${group}/${version.name} ${names.kind} is deprecated${hint}`
}

function selectableFields({ selectableFields: paths }: CrdVersion): FieldSelection['fields'] {
  return Object.fromEntries(
    paths.map((path) => {
      const names = readPath(path)
      return [
        path.replace(/^\./, ''),
        (object: KubeObject): string => selectableText(valueAtPath(object, names)),
      ]
    }),
  )
}

const selectableText = (value: Json | undefined): string =>
  value === undefined || value === null || typeof value === 'object' ? '' : `${value}`

/**
 * Rules for updates through /status. They change only the status and managedFields; everything else
 * in the body is ignored.
 */
function statusRules(schema: CustomSchema, scale: CrdVersion['scale']): UpdateRules {
  return {
    prepareUpdate: (object, current) => {
      const { name, namespace, uid, resourceVersion, managedFields } = object.metadata
      const metadata = present({
        ...current.metadata,
        name,
        namespace,
        uid,
        resourceVersion,
        managedFields,
      })
      // If the object had no status before, a null status in the request is ignored.
      const isNone = object['status'] === null && current['status'] === undefined
      return withField({ ...current, metadata }, 'status', isNone ? undefined : object['status'])
    },
    validateUpdate: () => [],
    validateInSlices: async (object, current, tools) => [
      ...(await schema.validateStatus(object, current ?? object, tools)),
      ...validateScaleStatus(object, scale),
    ],
  }
}

/**
 * Increments the generation if a field has changed that is not in `ignored`. Callers ignore the
 * metadata and, if it is a subresource, the status.
 */
function counted(object: KubeObject, current: KubeObject, ignored: readonly string[]): KubeObject {
  const names = [...new Set([...Object.keys(object), ...Object.keys(current)])]
  // Bounded: callers pass at most two ignored fields, so each search is short.
  const isChanged = names.some(
    (name) => !ignored.includes(name) && !isSameExactly(object[name], current[name]),
  )
  return isChanged ? withGeneration(object, (current.metadata.generation ?? 0) + 1) : object
}

/** Whether two values are equal. An empty list is not equal to an absent one. */
function isSameExactly(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (Array.isArray(one) && Array.isArray(other)) {
    const items: readonly Json[] = one
    return (
      items.length === other.length &&
      everyItem('exactly equal items', items, (item, at) => isSameExactly(item, other[at]))
    )
  }
  if (!isFields(one) || !isFields(other)) return false
  const hasAsMany = once(
    'number of fields',
    () => Object.keys(one).length === Object.keys(other).length,
  )
  return hasAsMany && everyKey('exactly equal fields', one, (key) => hasSame(one, other, key))
}

const hasSame = (one: Fields, other: Fields, key: string): boolean =>
  Object.hasOwn(other, key) && isSameExactly(one[key], other[key])

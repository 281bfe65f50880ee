/**
 * Finds every list and map field of every built-in and custom kind. If several kinds share a type,
 * the sweep fills the fields of this type for only one of these kinds.
 */
import { type Fields, isFields, type Json, textOf } from '../../../../src/api/object.ts'
import { builtInResources } from '../../../../src/registry/built-in.ts'
import { apiVersionOf, type Resource } from '../../../../src/registry/resource.ts'
import { commonType } from '../../../../src/registry/types.ts'
import type { Field, Schema, Struct } from '../../../../src/objects/schema/schema.ts'
import { readStored } from '../../../recorded/golden/read.ts'
import { loadSeeds } from '../../properties/seeds.ts'
import { customTargets } from './custom.ts'

const DEPTH_MAX = 14

export type Container = Extract<Schema, { type: 'list' | 'map' }>

/**
 * A kind to sweep. Its seed is a valid object from which the bodies of the requests are generated.
 */
export type Target = {
  readonly apiVersion: string
  readonly kind: string
  readonly group: string
  readonly plural: string
  readonly isNamespaced: boolean
  readonly isStored: boolean
  readonly isCustom?: boolean
  readonly struct: Struct
  readonly verbs: readonly string[]
  readonly subresources: readonly string[]
  /** Name of the seed object. Some kinds accept only certain names. */
  readonly seedName?: string | undefined
  /** An object of the kind that the server accepts, without a name. */
  readonly seed: Fields
  /**
   * Subresource to which the body is sent, such as the eviction of a Pod. The value `delete` means
   * that the body contains the options of a delete request.
   */
  readonly part?: 'eviction' | 'token' | 'binding' | 'scale' | 'delete'
}

/**
 * Path of a field. The element `0` means the first item of a list, and `k` means any key of a map.
 */
export type Path = readonly string[]

export type SweptField = {
  /** ID of the field, such as `core.PodSpec.containers`. */
  readonly id: string
  readonly target: Target
  readonly path: Path
  readonly container: Container
  readonly field: Field | undefined
  /**
   * Whether another kind has the same field and is sent with all shapes of it. This kind is then
   * sent with only one shape.
   */
  readonly isShared: boolean
}

type Occurrence = Omit<SweptField, 'isShared'>

export async function loadTargets(): Promise<Target[]> {
  const all = builtInResources({ isServed: () => true })
  const seeds = new Map<string, Target['seed']>()
  const names = new Map<string, string>()
  for (const object of [
    ...readStored().map((row) => row.object),
    ...(await loadSeeds()).map((seed) => seed.object),
  ]) {
    const copy: Json = JSON.parse(JSON.stringify(object))
    if (!isFields(copy) || isFilled(copy)) continue
    const id = `${textOf(copy['apiVersion'])} ${textOf(copy['kind'])}`
    if (seeds.has(id)) continue
    seeds.set(id, cleaned(copy))
    if (isFields(copy['metadata'])) names.set(id, textOf(copy['metadata']['name']))
  }
  const targets = all
    .filter(({ verbs }) => verbs.includes('create'))
    .map((resource): Target => {
      const { group, kind, plural, isNamespaced, isStored, shape, verbs, subresources } = resource
      const seed = ownSeeds[kind] ?? seeds.get(idOf(resource)) ?? {}
      const apiVersion = apiVersionOf(resource)
      return {
        apiVersion,
        kind,
        group,
        plural,
        isNamespaced,
        isStored,
        struct: shape.struct,
        verbs,
        subresources: subresources.map(({ name }) => name),
        seed: { ...seed, apiVersion, kind },
        seedName: names.get(idOf(resource)),
      }
    })
  return [...targets, ...parts, ...customTargets]
}

const idOf = (resource: Resource): string => `${apiVersionOf(resource)} ${resource.kind}`

/** Whether every field of the object is set. Such an object is not valid. */
const isFilled = (object: Target['seed']): boolean =>
  isFields(object['metadata']) && object['metadata']['deletionGracePeriodSeconds'] !== undefined

/**
 * Returns the object as a client would send it, without a name and without fields that the server
 * sets.
 */
function cleaned(object: Target['seed']): Target['seed'] {
  const { metadata, ...rest } = object
  const { labels, annotations } = isFields(metadata) ? metadata : {}
  const kept = {
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  }
  return Object.fromEntries(
    Object.entries({ ...rest, metadata: kept }).filter(([name]) => name !== 'status'),
  )
}

const attributes = { verb: 'get', resource: 'pods', namespace: 'sweep' }
const template = {
  metadata: { labels: { a: 'b' } },
  spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] },
}
const apiGroup = 'rbac.authorization.k8s.io'
const roleRef = { apiGroup, kind: 'ClusterRole', name: 'view' }
const subjects = [{ apiGroup, kind: 'User', name: 'a' }]
/**
 * Handwritten seed objects. They are needed for kinds that are not stored, and for kinds whose
 * recorded objects contain values that the server sets.
 */
const ownSeeds: { readonly [kind: string]: Target['seed'] } = {
  Pod: { spec: { containers: [{ name: 'a', image: 'a' }] } },
  Job: { spec: { template } },
  RoleBinding: { roleRef, subjects },
  ClusterRoleBinding: { roleRef, subjects },
  Binding: { target: { kind: 'Node', name: 'none' } },
  SelfSubjectReview: {},
  TokenReview: { spec: { token: 'wrong' } },
  LocalSubjectAccessReview: {
    metadata: { namespace: 'sweep' },
    spec: { user: 'u', resourceAttributes: attributes },
  },
  SelfSubjectAccessReview: { spec: { resourceAttributes: attributes } },
  SubjectAccessReview: { spec: { user: 'u', resourceAttributes: attributes } },
  SelfSubjectRulesReview: { spec: { namespace: 'sweep' } },
}

function partOf(
  part: NonNullable<Target['part']>,
  packageName: string,
  kind: string,
  seed: Target['seed'],
): Target {
  const apiVersion =
    packageName === 'meta/v1'
      ? 'v1'
      : packageName.replace('core/', '').replace('authentication/', 'authentication.k8s.io/')
  return {
    apiVersion,
    kind,
    group: '',
    plural: {
      eviction: 'pods',
      token: 'serviceaccounts',
      binding: 'pods',
      scale: 'replicationcontrollers',
      delete: 'configmaps',
    }[part],
    isNamespaced: true,
    isStored: false,
    struct: commonType(packageName, kind),
    verbs: ['create'],
    subresources: [],
    seed: { apiVersion, kind, ...seed },
    part,
  }
}

const parts: readonly Target[] = [
  partOf('eviction', 'policy/v1', 'Eviction', {}),
  partOf('token', 'authentication/v1', 'TokenRequest', {
    spec: { audiences: ['a'], expirationSeconds: 3600 },
  }),
  partOf('binding', 'core/v1', 'Binding', { target: { kind: 'Node', name: 'none' } }),
  partOf('scale', 'autoscaling/v1', 'Scale', { spec: { replicas: 1 } }),
  partOf('delete', 'meta/v1', 'DeleteOptions', {}),
]

/**
 * Returns the fields to sweep. If several kinds share a type, its fields are listed only for the
 * best of them. Fields of metadata and of `spec` are also listed for the other kinds, with
 * `isShared`.
 */
export function fieldsOf(targets: readonly Target[]): SweptField[] {
  const all = targets.flatMap((target) => occurrencesIn(target))
  const best = new Map<string, Occurrence>()
  for (const one of all) {
    const other = best.get(one.id)
    if (other === undefined || rankOf(one) < rankOf(other)) best.set(one.id, one)
  }
  const isTop = ({ path }: Occurrence): boolean => path[0] === 'metadata' || path.at(-2) === 'spec'
  return all
    .filter((one) => best.get(one.id) === one || isTop(one))
    .map((one) => ({ ...one, isShared: best.get(one.id) !== one }))
}

/**
 * Ranks a field of a kind, for the choice among kinds that share its type. The lowest rank is the
 * best. Prefers stored kinds, Pods (for metadata: ConfigMaps), stable versions and short paths.
 */
function rankOf({ target, path }: Occurrence): number {
  const isMetadata = path[0] === 'metadata'
  const preferred = isMetadata ? target.kind === 'ConfigMap' : target.kind === 'Pod'
  const isRare = path.includes('initContainers') || path.includes('ephemeralContainers')
  return (
    (target.isStored ? 0 : 1000) +
    (preferred ? 0 : 10) +
    path.length +
    (isRare ? 1 : 0) +
    (/alpha|beta/.test(target.apiVersion) ? 5 : 0)
  )
}

function occurrencesIn(target: Target): Occurrence[] {
  const found = new Map<string, Occurrence>()
  const visit = (
    schema: Schema,
    around: { id: string; path: Path; field: Field | undefined },
    seen: ReadonlySet<Struct>,
  ): void => {
    const { id, path, field } = around
    if (path.length > DEPTH_MAX) return
    if (schema.type === 'list' || schema.type === 'map') {
      const known = found.get(id)
      if (known === undefined || known.path.length > path.length)
        found.set(id, { id, target, path, container: schema, field })
      const step = schema.type === 'list' ? '0' : 'k'
      visit(schema.of, { id: `${id}[]`, path: [...path, step], field: undefined }, seen)
    }
    if (schema.type !== 'struct' || seen.has(schema)) return
    const inside = new Set([...seen, schema])
    for (const own of schema.fields) {
      const named = `${schema.packageName.replace(/\/v.*/, '')}.${schema.name}.${own.name}`
      visit(own.schema, { id: named, path: [...path, own.name], field: own }, inside)
    }
  }
  visit(target.struct, { id: target.kind, path: [], field: undefined }, new Set())
  return [...found.values()]
}

/**
 * All kinds in kube-apiserver's scheme, including old versions. If a body has the wrong kind, the
 * error depends on whether the kind is registered in the scheme.
 */
import type { RegisteredKind, Scheme } from '../objects/schema/object-schema.ts'
import { splitApiVersion } from './read-resources.ts'
import { findType } from './types.ts'

/**
 * Package names of API groups in the catalog of types. The packages of Kubernetes' internal Go
 * types have the same names.
 */
const packages: ReadonlyMap<string, string> = new Map([
  ['', 'core'],
  ['admission.k8s.io', 'admission'],
  ['admissionregistration.k8s.io', 'admissionregistration'],
  ['apps', 'apps'],
  ['authentication.k8s.io', 'authentication'],
  ['authorization.k8s.io', 'authorization'],
  ['autoscaling', 'autoscaling'],
  ['batch', 'batch'],
  ['certificates.k8s.io', 'certificates'],
  ['coordination.k8s.io', 'coordination'],
  ['discovery.k8s.io', 'discovery'],
  ['events.k8s.io', 'events'],
  ['extensions', 'extensions'],
  ['flowcontrol.apiserver.k8s.io', 'flowcontrol'],
  ['imagepolicy.k8s.io', 'imagepolicy'],
  ['internal.apiserver.k8s.io', 'apiserverinternal'],
  ['lifecycle.k8s.io', 'lifecycle'],
  ['networking.k8s.io', 'networking'],
  ['node.k8s.io', 'node'],
  ['policy', 'policy'],
  ['rbac.authorization.k8s.io', 'rbac'],
  ['resource.k8s.io', 'resource'],
  ['scheduling.k8s.io', 'scheduling'],
  ['storage.k8s.io', 'storage'],
  ['storagemigration.k8s.io', 'storagemigration'],
])

/** Kinds that kube-apiserver registers in every group and version, such as DeleteOptions. */
const commonKinds: ReadonlySet<string> = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'WatchEvent',
])
/** Kinds of the core group that have no type in the catalog. */
const coreKinds: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'List',
  'Status',
])

/** Kinds whose internal version is in another group. */
const movedHubs: ReadonlyMap<string, string> = new Map([
  ['events.Event', 'core.Event'],
  ['extensions.DaemonSet', 'apps.DaemonSet'],
  ['extensions.Deployment', 'apps.Deployment'],
  ['extensions.ReplicaSet', 'apps.ReplicaSet'],
  ['extensions.Scale', 'autoscaling.Scale'],
  ['extensions.Ingress', 'networking.Ingress'],
  ['extensions.NetworkPolicy', 'networking.NetworkPolicy'],
  ['apps.Scale', 'autoscaling.Scale'],
])

/**
 * Schemes of CustomResourceDefinitions and APIServices, keyed by API group. In kube-apiserver,
 * separate servers serve these kinds. Each of them has its own scheme, which contains only its own
 * kinds.
 */
const smallSchemes: ReadonlyMap<string, { readonly name: string; readonly kind: string }> = new Map(
  [
    [
      'apiextensions.k8s.io',
      {
        name: 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55',
        kind: 'CustomResourceDefinition',
      },
    ],
    [
      'apiregistration.k8s.io',
      { name: 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28', kind: 'APIService' },
    ],
  ],
)

/** The main scheme of each release that the process uses. */
const mainSchemes = new Map<number, Scheme>()

/** Returns the scheme that decodes request bodies for the resources of a group in a release. */
export function schemeOf(group: string, release: number): Scheme {
  const small = smallSchemes.get(group)
  if (small === undefined) return mainSchemeOf(release)
  const find = (apiVersion: string, kind: string): RegisteredKind | undefined => {
    const { group: own, version } = splitApiVersion(apiVersion)
    const isOwn =
      own === group && kind === small.kind && (version === 'v1' || version === 'v1beta1')
    return isOwn ? { goName: `${version}.${kind}`, hubName: kind } : undefined
  }
  return { name: small.name, find }
}

function mainSchemeOf(release: number): Scheme {
  const scheme = mainSchemes.get(release) ?? {
    name: 'pkg/api/legacyscheme/scheme.go:30',
    find: (apiVersion, kind) => findKind(apiVersion, kind, release),
  }
  mainSchemes.set(release, scheme)
  return scheme
}

export function findKind(
  apiVersion: string,
  kind: string,
  release: number,
): RegisteredKind | undefined {
  const { group, version } = splitApiVersion(apiVersion)
  const packageName = packages.get(group)
  if (packageName === undefined || !isKnown({ packageName, version, kind, release }))
    return undefined
  const hubName = commonKinds.has(kind) ? `v1.${kind}` : `${packageName}.${kind}`
  return {
    goName: `${commonKinds.has(kind) ? 'v1' : version}.${kind}`,
    hubName: movedHubs.get(hubName) ?? hubName,
    struct:
      findType(`${packageName}/${version}`, kind, release) ?? findType('meta/v1', kind, release),
  }
}

type KindOfRelease = {
  readonly packageName: string
  readonly version: string
  readonly kind: string
  readonly release: number
}

function isKnown({ packageName, version, kind, release }: KindOfRelease): boolean {
  if (commonKinds.has(kind)) return true
  if (packageName === 'core' && version === 'v1' && coreKinds.has(kind)) return true
  const single = kind.endsWith('List') ? kind.slice(0, -'List'.length) : kind
  const versions = version === '__internal' ? ['v1', 'v2'] : [version]
  return versions.some(
    (one) => findType(`${packageName}/${one}`, single, release)?.byName.has('apiVersion') === true,
  )
}

export const packageOfGroup = (group: string): string | undefined => packages.get(group)

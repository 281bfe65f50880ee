/** The objects that every cluster begins with, as upstream writes them. */
import type { Fields } from '../api/object.ts'
import { groupPriority, versionPriority } from '../registry/priorities.ts'
import type { Registry } from '../registry/registry.ts'

export type Wanted = { readonly collection: string; readonly object: Fields }

const systemNamespaces = ['kube-system', 'kube-public', 'kube-node-lease', 'default'] as const

/** What others cannot do without: a server is not ready before it is there. */
export const namespaces: readonly Wanted[] = systemNamespaces.map((name) => ({
  collection: '/api/v1/namespaces',
  object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
}))

const priorityClasses: readonly Wanted[] = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
].map(({ name, ...fields }) => ({
  collection: '/apis/scheduling.k8s.io/v1/priorityclasses',
  object: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, ...fields },
}))

/** What is looked at later, by people and by a few tools. */
export const otherObjects = (registry: Registry): readonly Wanted[] => [
  ...priorityClasses.filter(() => isServed(registry, 'scheduling.k8s.io', 'priorityclasses')),
  ...apiServices(registry).filter(() => isServed(registry, aggregatorGroup, 'apiservices')),
]

const isServed = (registry: Registry, group: string, plural: string): boolean =>
  registry.find({ group, version: 'v1', plural }) !== undefined

const aggregatorGroup = 'apiregistration.k8s.io'

/** One for each version of each group, but that of the APIServices themselves. */
function apiServices(registry: Registry): Wanted[] {
  const versions = new Map(registry.all().map(({ group, version }) => [`${version}.${group}`, { group, version }]))
  return [...versions]
    .filter(([, { group }]) => group !== aggregatorGroup)
    .map(([name, place]) => apiService(name, place))
}

function apiService(name: string, { group, version }: { readonly group: string; readonly version: string }): Wanted {
  return {
    collection: `/apis/${aggregatorGroup}/v1/apiservices`,
    object: {
      apiVersion: `${aggregatorGroup}/v1`,
      kind: 'APIService',
      metadata: { name, labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
      spec: {
        ...(group === '' ? {} : { group }),
        version,
        groupPriorityMinimum: groupPriority(group),
        versionPriority: versionPriority(group, version),
      },
    },
  }
}

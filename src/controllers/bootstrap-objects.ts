/** The objects that every new cluster has, as kube-apiserver writes them. */
import { type Cidr, formatIp } from '../api/ip.ts'
import { textOf } from '../api/object.ts'
import { groupPriority, versionPriority } from '../registry/priorities.ts'
import type { Registry } from '../registry/registry.ts'
import { apiVersionOf } from '../registry/resource.ts'
import { flowControlObjects } from './bootstrap-flow-control.ts'
import { trackingConfigMap } from './legacy-token-tracking.ts'
import type { RequiredObject } from './wanted.ts'

const systemNamespaces = ['kube-system', 'kube-public', 'kube-node-lease', 'default'] as const

const namespaces: readonly RequiredObject[] = systemNamespaces.map((name) => ({
  collection: '/api/v1/namespaces',
  object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
}))

const priorityClasses: readonly RequiredObject[] = [
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
  object: {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    ...fields,
  },
}))

export type Cluster = {
  readonly registry: Registry
  /** The cluster IP ranges. */
  readonly ranges: readonly Cidr[]
  /** The port on which the server listens. */
  readonly port: number
  /** The node port of the Service `kubernetes`; 0 means that the Service has no node port. */
  readonly nodePort: number
  /** The current time in the format of metadata timestamps. */
  readonly now: string
}

/** Objects that are created before the server is ready. */
export const firstObjects: readonly RequiredObject[] = namespaces

/** Objects that are recreated if they are deleted. */
export const keptObjects = (cluster: Cluster): readonly RequiredObject[] => [
  ...namespaces,
  ...served(cluster, [kubernetesService(cluster)]),
]

/** Objects of flow control, which are reset if a user changes them. */
export const keptFlows = (cluster: Cluster): readonly RequiredObject[] =>
  served(cluster, flowControlObjects(cluster.registry.release))

/** Objects that are created after the server is ready. */
export const otherObjects = (cluster: Cluster): readonly RequiredObject[] =>
  served(cluster, [
    kubernetesService(cluster),
    ...priorityClasses,
    ...flowControlObjects(cluster.registry.release),
    trackingConfigMap(cluster.now.slice(0, 10)),
    ...apiServices(cluster.registry),
  ])

/** Returns the objects whose resources are served. --runtime-config can disable resources. */
const served = ({ registry }: Cluster, objects: readonly RequiredObject[]): RequiredObject[] => {
  const all = new Set(
    registry.all().map((resource) => `${resource.plural} ${apiVersionOf(resource)}`),
  )
  return objects.filter(({ collection, object }) =>
    all.has(`${collection.slice(collection.lastIndexOf('/') + 1)} ${textOf(object['apiVersion'])}`),
  )
}

/**
 * Returns the Service `kubernetes` for the API server itself. Its cluster IP is the first address
 * of the cluster IP range.
 */
function kubernetesService({ ranges, port, nodePort }: Cluster): RequiredObject {
  const [{ family, first }] = [...ranges, { family: 'IPv4', first: 0n } as const]
  return {
    collection: '/api/v1/namespaces/default/services',
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: {
        type: nodePort === 0 ? 'ClusterIP' : 'NodePort',
        clusterIP: formatIp({ family, value: first + 1n }),
        ipFamilyPolicy: 'SingleStack',
        sessionAffinity: 'None',
        ports: [
          {
            name: 'https',
            protocol: 'TCP',
            port: 443,
            targetPort: port,
            ...(nodePort === 0 ? {} : { nodePort }),
          },
        ],
      },
    },
  }
}

const aggregatorGroup = 'apiregistration.k8s.io'

/**
 * Returns an APIService for each served group version, except for the group version of APIService
 * itself.
 */
function apiServices(registry: Registry): RequiredObject[] {
  const versions = new Map(
    registry.all().map(({ group, version }) => [`${version}.${group}`, { group, version }]),
  )
  return [...versions]
    .filter(([, { group }]) => group !== aggregatorGroup)
    .map(([name, place]) => apiService(name, place))
}

function apiService(
  name: string,
  { group, version }: { readonly group: string; readonly version: string },
): RequiredObject {
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

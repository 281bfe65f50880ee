/**
 * Objects of Cluster API, and the kinds of an infrastructure provider whose machines exist only as
 * objects.
 */
import type { Manifest } from './manifests.ts'

export const NAMESPACE = 'fleet'
export const VERSION = 'v1.32.4'

export const groups = {
  core: 'cluster.x-k8s.io',
  infrastructure: 'infrastructure.cluster.x-k8s.io',
  bootstrap: 'bootstrap.cluster.x-k8s.io',
  controlPlane: 'controlplane.cluster.x-k8s.io',
} as const

/**
 * Returns the CustomResourceDefinition of a kind with an arbitrary spec and status. From its label,
 * Cluster API learns which version of the kind to use.
 */
const definition = (group: string, kind: string, spec: object = {}): Manifest => {
  const plural = `${kind.toLowerCase()}s`
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { ...open, properties: spec }, status: open },
    },
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { 'cluster.x-k8s.io/v1beta1': 'v1' } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  }
}

/**
 * Kinds of the provider. Some of their fields have defaults. When Cluster API applies such an
 * object again, it must not treat the defaults as changes.
 */
export const providerKinds: readonly Manifest[] = [
  definition(groups.infrastructure, 'PlayCluster', {
    region: { type: 'string', default: 'north' },
  }),
  definition(groups.infrastructure, 'PlayClusterTemplate'),
  definition(groups.infrastructure, 'PlayMachine', { size: { type: 'integer', default: 1 } }),
  definition(groups.infrastructure, 'PlayMachineTemplate'),
  definition(groups.bootstrap, 'PlayConfig'),
  definition(groups.bootstrap, 'PlayConfigTemplate'),
  definition(groups.controlPlane, 'PlayControlPlane'),
  definition(groups.controlPlane, 'PlayControlPlaneTemplate'),
]

export const object = (
  apiVersion: string,
  kind: string,
  name: string,
  spec: object,
  metadata: object = {},
): Manifest => ({ apiVersion, kind, metadata: { name, namespace: NAMESPACE, ...metadata }, spec })

export const core = (
  kind: string,
  name: string,
  spec: object,
  metadata: object = {},
  version = 'v1beta1',
): Manifest => object(`${groups.core}/${version}`, kind, name, spec, metadata)

export const infrastructure = (kind: string, name: string, spec: object = {}): Manifest =>
  object(`${groups.infrastructure}/v1`, kind, name, spec)

export const bootstrap = (kind: string, name: string, spec: object = {}): Manifest =>
  object(`${groups.bootstrap}/v1`, kind, name, spec)

export const controlPlane = (kind: string, name: string, spec: object = {}): Manifest =>
  object(`${groups.controlPlane}/v1`, kind, name, spec)

/** Returns a reference in Cluster API's format. */
export const refTo = ({ apiVersion, kind, metadata }: Manifest): object => ({
  apiVersion,
  kind,
  name: metadata.name,
})

export const templates: readonly Manifest[] = [
  infrastructure('PlayClusterTemplate', 'cluster', { template: { spec: { zone: 'a' } } }),
  infrastructure('PlayMachineTemplate', 'machine', { template: { spec: { disk: 10 } } }),
  infrastructure('PlayMachineTemplate', 'bigger', { template: { spec: { disk: 20 } } }),
  bootstrap('PlayConfigTemplate', 'config', { template: { spec: { files: [] } } }),
  controlPlane('PlayControlPlaneTemplate', 'plane', { template: { spec: { mode: 'quiet' } } }),
]

export const machineTemplate = infrastructure('PlayMachineTemplate', 'machine')
export const configTemplate = bootstrap('PlayConfigTemplate', 'config')

const classRef = (manifest: Manifest): object => ({ ref: refTo(manifest) })

export const workerClass = (name: string, machine = 'machine'): object => ({
  class: name,
  template: {
    metadata: { labels: { worker: name } },
    bootstrap: classRef(configTemplate),
    infrastructure: classRef(infrastructure('PlayMachineTemplate', machine)),
  },
})

export const clusterClass = (name: string, spec: object = {}): Manifest =>
  core('ClusterClass', name, {
    infrastructure: classRef(infrastructure('PlayClusterTemplate', 'cluster')),
    controlPlane: classRef(controlPlane('PlayControlPlaneTemplate', 'plane')),
    workers: { machineDeployments: [workerClass('small')] },
    variables: [
      {
        name: 'zone',
        required: true,
        schema: { openAPIV3Schema: { type: 'string', enum: ['a', 'b'] } },
      },
      {
        name: 'disk',
        required: false,
        schema: { openAPIV3Schema: { type: 'integer', minimum: 1, default: 30 } },
      },
    ],
    patches: [
      {
        name: 'zone',
        definitions: [
          {
            selector: {
              apiVersion: `${groups.infrastructure}/v1`,
              kind: 'PlayClusterTemplate',
              matchResources: { infrastructureCluster: true },
            },
            jsonPatches: [
              { op: 'replace', path: '/spec/template/spec/zone', valueFrom: { variable: 'zone' } },
            ],
          },
          {
            selector: {
              apiVersion: `${groups.infrastructure}/v1`,
              kind: 'PlayMachineTemplate',
              matchResources: { machineDeploymentClass: { names: ['small'] } },
            },
            jsonPatches: [
              { op: 'replace', path: '/spec/template/spec/disk', valueFrom: { variable: 'disk' } },
            ],
          },
        ],
      },
    ],
    ...spec,
  })

export const topologyCluster = (name: string, topology: object = {}): Manifest =>
  core('Cluster', name, {
    topology: {
      class: 'play',
      version: VERSION,
      controlPlane: {},
      workers: { machineDeployments: [{ class: 'small', name: 'md', replicas: 1 }] },
      variables: [{ name: 'zone', value: 'b' }],
      ...topology,
    },
  })

export const cluster = (name: string, spec: object = {}, metadata: object = {}): Manifest =>
  core(
    'Cluster',
    name,
    { infrastructureRef: refTo(infrastructure('PlayCluster', name)), ...spec },
    metadata,
  )

const machineSpec = (clusterName: string, spec: object = {}): object => ({
  clusterName,
  version: VERSION,
  bootstrap: { configRef: refTo(configTemplate) },
  infrastructureRef: refTo(machineTemplate),
  ...spec,
})

export const machineDeployment = (
  name: string,
  clusterName: string,
  spec: object = {},
  template: object = {},
): Manifest =>
  core('MachineDeployment', name, {
    clusterName,
    template: { spec: machineSpec(clusterName, template) },
    ...spec,
  })

export const machineSet = (name: string, clusterName: string, spec: object = {}): Manifest =>
  core('MachineSet', name, { clusterName, template: { spec: machineSpec(clusterName) }, ...spec })

export const machine = (name: string, clusterName: string, spec: object = {}): Manifest =>
  core('Machine', name, {
    clusterName,
    bootstrap: { dataSecretName: 'data' },
    infrastructureRef: refTo(infrastructure('PlayMachine', name)),
    ...spec,
  })

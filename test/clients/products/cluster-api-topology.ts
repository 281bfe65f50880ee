/**
 * Tests a cluster with a ClusterClass, from its first object to a running machine and its deletion.
 * This covers Cluster API's controllers and their server-side applies.
 */
import { kubeconfig } from '../../support/harness/kubectl.ts'
import * as objects from './cluster-api-objects.ts'
import { arrayAt, at, textAt } from './fields.ts'
import type { Manifest } from './manifests.ts'
import { takeSnapshot } from './outcome.ts'
import type { Ref, Stage } from './stage.ts'

const topo = objects.topologyCluster('topo')
const node: Manifest = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'played' },
  spec: { providerID: 'play://1' },
}

export async function reconciled(stage: Stage): Promise<void> {
  await makeClass(stage)
  await make(stage)
  await provide(stage)
  await run(stage)
  await takeSnapshot(stage, 'a cluster that runs')
  await change(stage)
  await takeSnapshot(stage, 'a cluster that was changed')
  await remove(stage)
}

async function makeClass(stage: Stage): Promise<void> {
  const play = objects.clusterClass('play')
  await stage.create('topology: a class', play)
  await stage.until('the class is reconciled', async () => {
    const found = await stage.find(play)
    const variables = arrayAt(found, 'status', 'variables')
    return (
      variables.length > 0 &&
      at(found, 'status', 'observedGeneration') === at(found, 'metadata', 'generation')
    )
  })
}

async function make(stage: Stage): Promise<void> {
  const tried = (name: string, topology: object): Promise<unknown> =>
    stage.create(`topology: ${name}`, objects.topologyCluster('tried', topology), {
      query: 'dryRun=All',
    })
  await tried('defaults of variables', {})
  await tried('a missing variable', { variables: [] })
  await tried('a value that is not allowed', { variables: [{ name: 'zone', value: 'c' }] })
  await tried('an unknown variable', {
    variables: [
      { name: 'zone', value: 'a' },
      { name: 'more', value: 1 },
    ],
  })
  await tried('a value of another type', {
    variables: [
      { name: 'zone', value: 'a' },
      { name: 'disk', value: 'x' },
    ],
  })
  await tried('a worker class that does not exist', {
    workers: { machineDeployments: [{ class: 'huge', name: 'md' }] },
  })
  const twice = [
    { class: 'small', name: 'md' },
    { class: 'small', name: 'md' },
  ]
  await tried('two workers with the same name', { workers: { machineDeployments: twice } })
  await stage.create('topology: a cluster', topo)
  await stage.until('the topology exists', async () => {
    const found = await stage.find(topo)
    return (
      at(found, 'spec', 'infrastructureRef') !== undefined &&
      at(found, 'spec', 'controlPlaneRef') !== undefined
    )
  })
}

/** Simulates the controllers of an infrastructure provider. */
async function provide(stage: Stage): Promise<void> {
  const found = await stage.find(topo)
  const infrastructure = refOf(at(found, 'spec', 'infrastructureRef'))
  const plane = refOf(at(found, 'spec', 'controlPlaneRef'))
  const merge = { type: 'merge' }
  const status = { type: 'merge', subresource: 'status' }
  await stage.write(
    'PATCH',
    infrastructure,
    { spec: { controlPlaneEndpoint: { host: 'example.com', port: 6443 } } },
    merge,
  )
  await stage.write('PATCH', infrastructure, { status: { ready: true } }, status)
  await stage.until(
    'the infrastructure is ready',
    async () => at(await stage.find(topo), 'status', 'infrastructureReady') === true,
  )
  const secret: Manifest = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'topo-kubeconfig',
      namespace: objects.NAMESPACE,
      labels: { 'cluster.x-k8s.io/cluster-name': 'topo' },
    },
    type: 'cluster.x-k8s.io/secret',
    stringData: { value: JSON.stringify(kubeconfig(stage.server)) },
  }
  // Install the kubeconfig with which Cluster API connects to the workload cluster. In this test,
  // the management cluster is also the workload cluster.
  await stage.install([secret])
  const counts = { replicas: 1, readyReplicas: 1, updatedReplicas: 1, unavailableReplicas: 0 }
  const isThere = {
    initialized: true,
    ready: true,
    version: objects.VERSION,
    externalManagedControlPlane: true,
    ...counts,
  }
  await stage.write('PATCH', plane, { status: isThere }, status)
  await stage.until(
    'the control plane is ready',
    async () => at(await stage.find(topo), 'status', 'controlPlaneReady') === true,
  )
}

async function run(stage: Stage): Promise<void> {
  const machines = `/apis/cluster.x-k8s.io/v1beta1/namespaces/${objects.NAMESPACE}/machines?labelSelector=cluster.x-k8s.io/cluster-name=topo`
  await stage.until('a machine exists', async () => (await stage.list(machines)).length === 1)
  const [machine] = await stage.list(machines)
  const status = { type: 'merge', subresource: 'status' }
  const config = refOf(at(machine, 'spec', 'bootstrap', 'configRef'))
  await stage.write('PATCH', config, { status: { ready: true, dataSecretName: 'data' } }, status)
  // Set the status of the two objects one after the other. Otherwise the machine's controller might
  // react to both changes at once, and the result would depend on timing.
  await stage.until(
    'the machine has its data',
    async () => at((await stage.list(machines))[0], 'status', 'bootstrapReady') === true,
  )
  const infrastructure = refOf(at(machine, 'spec', 'infrastructureRef'))
  await stage.write(
    'PATCH',
    infrastructure,
    { spec: { providerID: 'play://1' } },
    { type: 'merge' },
  )
  const addresses = [{ type: 'InternalIP', address: '10.1.1.1' }]
  await stage.write('PATCH', infrastructure, { status: { ready: true, addresses } }, status)
  await stage.install([node])
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Played', message: '' }]
  const nodeInfo = { status: { conditions, nodeInfo: { kubeletVersion: objects.VERSION } } }
  await stage.write('PATCH', node, nodeInfo, { type: 'strategic', subresource: 'status' })
  await stage.until(
    'the machine runs',
    async () => at((await stage.list(machines))[0], 'status', 'phase') === 'Running',
  )
}

const topology = (value: object): object => ({ spec: { topology: value } })

async function change(stage: Stage): Promise<void> {
  await stage.patch('topology: another class', topo, topology({ class: 'other' }))
  await stage.patch('topology: an older version', topo, topology({ version: 'v1.31.0' }))
  await stage.patch('topology: two minor versions at once', topo, topology({ version: 'v1.34.0' }))
  await stage.patch('topology: it cannot be removed', topo, { spec: { topology: null } })
  const play = objects.clusterClass('play')
  await stage.step('topology: a class in use is not deleted', 'DELETE', play)
  await stage.patch('topology: a class in use keeps its workers', play, {
    spec: { workers: { machineDeployments: [objects.workerClass('other')] } },
  })
  await stage.patch('topology: a class in use keeps its kinds', play, {
    spec: { infrastructure: { ref: { kind: 'PlayMachineTemplate', name: 'machine' } } },
  })
  await stage.settled(topo)
  await stage.patch(
    'topology: another value',
    topo,
    topology({
      variables: [
        { name: 'zone', value: 'a' },
        { name: 'disk', value: 30 },
      ],
    }),
  )
  const found = await stage.find(topo)
  const infrastructure = refOf(at(found, 'spec', 'infrastructureRef'))
  await stage.until(
    'the new value is applied',
    async () => at(await stage.find(infrastructure), 'spec', 'zone') === 'a',
  )
  // Cluster API must restore the fields that it owns. It must keep fields that other managers have
  // added to the object.
  await stage.write('PATCH', infrastructure, { spec: { zone: 'z', theirs: 1 } }, { type: 'merge' })
  await stage.until(
    'owned fields are restored',
    async () => at(await stage.find(infrastructure), 'spec', 'zone') === 'a',
  )
  const workers = { workers: { machineDeployments: [{ class: 'small', name: 'md', replicas: 2 }] } }
  await stage.settled(topo)
  await stage.patch('topology: two replicas', topo, topology(workers))
  const machines = `/apis/cluster.x-k8s.io/v1beta1/namespaces/${objects.NAMESPACE}/machines?labelSelector=cluster.x-k8s.io/cluster-name=topo`
  await stage.until('two machines exist', async () => (await stage.list(machines)).length === 2)
}

async function remove(stage: Stage): Promise<void> {
  await stage.step('topology: the cluster is deleted', 'DELETE', topo)
  await stage.until('the cluster is gone', async () => (await stage.find(topo)) === undefined)
  const play = objects.clusterClass('play')
  await stage.settled(play)
  await stage.step('topology: its class is deleted', 'DELETE', play)
  await stage.until('the class is gone', async () => (await stage.find(play)) === undefined)
}

/** Returns the object to which a reference refers. */
function refOf(reference: unknown): Ref {
  return {
    apiVersion: textAt(reference, 'apiVersion'),
    kind: textAt(reference, 'kind'),
    metadata: { name: textAt(reference, 'name'), namespace: objects.NAMESPACE },
  }
}

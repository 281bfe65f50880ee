/**
 * Tests the defaults, rejections and conversions of Cluster API's webhooks. Most requests are dry
 * runs, so that controllers do not affect the responses.
 */
import * as objects from './cluster-api-objects.ts'
import type { Manifest } from './manifests.ts'
import type { Stage } from './stage.ts'

const { cluster, core, machine, machineDeployment, machineSet } = objects

export async function admitted(stage: Stage): Promise<void> {
  await stage.install([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: objects.NAMESPACE } },
    ...objects.templates,
  ])
  await tryClusters(stage)
  await tryMachineDeployments(stage)
  await tryMachines(stage)
  await tryHealthChecks(stage)
  await tryMachinePools(stage)
  await tryResourceSets(stage)
  await tryDrainRules(stage)
  await tryExtensions(stage)
  await tryAddresses(stage)
  await tryClasses(stage)
  await update(stage)
  await convert(stage)
}

const tried = (stage: Stage, name: string, object: Manifest): Promise<unknown> =>
  stage.create(name, object, { query: 'dryRun=All' })

async function tryClusters(stage: Stage): Promise<void> {
  const elsewhere = {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1',
    kind: 'PlayCluster',
    name: 'a',
    namespace: 'default',
  }
  await tried(stage, 'cluster: defaults', cluster('a'))
  await tried(
    stage,
    'cluster: infrastructure in another namespace',
    cluster('a', { infrastructureRef: elsewhere }),
  )
  await tried(
    stage,
    'cluster: control plane in another namespace',
    cluster('a', { controlPlaneRef: elsewhere }),
  )
  await tried(
    stage,
    'cluster: an invalid network',
    cluster('a', { clusterNetwork: { pods: { cidrBlocks: ['10.0.0.0/99'] } } }),
  )
  await tried(
    stage,
    'cluster: an invalid port',
    cluster('a', { clusterNetwork: { apiServerPort: 'https' } }),
  )
  await tried(stage, 'cluster: an invalid name', cluster('1a'))
  await tried(stage, 'cluster: an empty topology', cluster('a', { topology: {} }))
  await tried(
    stage,
    'cluster: a topology without a version',
    cluster('a', { topology: { class: 'none' } }),
  )
  await tried(
    stage,
    'cluster: an invalid version',
    core('Cluster', 'a', { topology: { class: 'none', version: '1.x' } }),
  )
  await tried(
    stage,
    'cluster: a class that does not exist',
    core('Cluster', 'a', { topology: { class: 'none', version: 'v1.32.0' } }),
  )
  await tried(stage, 'cluster: unknown fields', cluster('a', { colour: 'red' }))
  await stage.create('cluster: unknown fields, strictly', cluster('a', { colour: 'red' }), {
    query: 'dryRun=All&fieldValidation=Strict',
  })
}

async function tryMachineDeployments(stage: Stage): Promise<void> {
  const md = (name: string, spec?: object, template?: object): Promise<unknown> =>
    tried(stage, `machine deployment: ${name}`, machineDeployment('a', 'plain', spec, template))
  await md('defaults')
  await md('a version without v', {}, { version: '1.32.4' })
  await md('an invalid version', {}, { version: 'newest' })
  await md('a selector that does not match', { selector: { matchLabels: { a: 'b' } } })
  await md('a selector with an invalid operator', {
    selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] },
  })
  await md('too large a surge', {
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 'many' } },
  })
  await md('percentages', {
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '10%', maxUnavailable: '20%' } },
  })
  await md('an unknown strategy', { strategy: { type: 'Sometimes' } })
  await md('remediation', { strategy: { type: 'OnDelete', remediation: { maxInFlight: 'x' } } })
  await md('negative replicas', { replicas: -1 })
  await md('two clusters', {}, { clusterName: 'other' })
  const scaled = {
    'cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size': '3',
    'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size': '7',
  }
  const autoscaled = core('MachineDeployment', 'a', {
    clusterName: 'plain',
    template: {
      spec: {
        clusterName: 'plain',
        bootstrap: { dataSecretName: 'd' },
        infrastructureRef: objects.refTo(objects.machineTemplate),
      },
    },
  })
  await tried(stage, 'machine deployment: autoscaled', {
    ...autoscaled,
    metadata: { ...autoscaled.metadata, annotations: scaled },
  })
  await tried(stage, 'machine set: defaults', machineSet('a', 'plain'))
  await tried(
    stage,
    'machine set: an unknown delete policy',
    machineSet('a', 'plain', { deletePolicy: 'Largest' }),
  )
  await tried(
    stage,
    'machine set: a selector that does not match',
    machineSet('a', 'plain', { selector: { matchLabels: { a: 'b' } } }),
  )
}

const ref = (namespace: string): object => ({
  apiVersion: 'bootstrap.cluster.x-k8s.io/v1',
  kind: 'PlayConfig',
  name: 'a',
  namespace,
})

async function tryMachines(stage: Stage): Promise<void> {
  await tried(stage, 'machine: defaults', machine('a', 'plain', { version: '1.32.4' }))
  await tried(stage, 'machine: no bootstrap data', machine('a', 'plain', { bootstrap: {} }))
  await tried(
    stage,
    'machine: a configuration in another namespace',
    machine('a', 'plain', { bootstrap: { configRef: ref('default') } }),
  )
  await tried(
    stage,
    'machine: infrastructure in another namespace',
    machine('a', 'plain', { infrastructureRef: ref('default') }),
  )
  await tried(stage, 'machine: an invalid version', machine('a', 'plain', { version: 'v1' }))
  await tried(stage, 'machine: no cluster', machine('a', ''))
  await tried(
    stage,
    'machine: an invalid timeout',
    machine('a', 'plain', { nodeDrainTimeout: 'soon' }),
  )
}

async function tryHealthChecks(stage: Stage): Promise<void> {
  const health = (name: string, spec: object): Promise<unknown> =>
    tried(
      stage,
      `health check: ${name}`,
      core('MachineHealthCheck', 'a', {
        clusterName: 'plain',
        selector: { matchLabels: { a: 'b' } },
        ...spec,
      }),
    )
  await health('defaults', {
    unhealthyConditions: [{ type: 'Ready', status: 'False', timeout: '5m' }],
  })
  await health('no selector', { selector: {} })
  await health('a startup timeout that is too short', { nodeStartupTimeout: '10s' })
  await health('an invalid maximum', { maxUnhealthy: 'all' })
  await health('an invalid range', { unhealthyRange: '3-5' })
}

async function tryMachinePools(stage: Stage): Promise<void> {
  const pool = (name: string, template: object): Promise<unknown> =>
    tried(
      stage,
      `machine pool: ${name}`,
      core('MachinePool', 'a', {
        clusterName: 'plain',
        template: {
          spec: {
            clusterName: 'plain',
            infrastructureRef: objects.refTo(objects.machineTemplate),
            ...template,
          },
        },
      }),
    )
  await pool('defaults', { bootstrap: { dataSecretName: 'd' }, version: '1.32.4' })
  await pool('no bootstrap data', { bootstrap: {} })
}

const addons = (kind: string, name: string, spec: object): Manifest =>
  objects.object('addons.cluster.x-k8s.io/v1beta1', kind, name, spec)

async function tryResourceSets(stage: Stage): Promise<void> {
  const resources = [{ name: 'cni', kind: 'ConfigMap' }]
  const selector = { clusterSelector: { matchLabels: { cni: 'yes' } } }
  await tried(
    stage,
    'resource set: defaults',
    addons('ClusterResourceSet', 'a', { ...selector, resources }),
  )
  await tried(
    stage,
    'resource set: no selector',
    addons('ClusterResourceSet', 'a', { clusterSelector: {}, resources }),
  )
  await tried(
    stage,
    'resource set: an unknown kind',
    addons('ClusterResourceSet', 'a', { ...selector, resources: [{ name: 'a', kind: 'Pod' }] }),
  )
}

async function tryDrainRules(stage: Stage): Promise<void> {
  const drain = (name: string, spec: object): Promise<unknown> =>
    tried(stage, `drain rule: ${name}`, core('MachineDrainRule', 'a', spec))
  await drain('skip', {
    drain: { behavior: 'Skip' },
    pods: [{ selector: { matchLabels: { a: 'b' } } }],
  })
  await drain('skip with an order', { drain: { behavior: 'Skip', order: 3 } })
  await drain('duplicate rules', {
    drain: { behavior: 'Drain' },
    pods: [{ selector: {} }, { selector: {} }],
  })
  await drain('an invalid selector', {
    drain: { behavior: 'Drain' },
    pods: [{ selector: { matchLabels: { '-': 'b' } } }],
  })
}

async function tryExtensions(stage: Stage): Promise<void> {
  const extension = { clientConfig: { url: 'https://example.com' } }
  await tried(stage, 'extension: rejected without its feature gate', {
    apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1',
    kind: 'ExtensionConfig',
    metadata: { name: 'a' },
    spec: extension,
  })
}

const ipam = (kind: string, spec: object): Manifest =>
  objects.object('ipam.cluster.x-k8s.io/v1beta1', kind, 'a', spec)

async function tryAddresses(stage: Stage): Promise<void> {
  const poolRef = { apiGroup: 'ipam.example.com', kind: 'Pool', name: 'p' }
  await tried(stage, 'address claim', ipam('IPAddressClaim', { poolRef }))
  await tried(
    stage,
    'address',
    ipam('IPAddress', { claimRef: { name: 'a' }, poolRef, address: '10.0.0.1', prefix: 24 }),
  )
  await tried(
    stage,
    'address: an invalid prefix',
    ipam('IPAddress', { claimRef: { name: 'a' }, poolRef, address: '10.0.0.1', prefix: 300 }),
  )
}

const variable = (schema: object): object => ({
  patches: [],
  variables: [{ name: 'v', required: true, schema: { openAPIV3Schema: schema } }],
})

async function tryClasses(stage: Stage): Promise<void> {
  const small = objects.workerClass('small')
  const cases: readonly [string, object][] = [
    ['defaults', {}],
    ['two classes with the same name', { workers: { machineDeployments: [small, small] } }],
    ['a default of another type', variable({ type: 'string', default: 5 })],
    ['an unknown type', variable({ type: 'colour' })],
    [
      'a rule in CEL',
      variable({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 3' }] }),
    ],
    [
      'a rule that does not compile',
      variable({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >' }] }),
    ],
    [
      'a default that breaks its rule',
      variable({ type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self > 3' }] }),
    ],
    ['a patch with an unknown variable', { variables: [] }],
    ['an empty patch', { patches: [{ name: 'empty' }] }],
    [
      'a template in another namespace',
      {
        infrastructure: {
          ref: {
            apiVersion: 'infrastructure.cluster.x-k8s.io/v1',
            kind: 'PlayClusterTemplate',
            name: 'a',
            namespace: 'default',
          },
        },
      },
    ],
    [
      'an invalid template',
      {
        infrastructure: {
          ref: { apiVersion: 'infrastructure.cluster.x-k8s.io/v1', kind: 'PlayCluster', name: 'a' },
        },
      },
    ],
    ['no control plane', { controlPlane: {} }],
  ]
  for (const [name, spec] of cases)
    await tried(stage, `class: ${name}`, objects.clusterClass('a', spec))
}

/**
 * Tests that updates of stored objects are rejected. The objects stay unchanged. Their cluster is
 * paused, so that no controller acts on them.
 */
async function update(stage: Stage): Promise<void> {
  await stage.create('stored: cluster', cluster('plain', { paused: true }))
  const stored = [
    machineDeployment('md', 'plain'),
    machineSet('ms', 'plain', { replicas: 0 }),
    machine('m', 'plain'),
  ]
  for (const object of stored) await stage.create(`stored: ${object.kind}`, object)
  const [md, ms, m] = [machineDeployment('md', ''), machineSet('ms', ''), machine('m', '')]
  const moved = { spec: { clusterName: 'other' } }
  await stage.patch('update: a deployment moves to another cluster', md, moved)
  await stage.patch('update: a set moves to another cluster', ms, moved)
  await stage.patch('update: a machine moves to another cluster', m, moved)
  await stage.patch('update: a selector changes', md, {
    spec: { selector: { matchLabels: { x: 'y' } } },
  })
  await stage.patch('update: an invalid version', m, { spec: { version: 'x' } })
  await stage.patch('update: infrastructure in another namespace', cluster('plain'), {
    spec: { infrastructureRef: { namespace: 'default' } },
  })
  await stage.patch('update: a cluster gets a topology', cluster('plain'), {
    spec: { topology: { class: 'none', version: 'v1.32.0' } },
  })
  await stage.apply(
    'update: a rejected apply',
    machine('m', 'other'),
    'fieldManager=stage&force=true',
  )
  await stage.step('update: a scale', 'GET', md, undefined, { subresource: 'scale' })
  const { spec } = { spec: { replicas: -3 } }
  await stage.patch('update: a negative scale', md, { spec }, { subresource: 'scale' })
}

/** Tests an object in its three versions. The storage version is v1beta1. */
async function convert(stage: Stage): Promise<void> {
  const old = {
    infrastructureRef: {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1',
      kind: 'PlayCluster',
      name: 'old',
    },
    paused: true,
  }
  for (const version of ['v1alpha3', 'v1alpha4']) {
    const name = `old-${version}`
    const made = core('Cluster', name, old, {}, version)
    await stage.create(`conversion: a cluster of ${version}`, made)
    await stage.settled(made)
    for (const shown of ['v1alpha3', 'v1alpha4', 'v1beta1']) {
      await stage.step(
        `conversion: ${version} as ${shown}`,
        'GET',
        core('Cluster', name, {}, {}, shown),
      )
    }
    const network = { spec: { clusterNetwork: { services: { cidrBlocks: ['10.9.0.0/16'] } } } }
    await stage.patch(`conversion: ${version} is patched`, made, network)
    await stage.settled(made)
    const found = await stage.find(made)
    await stage.step(`conversion: ${version} is replaced by itself`, 'PUT', made, found)
    const wrong = { spec: { clusterNetwork: { pods: { cidrBlocks: ['x'] } } } }
    await stage.patch(`conversion: ${version} is rejected by the webhook of v1beta1`, made, wrong)
    const applied = core('Cluster', `applied-${version}`, old, {}, version)
    await stage.apply(`conversion: ${version} is applied`, applied)
    await stage.settled(applied)
    await stage.apply(`conversion: ${version} is applied again`, applied)
    await stage.step(
      `conversion: ${version} is deleted with a dry run`,
      'DELETE',
      made,
      undefined,
      {
        query: 'dryRun=All',
      },
    )
    const deployment = {
      ...machineDeployment(`md-${version}`, 'plain', { replicas: 1 }),
      apiVersion: `cluster.x-k8s.io/${version}`,
    }
    await stage.create(`conversion: a machine deployment of ${version}`, deployment)
    const one = { ...machine(`m-${version}`, 'plain'), apiVersion: `cluster.x-k8s.io/${version}` }
    await stage.create(`conversion: a machine of ${version}`, one)
    await stage.settled(one)
    await stage.watch(`conversion: clusters are watched as ${version}`, made)
  }
}

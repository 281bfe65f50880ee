import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldFault } from '../api/field-fault.ts'
import { defaultGates, type Gates } from '../api/gates.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject } from '../api/object.ts'
import { decodeStored } from '../objects/codec/object.ts'
import { builtInResources } from './built-in.ts'
import { GatedFields } from './gated-fields.ts'
import { Registry } from './registry.ts'
import type { Resource } from './resource.ts'

const registry = new Registry(builtInResources())

function resource(plural: string, group = '', version = 'v1'): Resource {
  return registry.find({ group, version, plural }) ?? assert.fail(`there is no ${plural}`)
}

const pods = resource('pods')
const writer = {
  user: { name: 'u', uid: '', groups: [] },
  now: () => 't',
  newId: () => 'i',
  warn: () => undefined,
}

const aPod = (spec: Fields, status: Fields = {}): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'n' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  status,
})

/** A Pod with gated fields. A server with every gate on can store such a Pod. */
const gated = aPod(
  {
    resources: { limits: { cpu: '1' } },
    resourceClaims: [{ name: 'r', resourceClaimName: 'x' }],
    containers: [
      {
        name: 'c',
        image: 'i',
        resources: { claims: [{ name: 'r' }] },
        lifecycle: { stopSignal: 'SIGTERM' },
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
      },
    ],
    volumes: [
      { name: 'v', image: { reference: 'x' } },
      { name: 't', projected: { sources: [{ clusterTrustBundle: { name: 'b', path: 'p' } }] } },
    ],
  },
  { observedGeneration: 3, conditions: [{ type: 'Ready', status: 'True', observedGeneration: 3 }] },
)

const { struct } = pods.shape
const fields = new GatedFields(defaultGates)
const drop = (object: KubeObject, current?: KubeObject): KubeObject =>
  fields.drop(object, current, struct)

test('a read returns the fields of a disabled feature gate that were stored while the gate was enabled', () => {
  const read = decodeStored(Buffer.from(JSON.stringify(gated)), pods.shape, 7)
  const spec = fieldsOf(read['spec'])
  const container = fieldsOf(itemsOf(spec['containers'])[0])
  assert.equal(JSON.stringify(spec['resources']), '{"limits":{"cpu":"1"}}')
  assert.deepEqual(spec['resourceClaims'], [{ name: 'r', resourceClaimName: 'x' }])
  assert.deepEqual(container['resources'], { claims: [{ name: 'r' }] })
  assert.deepEqual(container['lifecycle'], { stopSignal: 'SIGTERM' })
  assert.equal(itemsOf(spec['volumes']).length, 2)
  assert.equal(fieldsOf(read['status'])['observedGeneration'], 3)
})

test('the fields of disabled feature gates are dropped from a new object', () => {
  const spec = fieldsOf(drop(gated)['spec'])
  const [container] = itemsOf(spec['containers'])
  assert.deepEqual(Object.keys(spec).toSorted(), ['containers', 'volumes'])
  assert.deepEqual(container, { name: 'c', image: 'i', volumeMounts: [] })
  assert.deepEqual(spec['volumes'], [{ name: 't', projected: { sources: [{}] } }])
})

test('an update keeps, and can change, the fields of a disabled feature gate that the stored object uses', () => {
  assert.equal(drop(gated, gated), gated)
  const more = aPod({ ...fieldsOf(gated['spec']), resources: { limits: { cpu: '2' } } })
  assert.deepEqual(fieldsOf(drop(more, gated)['spec'])['resources'], { limits: { cpu: '2' } })
})

test('if the stored object uses one disabled feature gate, the fields of other disabled gates are still dropped', () => {
  const used = aPod({ resourceClaims: [{ name: 'r' }] })
  const spec = fieldsOf(drop(gated, used)['spec'])
  const [container] = itemsOf(spec['containers'])
  assert.equal(spec['resources'], undefined)
  assert.deepEqual(fieldsOf(container)['resources'], { claims: [{ name: 'r' }] })
})

const lease = (spec: Fields): KubeObject => ({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: { name: 'l' },
  spec,
})

test('each field of a Lease with a disabled feature gate is kept only if this field is stored', () => {
  const leases = resource('leases', 'coordination.k8s.io')
  const both = lease({ strategy: 'OldestEmulationVersion', preferredHolder: 'h' })
  const kept = leases.rules.prepareUpdate(both, lease({ strategy: 'x' }), writer)
  assert.deepEqual(kept['spec'], { strategy: 'OldestEmulationVersion' })
})

test('fields of the ResourceHealthStatus gate are dropped even if they are stored', () => {
  const health = aPod(
    {},
    { containerStatuses: [{ name: 'c', allocatedResourcesStatus: [{ name: 'x' }] }] },
  )
  const status = fieldsOf(drop(health, health)['status'])
  assert.deepEqual(status['containerStatuses'], [{ name: 'c' }])
})

test('in the pod templates of workloads, fields of disabled feature gates are dropped or kept as in Pods', () => {
  const deployments = resource('deployments', 'apps')
  const template = { metadata: {}, spec: gated['spec'] ?? null }
  const object = {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name: 'd' },
    spec: { template },
  }
  const made = fieldsOf(
    fieldsOf(deployments.rules.prepareCreate(object, writer)['spec'])['template'],
  )
  assert.equal(fieldsOf(made['spec'])['resourceClaims'], undefined)
  const again = fieldsOf(
    fieldsOf(deployments.rules.prepareUpdate(object, object, writer)['spec'])['template'],
  )
  assert.deepEqual(fieldsOf(again['spec'])['resourceClaims'], [
    { name: 'r', resourceClaimName: 'x' },
  ])
})

const slice = (endpoints: readonly Fields[]): KubeObject => ({
  kind: 'EndpointSlice',
  apiVersion: 'discovery.k8s.io/v1',
  metadata: { name: 's' },
  endpoints,
})

test('the deprecatedTopology of a stored endpoint is kept until the endpoints of its EndpointSlice change', () => {
  const slices = resource('endpointslices', 'discovery.k8s.io')
  const old = {
    addresses: ['10.0.0.1'],
    deprecatedTopology: { 'kubernetes.io/hostname': 'h', zone: 'z' },
  }
  const same = slices.rules.prepareUpdate(slice([old]), slice([old]), writer)
  assert.deepEqual(same['endpoints'], [old])
  const changed = slices.rules.prepareUpdate(
    slice([{ ...old, addresses: ['10.0.0.2'] }]),
    slice([old]),
    writer,
  )
  assert.deepEqual(changed['endpoints'], [{ addresses: ['10.0.0.2'], nodeName: 'h' }])
})

test('gated fields in volumeClaimTemplates are kept, and dropping the only field of an object leaves an empty object', () => {
  const set = resource('statefulsets', 'apps')
  const claim = { metadata: { name: 'd' }, spec: { volumeAttributesClassName: 'fast' } }
  const object = { kind: 'StatefulSet', apiVersion: 'apps/v1', metadata: { name: 's' } }
  const sets = { ...object, spec: { volumeClaimTemplates: [claim] } }
  assert.equal(fields.drop(sets, undefined, set.shape.struct), sets)
  const attachments = resource('volumeattachments', 'storage.k8s.io')
  const attachment = {
    ...object,
    kind: 'VolumeAttachment',
    status: { detachError: { errorCode: 3 } },
  }
  const kept = fields.drop(attachment, undefined, attachments.shape.struct)
  assert.deepEqual(kept['status'], { detachError: {} })
})

test('an update may keep stored values that are valid only with a gate that is now off', () => {
  const off = {
    ...defaultGates,
    isOn: (name: string) => !name.startsWith('Relaxed') && defaultGates.isOn(name),
  }
  const podsWithout = new Registry(builtInResources({ gates: off })).find({
    group: '',
    version: 'v1',
    plural: 'pods',
  })
  assert.ok(podsWithout !== undefined)
  const odd = aPod({
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    dnsConfig: { searches: ['a_b.c'] },
    containers: [
      {
        name: 'c',
        image: 'i',
        env: [{ name: '1-a b', value: 'x' }],
        imagePullPolicy: 'Always',
        terminationMessagePolicy: 'File',
      },
    ],
  })
  const labelled = { ...odd, metadata: { ...odd.metadata, labels: { a: 'b' } } }
  assert.deepEqual(podsWithout.rules.validateUpdate(labelled, odd), [])
  assert.equal(podsWithout.rules.validate(odd).length, 2)
})

test('an autoscaler that is stored with minReplicas 0 can be updated', () => {
  const scalers = resource('horizontalpodautoscalers', 'autoscaling', 'v2')
  const metric = {
    type: 'Object',
    object: { describedObject: { kind: 'a', name: 'a' }, metric: { name: 'm' } },
  }
  const target = { type: 'Value', value: '1' }
  const stored: KubeObject = {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v2',
    metadata: { name: 'a', namespace: 'n' },
    spec: {
      minReplicas: 0,
      maxReplicas: 1,
      scaleTargetRef: { kind: 'a', name: 'a' },
      metrics: [{ ...metric, object: { ...metric.object, target } }],
    },
  }
  assert.deepEqual(scalers.rules.validateUpdate(stored, stored), [])
  assert.equal(scalers.rules.validate(stored).length, 1)
})

test('in the Jobs of a CronJob, only the gated fields of Pods are dropped', () => {
  const off = {
    ...defaultGates,
    isOn: (name: string) => !name.startsWith('Job') && defaultGates.isOn(name),
  }
  const { shape } = resource('cronjobs', 'batch')
  const spec = {
    managedBy: 'example.com/x',
    template: { spec: { resources: { limits: { cpu: '1' } } } },
  }
  const made = new GatedFields(off).drop(
    { kind: 'CronJob', apiVersion: 'batch/v1', metadata: {}, spec: { jobTemplate: { spec } } },
    undefined,
    shape.struct,
  )
  const kept = fieldsOf(fieldsOf(fieldsOf(made['spec'])['jobTemplate'])['spec'])
  assert.equal(kept['managedBy'], 'example.com/x')
  assert.deepEqual(kept['template'], { spec: {} })
})

test('a stored Pod does not count as using Pod-level resources if its resources contain no quantities', () => {
  const wanted = aPod({ resources: { limits: { cpu: '1' } } })
  for (const stored of [{}, { limits: {} }]) {
    assert.equal(
      fieldsOf(drop(wanted, aPod({ resources: stored }))['spec'])['resources'],
      undefined,
    )
  }
  assert.deepEqual(drop(wanted, aPod({ resources: { requests: { cpu: '1' } } })), wanted)
})

const withoutGates = (...names: string[]): GatedFields =>
  new GatedFields({
    ...defaultGates,
    isOn: (name) => !names.includes(name) && defaultGates.isOn(name),
  })

test('status fields of a disabled gate are kept only if the spec uses the gate, even if these fields are already stored', () => {
  const status = {
    containerStatuses: [
      { name: 'c', resources: { limits: { cpu: '1' } }, user: { linux: { uid: 1, gid: 1 } } },
    ],
  }
  const off = withoutGates('InPlacePodVerticalScaling', 'SupplementalGroupsPolicy')
  const kept = (spec: Fields): string[] => {
    const pod = aPod(spec, status)
    const [one] = itemsOf(fieldsOf(off.drop(pod, pod, struct)['status'])['containerStatuses'])
    return Object.keys(fieldsOf(one))
  }
  assert.deepEqual(kept({}), ['name'])
  assert.deepEqual(kept({ securityContext: { supplementalGroupsPolicy: 'Strict' } }), [
    'name',
    'user',
  ])
  const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }]
  assert.deepEqual(kept({ containers: [{ name: 'c', image: 'i', resizePolicy }] }), [
    'name',
    'resources',
  ])
})

/** Returns the paths of the errors about deletion costs. */
const costs = (faults: readonly FieldFault[]): string[] =>
  faults.flatMap(({ path }) => (path.includes('deletion-cost') ? [path] : []))

test('a stored deletion cost that is invalid does not prevent updates of the Pod', () => {
  const key = 'controller.kubernetes.io/pod-deletion-cost'
  const costing = (cost: string): KubeObject => {
    const pod = aPod({ restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' })
    return {
      ...pod,
      metadata: { ...pod.metadata, resourceVersion: '1', annotations: { [key]: cost } },
    }
  }
  const faultsOf = (now: string, was: string): string[] =>
    costs(pods.rules.validateUpdate(costing(now), costing(was)))
  assert.equal(faultsOf('much', '1').length, 2)
  assert.deepEqual(faultsOf('much', 'more'), [])
})

test('an invalid deletion cost in a stored template does not prevent updates of the workload', () => {
  const annotations = { 'controller.kubernetes.io/pod-deletion-cost': 'much' }
  const metadata = { labels: { a: 'b' }, annotations }
  const templateOf = (image: string, restartPolicy = 'Always'): Fields => ({
    metadata,
    spec: { restartPolicy, containers: [{ name: 'c', image }] },
  })
  const workload = (image: string): Fields => {
    const selector = { matchLabels: { a: 'b' } }
    return { spec: { replicas: 1, serviceName: 's', selector, template: templateOf(image) } }
  }
  const job = (image: string): Fields => ({ template: templateOf(image, 'Never') })
  const owners: readonly (readonly [Resource, (image: string) => Fields])[] = [
    [resource('podtemplates'), (image) => ({ template: templateOf(image) })],
    [
      resource('replicationcontrollers'),
      (image) => ({ spec: { replicas: 1, selector: { a: 'b' }, template: templateOf(image) } }),
    ],
    ...['replicasets', 'deployments', 'statefulsets', 'daemonsets'].map(
      (plural) => [resource(plural, 'apps'), workload] as const,
    ),
    [resource('jobs', 'batch'), (image) => ({ spec: job(image) })],
    [
      resource('cronjobs', 'batch'),
      (image) => ({ spec: { schedule: '* * * * *', jobTemplate: { spec: job(image) } } }),
    ],
  ]
  for (const [owner, fieldsWith] of owners) {
    const withImage = (image: string): KubeObject =>
      owner.shape.setDefaults({
        apiVersion: 'v1',
        kind: owner.kind,
        metadata: { name: 'o', namespace: 'n', uid: 'u', resourceVersion: '1' },
        ...fieldsWith(image),
      })
    assert.equal(costs(owner.rules.validate(withImage('i'))).length, 1, owner.kind)
    for (const image of ['i', 'j']) {
      assert.deepEqual(
        costs(owner.rules.validateUpdate(withImage(image), withImage('i'))),
        [],
        `${owner.kind} ${image}`,
      )
    }
  }
})

test('an update of a Job is validated with the feature gates of the server', () => {
  const gates: Gates = {
    ...defaultGates,
    isOn: (name) => name !== 'PodDeletionCost' && defaultGates.isOn(name),
  }
  const jobs =
    builtInResources({ gates }).find(({ kind }) => kind === 'Job') ?? assert.fail('no Jobs')
  const template = {
    metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': 'much' } },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
  }
  const metadata = { name: 'j', namespace: 'n', uid: 'u', resourceVersion: '1' }
  const job = jobs.rules.prepareCreate(
    jobs.shape.setDefaults({ apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template } }),
    writer,
  )
  assert.deepEqual(jobs.rules.validate(job), [])
  assert.deepEqual(jobs.rules.validateUpdate(job, job), [])
})

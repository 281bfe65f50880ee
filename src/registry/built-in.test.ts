import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anonymousUser } from '../api/user.ts'
import { fieldsOf, type KubeObject } from '../api/object.ts'
import { decodeStored, encodeStored, printObject } from '../objects/codec/object.ts'
import { builtInResources } from './built-in.ts'
import { Registry } from './registry.ts'
import { apiVersionOf, type Resource } from './resource.ts'
import { validateCreate, validateUpdate } from './validate.ts'

const registry = new Registry(builtInResources())

function resource(group: string, version: string, plural: string): Resource {
  const found = registry.find({ group, version, plural })
  assert.ok(found !== undefined, plural)
  return found
}

const configMaps = resource('', 'v1', 'configmaps')
const deployments = resource('apps', 'v1', 'deployments')
const pods = resource('', 'v1', 'pods')

const object = (kind: string, fields: Partial<KubeObject> = {}): KubeObject => ({
  kind,
  apiVersion: 'v1',
  metadata: { name: 'x', namespace: 'n' },
  ...fields,
})

test('an empty object of every built-in kind can be printed as a table row', () => {
  for (const { shape, kind } of registry.all()) {
    const empty = { kind, apiVersion: 'v1', metadata: {} }
    assert.ok(printObject(empty, shape).toString().startsWith(`{"kind":"${kind}"`), kind)
  }
})

test('a built-in resource has the properties that the catalog specifies', () => {
  const { isNamespaced, isStored, verbs } = pods
  const { shortNames, categories, singular } = pods.discovery
  assert.deepEqual(
    { shortNames, categories, singular, isNamespaced, isStored },
    {
      shortNames: ['po'],
      categories: ['all'],
      singular: 'pod',
      isNamespaced: true,
      isStored: true,
    },
  )
  assert.deepEqual(verbs, [
    'create',
    'delete',
    'deletecollection',
    'get',
    'list',
    'patch',
    'update',
    'watch',
  ])
  const scale = deployments.subresources.find(({ name }) => name === 'scale')
  assert.deepEqual(scale, {
    name: 'scale',
    kind: 'Scale',
    group: 'autoscaling',
    version: 'v1',
    verbs: ['get', 'patch', 'update'],
  })
  assert.equal(resource('authorization.k8s.io', 'v1', 'subjectaccessreviews').isStored, false)
})

const writer = {
  user: anonymousUser,
  now: () => '2026-03-01T10:00:00Z',
  warn: () => undefined,
  newId: () => 'id',
}

test('for a kind with a status subresource, the status is dropped on create and kept on update', () => {
  const given = object('Deployment', { spec: { replicas: 2 }, status: { replicas: 7 } })
  const created = deployments.rules.prepareCreate(given, writer)
  assert.equal(created['status'], undefined)
  assert.equal(created.metadata.generation, 1)
  const current = { ...created, status: { replicas: 1 } }
  const same = deployments.rules.prepareUpdate(
    { ...given, metadata: current.metadata },
    current,
    writer,
  )
  assert.deepEqual([same['status'], same.metadata.generation], [{ replicas: 1 }, 1])
  const changed = deployments.rules.prepareUpdate(
    { ...current, spec: { replicas: 3 } },
    current,
    writer,
  )
  assert.equal(changed.metadata.generation, 2)
  const status = deployments.rules.subresources['status']?.prepareUpdate(
    { ...given, spec: { replicas: 9 } },
    current,
    writer,
  )
  assert.deepEqual([status?.['spec'], status?.['status']], [{ replicas: 2 }, { replicas: 7 }])
})

const isFine = (one: Resource, name: string): boolean =>
  one.rules.metadata.checkName(name).length === 0

test('object names are validated by the naming rule of their kind', () => {
  assert.deepEqual(
    ['a.b', 'a', '1', 'A', 'a:b'].map((name) => [
      isFine(configMaps, name),
      isFine(resource('', 'v1', 'namespaces'), name),
      isFine(resource('', 'v1', 'services'), name),
      isFine(resource('rbac.authorization.k8s.io', 'v1', 'roles'), name),
    ]),
    [
      [true, false, false, true],
      [true, true, true, true],
      [true, true, false, true],
      [false, false, false, true],
      [false, false, false, true],
    ],
  )
})

const fields = (faults: readonly { readonly path: string }[]): string[] =>
  faults.map(({ path }) => path)

test('a create applies the generic rules only if the rules of the kind find no error, but an update always applies both', () => {
  const bad = object('ConfigMap', {
    metadata: { name: 'X', namespace: 'n', labels: { 'a b': 'c' } },
  })
  assert.deepEqual(fields(validateCreate(bad, configMaps)), ['metadata.name', 'metadata.labels'])
  const current = object('ConfigMap', { metadata: { ...bad.metadata, labels: {} } })
  const labels = validateUpdate(bad, current, { resource: configMaps, rules: configMaps.rules })
  assert.equal(fields(labels).filter((path) => path === 'metadata.labels').length, 4)
})

test('an Event of either API group is stored in the same form', () => {
  const events = resource('events.k8s.io', 'v1', 'events')
  const event = object('Event', {
    apiVersion: 'events.k8s.io/v1',
    note: 'text',
    regarding: { kind: 'Pod' },
  })
  const stored = encodeStored(event, events.shape)
  assert.match(
    stored.toString(),
    /^\{"kind":"Event","apiVersion":"v1",.*"involvedObject":\{"kind":"Pod"\}.*"message":"text"/,
  )
  const { note, apiVersion } = decodeStored(stored, events.shape, 7)
  assert.deepEqual([note, apiVersion], ['text', 'events.k8s.io/v1'])
  assert.equal(decodeStored(stored, resource('', 'v1', 'events').shape, 7)['message'], 'text')
})

test('an autoscaler that is read and written through v1 keeps fields that exist only in v2', () => {
  const v1 = resource('autoscaling', 'v1', 'horizontalpodautoscalers').shape
  const v2 = resource('autoscaling', 'v2', 'horizontalpodautoscalers').shape
  const memory = {
    type: 'Resource',
    resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Mi' } },
  }
  const cpu = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } },
  }
  const behavior = { scaleUp: { selectPolicy: 'Min' } }
  const given = v2.setDefaults({
    ...object('HorizontalPodAutoscaler', { apiVersion: 'autoscaling/v2' }),
    spec: { maxReplicas: 3, metrics: [memory, cpu], behavior },
  })
  const seen = decodeStored(encodeStored(given, v2), v1, 7)
  assert.equal(fieldsOf(seen['spec'])['targetCPUUtilizationPercentage'], 70)
  const again = decodeStored(encodeStored(seen, v1), v2, 7)
  assert.deepEqual(encodeStored(again, v2), encodeStored(given, v2))
})

test('an object stored in a version that is still served but no longer the storage version can be read', () => {
  const all = builtInResources({ isServed: () => true, gates: { release: 33, isOn: () => true } })
  const stored: readonly (readonly [string, string, string, object])[] = [
    [
      'ValidatingAdmissionPolicy',
      'v1',
      'admissionregistration.k8s.io/v1beta1',
      { spec: { failurePolicy: 'Ignore' } },
    ],
    [
      'IPAddress',
      'v1beta1',
      'networking.k8s.io/v1',
      { spec: { parentRef: { resource: 'services', name: 's' } } },
    ],
    [
      'ClusterTrustBundle',
      'v1beta1',
      'certificates.k8s.io/v1alpha1',
      { spec: { trustBundle: 'x' } },
    ],
    ['VolumeAttributesClass', 'v1beta1', 'storage.k8s.io/v1alpha1', { driverName: 'd' }],
    [
      'LeaseCandidate',
      'v1beta1',
      'coordination.k8s.io/v1alpha2',
      { spec: { leaseName: 'l', strategy: 'OldestEmulationVersion' } },
    ],
    [
      'ResourceClaim',
      'v1beta1',
      'resource.k8s.io/v1alpha3',
      { spec: { devices: { requests: [{ name: 'r', deviceClassName: 'c' }] } } },
    ],
  ]
  for (const [kind, version, apiVersion, rest] of stored) {
    const found = all.find((one) => one.kind === kind && one.version === version)
    assert.ok(found, kind)
    const bytes = Buffer.from(
      JSON.stringify({ kind, apiVersion, metadata: { name: 'x' }, ...rest }),
    )
    const read = decodeStored(bytes, found.shape, 1)
    assert.equal(read.apiVersion, apiVersionOf(found), kind)
    for (const [name, value] of Object.entries(rest))
      assert.partialDeepStrictEqual(read[name], value, kind)
  }
})

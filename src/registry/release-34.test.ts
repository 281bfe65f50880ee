import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGatesOf } from '../api/gates.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject } from '../api/object.ts'
import { builtInResources } from './built-in.ts'
import type { Resource, Writer } from './resource.ts'
import { validateCreate, validateUpdate } from './validate.ts'

const resourcesOf = (release: number): ReadonlyMap<string, Resource> =>
  new Map(
    builtInResources({ gates: defaultGatesOf(release) }).map((resource) => [
      `${resource.version} ${resource.kind}`,
      resource,
    ]),
  )

const [older, newer] = [resourcesOf(33), resourcesOf(34)]

function find(resources: ReadonlyMap<string, Resource>, name: string): Resource {
  return resources.get(name) ?? assert.fail(`no ${name}`)
}

const writer: Writer = {
  user: { name: 'u', uid: '', groups: [], extra: {} },
  now: () => '2020-01-01T00:00:00Z',
  warn: () => {},
  newId: () => 'id',
}

/** Validates a new object with the defaults of a release. */
function faultsIn(resources: ReadonlyMap<string, Resource>, name: string, object: KubeObject) {
  const resource = find(resources, name)
  const whole = resource.shape.setDefaults(object)
  const prepared = resource.rules.prepareCreate(whole, writer)
  return validateCreate(prepared, resource).map(({ path, message }) => `${path}: ${message}`)
}

const metadata = { name: 'a', namespace: 'default', uid: 'u', creationTimestamp: writer.now() }
const pod = (spec: Fields, container: Fields = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
  spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
})

test('the restartPolicy of a regular container is refused in 1.33, and dropped in 1.34', () => {
  const given = pod({}, { restartPolicy: 'Never' })
  assert.deepEqual(faultsIn(older, 'v1 Pod', given), [
    'spec.containers[0].restartPolicy: Forbidden: may not be set for non-init containers',
  ])
  assert.deepEqual(faultsIn(newer, 'v1 Pod', given), [])
})

test('since 1.34, matchLabelKeys of spread constraints are merged into the selector', () => {
  const constraint = {
    maxSkew: 1,
    topologyKey: 'zone',
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: {},
    matchLabelKeys: ['app'],
  }
  const given = {
    ...pod({ topologySpreadConstraints: [constraint] }),
    metadata: { ...metadata, labels: { app: 'x' } },
  }
  const selectors = [older, newer].map((resources) => {
    const { spec } = find(resources, 'v1 Pod').rules.prepareCreate(given, writer)
    return itemsOf(fieldsOf(spec)['topologySpreadConstraints'])[0]?.['labelSelector']
  })
  assert.deepEqual(selectors, [
    {},
    { matchExpressions: [{ key: 'app', operator: 'In', values: ['x'] }] },
  ])
})

test('since 1.34, AppArmor profiles are not set as annotations', () => {
  const given = pod({ securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } })
  const annotations = [older, newer].map(
    (resources) =>
      find(resources, 'v1 Pod').rules.prepareCreate(given, writer).metadata.annotations,
  )
  assert.deepEqual(annotations, [
    { 'container.apparmor.security.beta.kubernetes.io/c': 'runtime/default' },
    undefined,
  ])
})

test('since 1.34, the scale target of an autoscaler needs an API group', () => {
  const given = (apiVersion: string, kind: string): KubeObject => ({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata,
    spec: { maxReplicas: 1, scaleTargetRef: { apiVersion, kind, name: 'd' } },
  })
  const name = 'v2 HorizontalPodAutoscaler'
  assert.deepEqual(faultsIn(older, name, given('v1', 'Deployment')), [])
  assert.deepEqual(faultsIn(newer, name, given('v1', 'Deployment')), [
    'spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group',
  ])
  assert.deepEqual(faultsIn(newer, name, given('apps/v1', 'Deployment')), [])
  assert.deepEqual(faultsIn(newer, name, given('v1', 'ReplicationController')), [])
  const [stored, changed] = [given('v1', 'Deployment'), given('v1', 'Deployment')]
  const resource = find(newer, name)
  const update = { ...changed, metadata: { ...metadata, resourceVersion: '1' } }
  const current = { ...stored, metadata: { ...metadata, resourceVersion: '1' } }
  assert.deepEqual(validateUpdate(update, current, { resource, rules: resource.rules }), [])
})

test('since 1.34, a Pod with a user namespace has no raw block volumes', () => {
  const given = pod(
    { hostUsers: false, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'p' } }] },
    { volumeDevices: [{ name: 'v', devicePath: '/d' }] },
  )
  assert.deepEqual(faultsIn(older, 'v1 Pod', given), [])
  assert.deepEqual(faultsIn(newer, 'v1 Pod', given), [
    'spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false',
  ])
})

test('since 1.34, fields without effect on a headless service cause warnings', () => {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { type: 'ClusterIP', clusterIP: 'None', sessionAffinity: 'ClientIP' },
  }
  const warnings = [older, newer].map((resources) =>
    find(resources, 'v1 Service').rules.warnings(service, undefined),
  )
  assert.deepEqual(warnings, [[], ['spec.SessionAffinity is ignored for headless services']])
})

test('since 1.34, the PodSpec and the claim templates of a StatefulSet are validated', () => {
  const labels = { app: 'x' }
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } },
  }
  const given = (image: string, accessModes: readonly string[]): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: 'c', image, volumeMounts: [{ name: 'data', mountPath: '/d' }] }],
        },
      },
      volumeClaimTemplates: [{ ...claim, spec: { ...claim.spec, accessModes } }],
    },
  })
  const name = 'v1 StatefulSet'
  assert.deepEqual(faultsIn(older, name, given('', [])), [])
  assert.deepEqual(faultsIn(newer, name, given('i', ['ReadWriteOnce'])), [])
  assert.deepEqual(faultsIn(newer, name, given('', [])), [
    'spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
    'spec.template.spec.containers[0].image: Required value',
  ])
  const stored = given('', [])
  const resource = find(newer, name)
  const [current, update] = [stored, stored].map((object) =>
    resource.shape.setDefaults({ ...object, metadata: { ...metadata, resourceVersion: '1' } }),
  )
  assert.ok(current !== undefined && update !== undefined)
  assert.deepEqual(validateUpdate(update, current, { resource, rules: resource.rules }), [])
})

/** Validates an update of an object by another one, without defaults. */
function updateFaults(
  resources: ReadonlyMap<string, Resource>,
  name: string,
  [object, current]: readonly [KubeObject, KubeObject],
): readonly string[] {
  const resource = find(resources, name)
  const faults = validateUpdate(object, current, { resource, rules: resource.rules })
  return faults.map(({ path, message }) => `${path}: ${message}`)
}

test('since 1.34, an update of a ReplicaSet reports each error once', () => {
  const selector = { matchLabels: { a: 'b' } }
  const template = { metadata: { labels: { a: 'b' } }, spec: pod({})['spec'] ?? null }
  const object = (replicas: number): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { ...metadata, finalizers: ['x'] },
    spec: { replicas, selector, template },
  })
  const [before, after] = [older, newer].map((resources) => {
    const { shape } = find(resources, 'v1 ReplicaSet')
    const faults = updateFaults(resources, 'v1 ReplicaSet', [
      shape.setDefaults(object(-1)),
      shape.setDefaults(object(1)),
    ])
    const count = (path: string): number => faults.filter((fault) => fault.startsWith(path)).length
    return { finalizers: count('metadata.finalizers'), replicas: count('spec.replicas') }
  })
  assert.deepEqual(before, { finalizers: 2, replicas: 2 })
  assert.deepEqual(after, { finalizers: 1, replicas: 1 })
})

test('since 1.34, the statuses in the failure policy of a CronJob have a default', () => {
  const policy = { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'A' }] }] }
  const given = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata,
    spec: { jobTemplate: { spec: { podFailurePolicy: policy } } },
  }
  const statuses = [older, newer].map((resources) => {
    const { spec } = find(resources, 'v1 CronJob').shape.setDefaults(given)
    const job = fieldsOf(fieldsOf(fieldsOf(spec)['jobTemplate'])['spec'])
    const [rule] = itemsOf(fieldsOf(job['podFailurePolicy'])['rules'])
    return itemsOf(rule?.['onPodConditions'])[0]?.['status']
  })
  assert.deepEqual(statuses, [undefined, 'True'])
})

test('a key of matchLabelKeys is refused if an expression repeats it in the selector', () => {
  const constraint = {
    maxSkew: 1,
    topologyKey: 'zone',
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { app: 'x' } },
    matchLabelKeys: ['app'],
  }
  const given = pod({ topologySpreadConstraints: [constraint] })
  const labelled = { ...given, metadata: { ...metadata, labels: { app: 'x' } } }
  assert.deepEqual(faultsIn(newer, 'v1 Pod', given), [])
  assert.deepEqual(faultsIn(newer, 'v1 Pod', labelled), [
    'spec.topologySpreadConstraints[0][0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector',
  ])
})

test('since 1.34, ephemeral containers cannot have an empty list of claims', () => {
  const container = { name: 'e', image: 'i', resources: { claims: [] } }
  const added = pod({ ephemeralContainers: [container] })
  const texts = [older, newer].map((resources) => {
    const { shape } = find(resources, 'v1 Pod')
    const whole = shape.setDefaults(added)
    return validateCreate(whole, find(resources, 'v1 Pod')).map(({ path }) => path)
  })
  assert.ok(!texts[0]?.includes('spec.ephemeralContainers[0].resources'))
  assert.ok(texts[1]?.includes('spec.ephemeralContainers[0].resources'))
})

test('since 1.34, a user name of Windows is shown with the escape sequences of JSON', () => {
  const given = pod({ securityContext: { windowsOptions: { runAsUserName: 'a\u0001' } } })
  const shown = [older, newer].map((resources) =>
    faultsIn(resources, 'v1 Pod', given).find((fault) => fault.includes('control characters')),
  )
  assert.match(shown[0] ?? '', /Invalid value: "a\\x01": runAsUserName/)
  assert.match(shown[1] ?? '', /Invalid value: "a\\u0001": runAsUserName/)
})

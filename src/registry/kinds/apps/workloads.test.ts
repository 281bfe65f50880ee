import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fields, fieldsOf, type KubeObject } from '../../../api/object.ts'
import { builtInResources } from '../../built-in.ts'
import type { Resource, Writer } from '../../resource.ts'
import { validateCreate, validateUpdate } from '../../validate.ts'

const byKind = new Map(builtInResources().map((resource) => [resource.kind, resource]))
const writer: Writer = {
  user: { name: 'u', uid: '', groups: [], extra: {} },
  now: () => '2001-02-03T04:05:06Z',
  warn: () => undefined,
  newId: () => 'id',
}

function resourceOf(kind: string): Resource {
  const resource = byKind.get(kind)
  assert.ok(resource !== undefined)
  return resource
}

/** Returns an object in the form in which a create stores it. */
function made(kind: string, spec: Fields = {}, metadata: KubeObject['metadata'] = {}): KubeObject {
  const pod = { containers: [{ name: 'c', image: 'i' }] }
  const template = { metadata: { labels: { app: 'a' } }, spec: pod }
  const object = {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'x', namespace: 'n', uid: 'u', ...metadata },
    spec: { selector: { matchLabels: { app: 'a' } }, template, ...spec },
  }
  const resource = resourceOf(kind)
  return resource.rules.prepareCreate(resource.shape.setDefaults(object), writer)
}

const faultsOf = (object: KubeObject): string[] =>
  validateCreate(object, resourceOf(object.kind)).map(({ path, message }) => `${path}: ${message}`)

function faultsOfChange(before: KubeObject, change: Fields): string[] {
  const resource = resourceOf(before.kind)
  const object = resource.shape.setDefaults({ ...before, ...change })
  return validateUpdate(object, before, { resource, rules: resource.rules }).map(
    ({ path, message }) => `${path}: ${message}`,
  )
}

const generation = (object: KubeObject): string | undefined =>
  object.metadata.annotations?.['deprecated.daemonset.template.generation']

test('a created workload is valid, and can be updated without changes', () => {
  for (const kind of ['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet']) {
    const object = made(kind)
    assert.deepEqual(faultsOf(object), [], kind)
    assert.deepEqual(faultsOfChange(object, {}), [], kind)
  }
})

test('the labels of a template must match the selector of the workload', () => {
  const why =
    'Invalid value: map[string]string{"app":"a"}: `selector` does not match template `labels`'
  const other = { selector: { matchLabels: { app: 'b' } } }
  for (const kind of ['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet']) {
    assert.deepEqual(faultsOf(made(kind, other)), [`spec.template.metadata.labels: ${why}`], kind)
  }
})

test('a rolling update with maxUnavailable 0 and maxSurge 0 is refused', () => {
  const none = { maxUnavailable: 0, maxSurge: '0%' }
  const stuck = made('Deployment', { strategy: { type: 'RollingUpdate', rollingUpdate: none } })
  assert.deepEqual(faultsOf(stuck), [
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:0, IntVal:0, StrVal:""}: may not be 0 when `maxSurge` is 0',
  ])
  const daemons = made('DaemonSet', {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: none },
  })
  assert.deepEqual(faultsOf(daemons), [
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0',
  ])
})

test('an update of a StatefulSet can change only some fields', () => {
  const before = made('StatefulSet', { serviceName: 's' })
  const spec = fieldsOf(before['spec'])
  assert.deepEqual(
    faultsOfChange(before, { spec: { ...spec, replicas: 7, minReadySeconds: 1 } }),
    [],
  )
  const [fault = '', ...others] = faultsOfChange(before, {
    spec: { ...spec, serviceName: 'Not.Valid' },
  })
  assert.match(
    fault,
    /^spec: Forbidden: updates to statefulset spec for fields other than 'replicas', .* and 'minReadySeconds'/,
  )
  assert.deepEqual(others, [])
})

test('the server counts the changes to the template of a DaemonSet, and ignores the count in the request', () => {
  const resource = resourceOf('DaemonSet')
  const before = made(
    'DaemonSet',
    {},
    { annotations: { 'deprecated.daemonset.template.generation': '-3' } },
  )
  assert.equal(generation(before), '1')
  const lied = { ...before, metadata: { ...before.metadata, annotations: {} } }
  assert.equal(generation(resource.rules.prepareUpdate(lied, before, writer)), '1')
  const changed = { ...lied, spec: { ...fieldsOf(before['spec']), template: {} } }
  assert.equal(generation(resource.rules.prepareUpdate(changed, before, writer)), '2')
})

test('a new Job gets a selector that matches only its own Pods', () => {
  const job = made('Job', {
    selector: undefined,
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
  })
  assert.deepEqual(faultsOf(job), [])
  assert.deepEqual(fieldsOf(job['spec'])['selector'], {
    matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' },
  })
  const { metadata } = resourceOf('Job').shape.setDefaults(job)
  assert.equal(metadata.labels?.['job-name'], 'x', 'it is read with the labels of its Pods')
})

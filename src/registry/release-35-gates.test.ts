import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGatesOf } from '../api/gates.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import { builtInResources } from './built-in.ts'
import { validateCreate, validateUpdate } from './validate.ts'

const metadata = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '1' }

/** Returns a resource in 1.35 with a gate. */
function resourceOf(name: string, gate: string) {
  const defaults = defaultGatesOf(35)
  const gates = { ...defaults, isOn: (one: string) => one === gate || defaults.isOn(one) }
  const found = builtInResources({ gates, isServed: () => true }).find(
    ({ version, kind }) => `${version} ${kind}` === name,
  )
  return found ?? assert.fail(`1.35 has no ${name}`)
}

const textsOf = (faults: readonly { readonly path: string; readonly message: string }[]) =>
  faults.map(({ path, message }) => `${path}: ${message}`)

function created(name: string, object: KubeObject, gate = ''): string[] {
  const resource = resourceOf(name, gate)
  const { generateName: _, ...rest } = object.metadata
  const given = resource.shape.setDefaults({ ...object, metadata: rest })
  return textsOf(validateCreate(given, resource))
}

function updated(
  name: string,
  { now, was }: { readonly now: KubeObject; readonly was: KubeObject },
  gate = '',
): string[] {
  const resource = resourceOf(name, gate)
  const [object, current] = [now, was].map((one) => resource.shape.setDefaults(one))
  assert.ok(object && current)
  return textsOf(validateUpdate(object, current, { resource, rules: resource.rules }))
}

const pod = (spec: Fields): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})

const tolerating = (value: string): KubeObject =>
  pod({ tolerations: [{ key: 'k', operator: 'Gt', value, effect: 'NoSchedule' }] })

test('tolerations compare integers with the gate TaintTolerationComparisonOperators', () => {
  const gate = 'TaintTolerationComparisonOperators'
  const path = 'spec.tolerations[0]'
  assert.deepEqual(created('v1 Pod', tolerating('5')), [
    `${path}.operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"`,
  ])
  assert.deepEqual(created('v1 Pod', tolerating('-5'), gate), [])
  const decimal = 'must be a valid decimal integer in canonical form'
  assert.deepEqual(created('v1 Pod', tolerating('05'), gate), [
    `${path}.value: Invalid value: "05": ${decimal}`,
  ])
  assert.deepEqual(created('v1 Pod', tolerating('x'), gate), [
    `${path}.value: Invalid value: "x": ${decimal}`,
    `${path}.value: Invalid value: "x": strconv.ParseInt: parsing "x": invalid syntax`,
  ])
  assert.deepEqual(created('v1 Pod', tolerating('9223372036854775808'), gate), [
    `${path}.value: Invalid value: "9223372036854775808": strconv.ParseInt: parsing "9223372036854775808": value out of range`,
  ])
  assert.deepEqual(created('v1 Pod', tolerating('-9223372036854775808'), gate), [])
})

test('a Pod has its own users in the network of the host with the gate UserNamespacesHostNetworkSupport', () => {
  const given = pod({ hostUsers: false, hostNetwork: true, hostPID: true })
  const why = 'when `hostUsers` is false'
  assert.deepEqual(created('v1 Pod', given), [
    `spec.hostNetwork: Forbidden: ${why}`,
    `spec.HostPID: Forbidden: ${why}`,
  ])
  assert.deepEqual(created('v1 Pod', given, 'UserNamespacesHostNetworkSupport'), [
    `spec.HostPID: Forbidden: ${why}`,
  ])
})

test('a Pod names a valid Workload with the gate GenericWorkload', () => {
  const given = pod({ workloadRef: { name: 'A', podGroup: 'a.b', podGroupReplicaKey: '-' } })
  const paths = created('v1 Pod', given, 'GenericWorkload').map((text) => text.replace(/: .*/, ''))
  assert.deepEqual(paths, [
    'spec.workloadRef.name',
    'spec.workloadRef.podGroup',
    'spec.workloadRef.podGroupReplicaKey',
  ])
})

test('a rule restarts all containers with the gate RestartAllContainersOnContainerExits', () => {
  const gate = 'RestartAllContainersOnContainerExits'
  const exitCodes = { operator: 'In', values: [1] }
  const rules = {
    restartPolicy: 'Always',
    restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes }],
  }
  const containers = [{ name: 'c', image: 'i', ...rules }]
  const initContainers = [{ name: 'd', image: 'i', ...rules }]
  assert.deepEqual(created('v1 Pod', pod({ containers })), [
    'spec.containers[0].restartPolicyRules[0].action: Unsupported value: "RestartAllContainers": supported values: "Restart"',
  ])
  assert.deepEqual(created('v1 Pod', pod({ containers, initContainers }), gate), [])
})

const volumeIn = (zone: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'v', uid: 'u', resourceVersion: '1' },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    nfs: { server: 's', path: '/' },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'z', operator: 'In', values: [zone] }] }],
      },
    },
  },
})

test('the node affinity of a volume changes with the gate MutablePVNodeAffinity', () => {
  const change = { now: volumeIn('b'), was: volumeIn('a') }
  const [fault = ''] = updated('v1 PersistentVolume', change)
  assert.match(fault, /^nodeAffinity: .*: field is immutable, except/)
  assert.deepEqual(updated('v1 PersistentVolume', change, 'MutablePVNodeAffinity'), [])
})

const job = (
  container: Fields,
  { node, status }: { node: string; status: Fields },
): KubeObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { ...metadata, labels: {} },
  spec: {
    suspend: true,
    selector: { matchLabels: { a: 'b' } },
    manualSelector: true,
    template: {
      metadata: { labels: { a: 'b' } },
      spec: {
        restartPolicy: 'Never',
        nodeSelector: { node },
        containers: [{ name: 'c', image: 'i', ...container }],
      },
    },
  },
  status,
})

const nodeWith = (declaredFeatures: string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  status: { declaredFeatures },
})

const featureFaults = (...names: string[]) =>
  created('v1 Node', nodeWith(names)).map((text) => text.replace(/: must start .*/, ''))

test('a Node declares sorted features', () => {
  const path = 'status.declaredFeatures'
  assert.deepEqual(featureFaults('A', 'A/b', 'B'), [])
  assert.deepEqual(featureFaults('B', 'A', 'A', 'b'), [
    `${path}[1]: Invalid value: "A": list must be sorted alphabetically`,
    `${path}[2]: Duplicate value: "A"`,
    `${path}[3]: Invalid value: "b": invalid feature name "b"`,
  ])
})

test('the status of a DeviceTaintRule has at most eight conditions', () => {
  const resource = resourceOf('v1alpha3 DeviceTaintRule', '')
  const conditions = Array.from({ length: 9 }, (_, at) => ({
    type: `T${at}`,
    status: 'True',
    reason: 'R',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }))
  const rule: KubeObject = {
    apiVersion: 'resource.k8s.io/v1alpha3',
    kind: 'DeviceTaintRule',
    metadata: { name: 'a', uid: 'u', resourceVersion: '1' },
    status: { conditions },
  }
  const rules = resource.rules.subresources?.['status'] ?? assert.fail('no status')
  assert.deepEqual(textsOf(validateUpdate(rule, rule, { resource, rules })), [
    'status.conditions: Too many: 9: must have at most 8 items',
  ])
})

test('a stopped Job changes the template with gates', () => {
  const status = {
    startTime: '2026-01-01T00:00:00Z',
    conditions: [{ type: 'Suspended', status: 'True' }],
  }
  const resources = { requests: { cpu: '1' } }
  const was = job({}, { node: 'a', status })
  const immutable = /^spec\.template(?:\.spec)?: Invalid value: .*: field is immutable$/
  const larger = { now: job({ resources }, { node: 'a', status }), was }
  assert.match(updated('v1 Job', larger).join('\n'), immutable)
  assert.deepEqual(updated('v1 Job', larger, 'MutablePodResourcesForSuspendedJobs'), [])
  const renamed = { now: job({ image: 'j' }, { node: 'a', status }), was }
  assert.match(
    updated('v1 Job', renamed, 'MutablePodResourcesForSuspendedJobs').join('\n'),
    immutable,
  )
  const moved = { now: job({}, { node: 'b', status }), was }
  assert.match(updated('v1 Job', moved).join('\n'), immutable)
  assert.deepEqual(updated('v1 Job', moved, 'MutableSchedulingDirectivesForSuspendedJobs'), [])
  const active = { ...moved, was: { ...was, status: { ...status, active: 1 } } }
  assert.match(
    updated('v1 Job', active, 'MutableSchedulingDirectivesForSuspendedJobs').join('\n'),
    immutable,
  )
})

const backendOf = (name: string) => ({ service: { name, port: { number: 80 } } })

const ingressTo = (name: string, other: string): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata,
  spec: {
    defaultBackend: backendOf(name),
    rules: [{ http: { paths: [{ path: '/', pathType: 'Exact', backend: backendOf(other) }] } }],
  },
})

/** Returns the number of errors if an Ingress that has the name 1a also gets the name 2b. */
function faultsOfSecondName(release: number): number {
  const all = builtInResources({ gates: defaultGatesOf(release) })
  const resource = all.find(({ kind }) => kind === 'Ingress') ?? assert.fail()
  const [now, was] = [ingressTo('2b', '1a'), ingressTo('b', '1a')]
  return validateUpdate(now, was, { resource, rules: resource.rules }).length
}

test('before 1.34, an Ingress with a name that begins with a digit cannot get another such name', () => {
  assert.ok(faultsOfSecondName(33) > 0)
  assert.equal(faultsOfSecondName(34), 0)
})

test('names of Services begin with a digit with the gate RelaxedServiceNameValidation', () => {
  const gate = 'RelaxedServiceNameValidation'
  const service: KubeObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: '1a', namespace: 'default' },
    spec: { ports: [{ port: 80 }] },
  }
  assert.match(created('v1 Service', service).join('\n'), /^metadata\.name: .*DNS-1035 label/)
  assert.deepEqual(created('v1 Service', service, gate), [])

  const fault = /^spec\.defaultBackend\.service\.name: .*DNS-1035 label/
  assert.match(created('v1 Ingress', ingressTo('1a', 'b')).join('\n'), fault)
  assert.deepEqual(created('v1 Ingress', ingressTo('1a', '2b'), gate), [])
  const kept = { now: ingressTo('1a', '2b'), was: ingressTo('1a', 'b') }
  assert.deepEqual(updated('v1 Ingress', kept), [])
  const added = { now: ingressTo('1a', 'b'), was: ingressTo('a', 'b') }
  assert.match(updated('v1 Ingress', added).join('\n'), fault)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGatesOf } from '../api/gates.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import { builtInResources } from './built-in.ts'
import type { Resource } from './resource.ts'
import { validateCreate, validateUpdate } from './validate.ts'

const releases = [34, 35] as const

/** Returns a resource in 1.34 and in 1.35. */
const both = (name: string): readonly Resource[] =>
  releases.map((release) => {
    const all = builtInResources({ gates: defaultGatesOf(release) })
    const found = all.find(({ version, kind }) => `${version} ${kind}` === name)
    return found ?? assert.fail(`1.${release} has no ${name}`)
  })

const metadata = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '1' }

const textsOf = (faults: readonly { readonly path: string; readonly message: string }[]) =>
  faults.map(({ path, message }) => `${path}: ${message}`)

/** Returns the errors of an update in 1.34 and in 1.35. */
const updated = (name: string, object: KubeObject, current = object): readonly string[][] =>
  both(name).map((resource) =>
    textsOf(validateUpdate(object, current, { resource, rules: resource.rules })),
  )

const statusUpdated = (name: string, object: KubeObject, current: KubeObject) =>
  both(name).map((resource) => {
    const rules = resource.rules.subresources?.['status'] ?? assert.fail('no status')
    return textsOf(validateUpdate(object, current, { resource, rules }))
  })

const warned = (name: string, object: KubeObject, current?: KubeObject): readonly string[][] =>
  both(name).map((resource) => resource.rules.warnings(object, current))

test('since 1.35, an update of a binding reports an error once', () => {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }
  const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata }
  const given = { ...binding, roleRef, subjects: [{ kind: 'ServiceAccount', name: '' }] }
  const fault = 'subjects[0].name: Required value'
  assert.deepEqual(updated('v1 RoleBinding', given), [[fault, fault], [fault]])
})

test('since 1.35, an update of a ReplicationController does not validate its labels again', () => {
  const template = {
    metadata: { labels: { app: 'x' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  }
  const [older, newer] = both('v1 ReplicationController').map((resource) => {
    const given: KubeObject = {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata,
      spec: { replicas: -1, selector: { app: 'x' }, template },
    }
    const object = resource.shape.setDefaults(given)
    return textsOf(validateUpdate(object, object, { resource, rules: resource.rules }))
  })
  const fault = 'spec.replicas: Invalid value: -1: must be greater than or equal to 0'
  assert.deepEqual([older, newer], [[fault, fault], [fault]])
})

test('since 1.35, the traffic distribution PreferClose causes a warning', () => {
  const spec = { type: 'ClusterIP', trafficDistribution: 'PreferClose' }
  assert.deepEqual(warned('v1 Service', { apiVersion: 'v1', kind: 'Service', metadata, spec }), [
    [],
    ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'],
  ])
})

test('since 1.35, a new quota whose requests exceed its limits causes warnings', () => {
  const hard = { cpu: '2', 'limits.cpu': '1500m', 'requests.memory': '1Gi', 'limits.memory': '1Gi' }
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard } }
  const warning = 'ResourceQuota cpu (2) should be less than limits.cpu (1500m)'
  assert.deepEqual(warned('v1 ResourceQuota', quota), [[], [warning]])
  assert.deepEqual(warned('v1 ResourceQuota', quota, quota), [[], []])
})

const csiDriver = (spec: Fields): KubeObject => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: 'd' },
  spec: { fsGroupPolicy: 'File', ...spec },
})

test('since 1.35, a CSIDriver with token requests should put tokens in secrets', () => {
  const requests = csiDriver({ tokenRequests: [{ audience: 'a' }] })
  const [older = [], newer = []] = warned('v1 CSIDriver', requests)
  assert.deepEqual(older, [])
  assert.match(newer[0] ?? '', /^spec.serviceAccountTokenInSecrets is unset; /)
  assert.deepEqual(warned('v1 CSIDriver', requests, requests), [[], []])
  const [, resource] = both('v1 CSIDriver')
  assert.deepEqual(
    resource &&
      textsOf(validateCreate(csiDriver({ serviceAccountTokenInSecrets: true }), resource)),
    [
      'spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified',
    ],
  )
})

const pod = (spec: Fields, status: Fields = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
  spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never', ...spec },
  status,
})

test('since 1.35, a Pod that is bound to a node cannot get a nominated node', () => {
  const bound = { nodeName: 'n' }
  const given = pod(bound, { nominatedNodeName: 'm' })
  assert.deepEqual(statusUpdated('v1 Pod', given, pod(bound)), [
    [],
    [
      'status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node',
    ],
  ])
  assert.deepEqual(statusUpdated('v1 Pod', given, given), [[], []])
})

const statusesAfter = (exitCode?: number): Fields => ({
  initContainerStatuses: [
    {
      name: 'c',
      state: exitCode === undefined ? { running: {} } : { terminated: { exitCode } },
    },
  ],
})

test('since 1.35, the state of a terminated container follows its restart rules', () => {
  const restartPolicyRules = [
    { action: 'Restart', exitCodes: { operator: 'In', values: [42] } },
  ] as const
  const container = { name: 'c', image: 'i', restartPolicy: 'Never', restartPolicyRules }
  const spec = { initContainers: [{ ...container }] }
  const why =
    'status.initContainerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'
  const restarted = pod(spec, statusesAfter())
  assert.deepEqual(statusUpdated('v1 Pod', restarted, pod(spec, statusesAfter(42))), [[why], []])
  assert.deepEqual(statusUpdated('v1 Pod', restarted, pod(spec, statusesAfter(1))), [[why], [why]])
})

test('since 1.35, the rules of an init container without a restart policy are not validated', () => {
  const restartPolicyRules = [{ action: 'No' }]
  const initContainers = [
    {
      name: 'd',
      image: 'i',
      imagePullPolicy: 'Always',
      terminationMessagePolicy: 'File',
      restartPolicyRules,
    },
  ]
  const object = pod({ dnsPolicy: 'Default', terminationGracePeriodSeconds: 1, initContainers })
  const [, found = []] = both('v1 Pod').map((resource) => textsOf(validateCreate(object, resource)))
  assert.deepEqual(
    found.filter((text) => text.startsWith('spec.initContainers')),
    [
      'spec.initContainers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used',
    ],
  )
})

const slice = (spec: Fields): KubeObject => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceSlice',
  metadata: { name: 's' },
  spec: {
    driver: 'd.example.com',
    pool: { name: 'p', resourceSliceCount: 1 },
    allNodes: true,
    ...spec,
  },
})

const created = (name: string, object: KubeObject): readonly string[][] =>
  both(name).map((resource) => textsOf(validateCreate(object, resource)))

test('since 1.35, the error of a duplicate device names the device instead of its name', () => {
  const devices = [{ name: 'a' }, { name: 'a' }]
  assert.deepEqual(created('v1 ResourceSlice', slice({ devices })), [
    ['spec.devices[1].name: Duplicate value: "a"'],
    ['spec.devices[1]: Duplicate value: "a"'],
  ])
})

test('since 1.35, a device can consume counters that its slice does not have', () => {
  const consumesCounters = [{ counterSet: 'c', counters: { m: { value: '1' } } }]
  const devices = [{ name: 'a', consumesCounters }]
  assert.deepEqual(created('v1 ResourceSlice', slice({ devices })), [
    [
      'spec.devices[0].consumesCounters[0].counterSet: Invalid value: "c": must reference a counterSet defined in the ResourceSlice sharedCounters',
    ],
    [],
  ])
})

test('since 1.35, a ResourceSlice has either devices or counters', () => {
  const sharedCounters = [{ name: 'c', counters: { m: { value: '1' } } }]
  assert.deepEqual(
    created('v1 ResourceSlice', slice({ devices: [{ name: 'a' }], sharedCounters })),
    [[], ['spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed']],
  )
})

test('since 1.35, unchanged taints of a device are not validated again', () => {
  const taints = [{ key: 'k', effect: 'Unknown' }]
  const given = slice({ devices: [{ name: 'a', taints }] })
  const object = { ...given, metadata: { name: 's', resourceVersion: '1' } }
  const [older = [], newer = []] = updated('v1 ResourceSlice', object)
  assert.match(
    older[0] ?? '',
    /^spec.devices\[0\].taints\[0\].effect: Unsupported value: "Unknown"/,
  )
  assert.deepEqual(newer, [])
})

test('since 1.35, a list that is too long has no other errors', () => {
  const taints = Array.from({ length: 17 }, () => ({ key: 'k', effect: 'Unknown' }))
  const [older = [], newer] = created(
    'v1 ResourceSlice',
    slice({ devices: [{ name: 'a', taints }] }),
  )
  assert.equal(older.length, 18)
  assert.deepEqual(newer, ['spec.devices[0].taints: Too many: 17: must have at most 16 items'])
})

test('since 1.35, a driver with uppercase letters causes a warning', () => {
  const warning =
    'spec.driver: driver names should be lowercase; "D.example.com" contains uppercase characters'
  assert.deepEqual(warned('v1 ResourceSlice', slice({ driver: 'D.example.com' })), [[], [warning]])
})

const pathsOf = (texts: readonly string[]) => texts.map((text) => text.replace(/: .*/, ''))

test('since 1.35, a DeviceClass with an invalid generated name has one error', () => {
  const given = {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'DeviceClass',
    metadata: { name: `A${'a'.repeat(253)}`, generateName: 'A' },
    spec: {},
  }
  const [older = [], newer = []] = created('v1 DeviceClass', given)
  assert.deepEqual(pathsOf(older), ['metadata.generateName', 'metadata.name', 'metadata.name'])
  assert.deepEqual(pathsOf(newer), ['metadata.name', 'metadata.name'])
  assert.match(older[1] ?? '', /must be no more than 253 characters$/)
  assert.match(newer[0] ?? '', /must be no more than 253 bytes$/)
})

test('since 1.35, a warning about a long value in a node affinity counts bytes', () => {
  const matchExpressions = [{ key: 'k', operator: 'In', values: ['x'.repeat(64)] }]
  const nodeAffinity = {
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 1, preference: { matchExpressions } },
    ],
  }
  const affine: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { containers: [{ name: 'c', image: 'i' }], affinity: { nodeAffinity } },
  }
  const [[before = ''] = [], [after = ''] = []] = warned('v1 Pod', affine)
  assert.match(before, /is invalid, must be no more than 63 characters$/)
  assert.match(after, /is invalid, must be no more than 63 bytes$/)
})

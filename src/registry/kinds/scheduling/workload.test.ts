import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGates } from '../../../api/gates.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { cpuMsOf } from '../../../../test/support/harness/turns.ts'
import { workloadRules } from './workload.ts'

const workload = (spec: Fields): KubeObject => ({
  apiVersion: 'scheduling.k8s.io/v1alpha1',
  kind: 'Workload',
  metadata: { name: 'w', namespace: 'default' },
  spec,
})

const groups = (...podGroups: Fields[]): KubeObject => workload({ podGroups })
const gang = (name: string, minCount = 1): Fields => ({ name, policy: { gang: { minCount } } })
const faultsOf = (object: KubeObject, current?: KubeObject): string[] =>
  [
    ...(workloadRules.validate?.(object, defaultGates) ?? []),
    ...(current === undefined
      ? []
      : (workloadRules.validateUpdate?.(object, current, defaultGates) ?? [])),
  ].map(({ path, message }) => `${path}: ${message}`)

test('a Workload has one to eight groups of Pods', () => {
  assert.deepEqual(faultsOf(groups()), [
    'spec.podGroups: Required value: must have at least one item',
  ])
  assert.deepEqual(faultsOf(groups(...Array.from({ length: 8 }, (_, at) => gang(`g${at}`)))), [])
  assert.deepEqual(faultsOf(groups(...Array.from({ length: 9 }, (_, at) => gang(`g${at}`)))), [
    'spec.podGroups: Too many: 9: must have at most 8 items',
  ])
})

test('a group has a unique name and one policy', () => {
  const basic = { name: 'a', policy: { basic: {} } }
  assert.deepEqual(faultsOf(groups(basic, gang('a', 0))), [
    'spec.podGroups[1].name: Duplicate value: "a"',
    'spec.podGroups[1].policy.gang.minCount: Invalid value: 0: must be greater than 0',
  ])
  const why = 'exactly one of `basic`, `gang` is required'
  assert.deepEqual(faultsOf(groups({ name: 'a', policy: {} })), [
    `spec.podGroups[0].policy: Required value: ${why}`,
  ])
  assert.deepEqual(faultsOf(groups({ name: 'a', policy: { basic: {}, gang: { minCount: 1 } } })), [
    `spec.podGroups[0].policy: Invalid value: "{\`basic\`, \`gang\`}": ${why}, but multiple fields are set`,
  ])
})

test('a reference to a controller has a kind and a name', () => {
  const controllerRef = { apiGroup: 'A', kind: '', name: 'a/b' }
  assert.deepEqual(
    faultsOf(workload({ controllerRef, podGroups: [gang('a')] })).map((text) => text.slice(0, 60)),
    [
      'spec.controllerRef.apiGroup: Invalid value: "A": a lowercase',
      'spec.controllerRef.kind: Required value',
      'spec.controllerRef.name: Invalid value: "a/b": may not conta',
    ],
  )
})

test('a reference and the groups are immutable once they are set', () => {
  const controllerRef = { apiGroup: 'batch', kind: 'Job', name: 'j' }
  const [before, after] = [groups(gang('a')), workload({ controllerRef, podGroups: [gang('b')] })]
  assert.deepEqual(faultsOf(after, before), [
    'podGroups: Invalid value: [{"Name":"b","Policy":{"Basic":null,"Gang":{"MinCount":1}}}]: field is immutable',
  ])
  assert.deepEqual(faultsOf(before, workload({ controllerRef, podGroups: [gang('a')] })), [
    'controllerRef: Invalid value: null: field is immutable',
  ])
})

test('an update of a Workload is validated like a create', () => {
  const controllerRef = { apiGroup: 'Bad Group!', kind: 'a/b', name: '..' }
  const faults = workloadRules.validateUpdate?.(
    workload({ controllerRef, podGroups: [gang('a')] }),
    groups(gang('a')),
    defaultGates,
  )
  assert.deepEqual(
    faults?.map(({ path }) => path),
    ['spec.controllerRef.apiGroup', 'spec.controllerRef.kind', 'spec.controllerRef.name'],
  )
})

test('an update of a Workload to very many groups is refused quickly', () => {
  const many = workload({ podGroups: Array.from({ length: 250_000 }, () => ({})) })
  const ms = cpuMsOf(() => {
    const faults = workloadRules.validateUpdate?.(many, groups(gang('a')), defaultGates) ?? []
    assert.equal(faults.length, 2)
  })
  assert.ok(ms < 250, `${ms} ms`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { builtInResources } from '../../built-in.ts'

const resource = builtInResources().find(({ kind }) => kind === 'PriorityClass')
assert.ok(resource !== undefined)
const { rules, shape, table } = resource

const classWith = (fields: Fields): KubeObject =>
  shape.setDefaults({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'c' },
    value: 10,
    ...fields,
  })

const faultsOf = (fields: Fields): readonly string[] =>
  rules.validate(classWith(fields)).map(({ path, message }) => `${path}: ${message}`)

test('a PriorityClass preempts pods of lower priority by default', () => {
  assert.equal(classWith({})['preemptionPolicy'], 'PreemptLowerPriority')
})

test('the preemption policy of a PriorityClass must be one of two values', () => {
  assert.deepEqual(faultsOf({ preemptionPolicy: 'Never' }), [])
  assert.deepEqual(faultsOf({ preemptionPolicy: 'Sometimes' }), [
    'preemptionPolicy: Unsupported value: "Sometimes": supported values: "PreemptLowerPriority", "Never"',
  ])
  assert.deepEqual(faultsOf({ preemptionPolicy: '' }), ['preemptionPolicy: Required value'])
})

test('the preemption policy of a PriorityClass is immutable', () => {
  const metadata = { name: 'c', resourceVersion: '1' }
  const faults = rules.validateUpdate(
    classWith({ metadata, preemptionPolicy: 'Never' }),
    classWith({ metadata }),
  )
  assert.deepEqual(
    faults.map(({ message }) => message),
    ['Invalid value: "Never": field is immutable'],
  )
})

test('kubectl get shows the preemption policy of a PriorityClass', () => {
  assert.equal(table.columns.at(-1)?.name, 'PreemptionPolicy')
  assert.equal(table.cells(classWith({ preemptionPolicy: 'Never' })).at(-1), 'Never')
})

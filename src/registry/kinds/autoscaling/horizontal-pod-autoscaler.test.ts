import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fields, fieldsOf, itemsOf, type Json, type KubeObject } from '../../../api/object.ts'
import { decodeStored, encodeStored } from '../../../objects/codec/object.ts'
import { builtInResources } from '../../built-in.ts'
import type { Resource } from '../../resource.ts'
import { toStored } from './horizontal-pod-autoscaler.ts'

const resources = builtInResources()
const version = (name: string): Resource =>
  resources.find(({ kind, version: own }) => kind === 'HorizontalPodAutoscaler' && own === name) ??
  assert.fail(`there is no autoscaling/${name}`)
const v1 = version('v1')
const v2 = version('v2')
const writer = {
  user: { name: 'u', uid: '', groups: [] },
  now: () => 't',
  newId: () => 'i',
  warn: () => undefined,
}

const prefix = 'autoscaling.alpha.kubernetes.io/'

const autoscaler = (
  annotations: { readonly [name: string]: string },
  status: Fields = {},
): KubeObject =>
  v1.shape.setDefaults({
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: {
      name: 'a',
      namespace: 'n',
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([name, text]) => [prefix + name, text]),
      ),
    },
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } },
    status,
  })

/** Returns an object written as v1, as clients of v2 receive it. */
const seenInV2 = (object: KubeObject): KubeObject =>
  decodeStored(encodeStored(object, v1.shape), v2.shape, 1)

/** Creates an autoscaler as v1, and returns its spec in v2. */
function created(annotations: { readonly [name: string]: string }): Fields {
  const object = v1.rules.prepareCreate(autoscaler(annotations), writer)
  assert.deepEqual(v1.rules.validate(object), [])
  return fieldsOf(seenInV2(object)['spec'])
}

function statusWritten(
  annotations: { readonly [name: string]: string },
  status: Fields = {},
): Fields {
  const rules = v1.rules.subresources['status'] ?? assert.fail('there is no status')
  const current = v1.rules.prepareCreate(autoscaler({}), writer)
  const object = rules.prepareUpdate(autoscaler(annotations, status), current, writer)
  return fieldsOf(seenInV2(object)['status'])
}

const policies: Json = [{ Type: 'Pods', Value: 1, PeriodSeconds: 1 }]
const cpu = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
}

test('the behavior annotation of autoscaling/v1 is decoded according to the type of the field behavior', () => {
  const text = JSON.stringify({
    ScaleUp: { StabilizationWindowSeconds: 7, Policies: policies },
    ScaleDown: null,
  })
  const { scaleUp } = fieldsOf(created({ behavior: text })['behavior'])
  assert.deepEqual(scaleUp, {
    stabilizationWindowSeconds: 7,
    selectPolicy: 'Max',
    policies: [{ type: 'Pods', value: 1, periodSeconds: 1 }],
  })
})

test('an invalid or empty behavior annotation is ignored entirely', () => {
  const faulty: Json[] = [
    { Tolerance: 'abc' },
    { Tolerance: {} },
    { StabilizationWindowSeconds: 'x' },
    { SelectPolicy: 7 },
    { Policies: {} },
    { Policies: [{ Type: 'Pods', Value: 'x', PeriodSeconds: 5 }] },
    // This value does not fit into 32 bits.
    { Policies: [{ Type: 'Pods', Value: 2 ** 31, PeriodSeconds: 1 }] },
  ]
  for (const rules of faulty) {
    const behavior: string = JSON.stringify({
      ScaleUp: { Policies: policies, ...fieldsOf(rules) },
      ScaleDown: {},
    })
    assert.equal(created({ behavior })['behavior'], undefined, behavior)
  }
  const beyondDoubles =
    '{"ScaleUp":{"Policies":[{"Type":"Pods","Value":9007199254740993,"PeriodSeconds":1}]}}'
  for (const behavior of [
    '',
    '{',
    '[]',
    '7',
    'null',
    '{}',
    '{"ScaleUp":null}',
    '{} {}',
    beyondDoubles,
  ]) {
    assert.equal(created({ behavior })['behavior'], undefined, behavior)
  }
})

test('an invalid metrics annotation is ignored entirely', () => {
  const good = { type: 'Pods', pods: { metricName: 'x', targetAverageValue: '1' } }
  for (const value of ['abc', {}]) {
    const bad = { type: 'Pods', pods: { metricName: 'x', targetAverageValue: value } }
    assert.deepEqual(created({ metrics: JSON.stringify([good, bad]) })['metrics'], [cpu])
  }
  for (const metrics of ['{}', 'null', '[7]', '[],[]'])
    assert.deepEqual(created({ metrics })['metrics'], [cpu])
})

test('an invalid status annotation is ignored', () => {
  const condition = { type: 'A', status: 'True' }
  const conditions = JSON.stringify([{ ...condition, lastTransitionTime: 'abc' }])
  assert.equal(statusWritten({ conditions })['conditions'], undefined)
  const read = statusWritten({
    conditions: JSON.stringify([{ ...condition, lastTransitionTime: null, x: 1 }]),
  })
  assert.deepEqual(read['conditions'], [condition])
  const metric = { type: 'Pods', pods: { metricName: 'x', currentAverageValue: 'abc' } }
  const { currentMetrics } = statusWritten(
    { 'current-metrics': JSON.stringify([metric]) },
    { currentCPUUtilizationPercentage: 5 },
  )
  const [current] = itemsOf(currentMetrics)
  assert.equal(fieldsOf(fieldsOf(current?.['resource'])['current'])['averageUtilization'], 5)
})

test('an autoscaler of v1 without metrics has the default metric in v2', () => {
  const spec = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } }
  const kind = 'HorizontalPodAutoscaler'
  const stored = toStored({ apiVersion: 'autoscaling/v1', kind, metadata: {}, spec })
  const target = { type: 'Utilization', averageUtilization: 80 }
  const metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }]
  assert.deepEqual(stored['spec'], { ...spec, metrics })
})

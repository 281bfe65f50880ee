import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestLongestTurnMs } from '../../../../../test/support/harness/turns.ts'
import type { Fields } from '../../../../api/object.ts'
import { inParts, unsteadyWork } from '../../../../lib/scheduling/parts.ts'
import { Slices } from '../../../../lib/scheduling/slices.ts'
import { computedClassOf, type QosClass } from './qos.ts'

const gates = { release: 33, isOn: () => true }
const both = { cpu: '1', memory: '1Gi' }

const container = (requests: Fields, limits: Fields): Fields => ({
  resources: { requests, limits },
})

const cases: readonly (readonly [QosClass, readonly Fields[]])[] = [
  ['BestEffort', [{}, container({}, { cpu: '0', 'a/b': '1' })]],
  ['Guaranteed', [container(both, both), container({}, both)]],
  ['Burstable', [container(both, both), {}]],
  ['Burstable', [{}, container(both, both)]],
  ['Burstable', [container({ cpu: '500m' }, both)]],
  ['Burstable', [container({ cpu: '1' }, { cpu: '1' })]],
  ['Burstable', [container(both, {})]],
]

for (const [expected, containers] of cases)
  test(`a pod with the containers ${JSON.stringify(containers)} is ${expected}`, () =>
    assert.equal(computedClassOf({ containers }, gates), expected))

test('the QoS class of a pod with many containers is computed in parts', async () => {
  const containers = Array.from({ length: 100_000 }, () => container(both, both))
  unsteadyWork.report = assert.fail
  const ms = await bestLongestTurnMs(async () => {
    const slices = new Slices(undefined, { isExpensive: true })
    const found = await inParts(() => computedClassOf({ containers }, gates), slices)
    assert.equal(found, 'Guaranteed')
  })
  assert.ok(ms < 50, `${ms} ms`)
})

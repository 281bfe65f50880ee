import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGates } from '../../api/gates.ts'
import { allSteps, longestTurnMs } from '../../../test/support/harness/turns.ts'
import { inParts, parts } from '../../lib/scheduling/parts.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import { podWarnings } from '../kinds/core/pod/warnings.ts'
import { warningsOfEach } from './warnings.ts'

test('warnings about list items are returned in the order of the items, up to the maximum number', () => {
  assert.deepEqual(
    warningsOfEach(['a', '', 'b'], (item, at) => (item === '' ? [] : [`${at}: ${item}`])),
    ['0: a', '2: b'],
  )
  const many = Array.from({ length: 1_000_000 }, () => '')
  assert.equal(warningsOfEach(many, () => ['w']).length, 4096)
})

test('computing the warnings about many host aliases does not block the event loop', async () => {
  const hostAliases = Array.from({ length: 150_000 }, (_, at) => ({
    ip: `10.0.${at >> 8}.${at & 255}`,
  }))
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { hostAliases } }
  const longestMs = await longestTurnMs(async () => {
    assert.deepEqual(await inParts(() => podWarnings(pod, defaultGates), new Slices()), [])
  })
  assert.ok(longestMs < 50, `${longestMs} ms`)
})

test('warnings about environment variables that hide earlier ones are the same whether or not the work is divided into parts', () => {
  const env = [...Array(60).keys()].map((at) => ({ name: `v${at % 50}`, value: 'x' }))
  const spec = { containers: [{ name: 'c', env }] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }
  const whole = podWarnings(pod, defaultGates)
  assert.equal(whole.length, 10)
  assert.deepEqual(
    allSteps(parts(() => podWarnings(pod, defaultGates), { isOver: true, begin: () => undefined })),
    whole,
  )
})

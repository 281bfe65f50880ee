import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { TimeRatio } from './time-ratio.ts'

const NS_PER_MS = 1e6

const begin = (): { readonly ratio: TimeRatio; readonly msIn: () => readonly number[] } => {
  const times = new Metrics().histogram({ name: 'times', help: '', labels: [] }, [0, 0.5, 1]).with()
  const ratio = new TimeRatio(times, { bounds: [0, 0.5, 1], nowMs: 0 })
  return { ratio, msIn: () => Array.from(times.counts, (ns) => ns / NS_PER_MS) }
}

test('TimeRatio adds elapsed time to the bucket of the current ratio between a value and its limit', () => {
  const { ratio, msIn } = begin()
  ratio.set(1, 1)
  ratio.setLimit(2, 3)
  ratio.set(1.5, 7)
  ratio.setLimit(400, 15)
  ratio.set(201, 31)
  ratio.set(127, 63)
  ratio.set(401, 127)
  ratio.set(0, 255)
  assert.deepEqual(msIn(), [1, 4 + 16 + 64, 2 + 8 + 32, 128])
})

test('TimeRatio counts no time twice if changes are reported in another order than their clock times', () => {
  const { ratio, msIn } = begin()
  ratio.set(1, 10)
  ratio.set(2, 6)
  ratio.setLimit(4, 8)
  ratio.set(0, 20)
  assert.deepEqual(msIn(), [10, 10, 0, 0])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Quantiles } from './quantiles.ts'

const HOUR_MS = 3_600_000

test('quantiles have an error of at most one percent', () => {
  const quantiles = new Quantiles(5 * HOUR_MS, () => 0)
  assert.deepEqual(quantiles.read([0.5]), [Number.NaN])
  for (let at = 1; at <= 1000; at++) quantiles.observe(at / 1000)
  const [half = 0, most = 0, all = 0] = quantiles.read([0.5, 0.9, 0.99])
  for (const [found, wanted] of [
    [half, 0.5],
    [most, 0.9],
    [all, 0.99],
  ] as const) {
    assert.ok(Math.abs(found / wanted - 1) < 0.011, `${found} for ${wanted}`)
  }
  assert.ok(Math.abs(quantiles.sum - 500.5) < 1e-9)
  assert.equal(quantiles.count, 1000)
})

test('observed values beyond the bounds are counted in the first or last bucket', () => {
  const quantiles = new Quantiles(HOUR_MS, () => 0)
  for (const value of [0, 1e-9, 1e9]) quantiles.observe(value)
  const [low, high = 0] = quantiles.read([0.5, 1])
  assert.equal(low, 1e-7)
  assert.ok(high > 1000)
})

test('observed values that are older than the time span are dropped from the quantiles, but not from sum and count', () => {
  let nowMs = 0
  const quantiles = new Quantiles(5 * HOUR_MS, () => nowMs)
  quantiles.observe(1)
  const medians = Array.from({ length: 7 }, () => {
    const [median = 0] = quantiles.read([0.5])
    nowMs += HOUR_MS
    return Math.round(median)
  })
  assert.deepEqual(medians, [1, 1, 1, 1, 1, Number.NaN, Number.NaN])
  nowMs += 1000 * HOUR_MS
  quantiles.observe(2)
  assert.deepEqual(quantiles.read([0.5]), [Number.NaN], 'the value was counted in an old window')
  quantiles.observe(2)
  assert.equal(Math.round(quantiles.read([0.5])[0] ?? 0), 2)
  assert.equal(quantiles.count, 3)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteBudget } from './byte-budget.ts'

test('bytes are taken while there is room, and given back', () => {
  const budget = new ByteBudget(100)
  assert.ok(budget.take(60))
  assert.ok(!budget.take(50))
  assert.ok(budget.take(40))
  budget.give(60)
  assert.ok(budget.take(50))
  assert.deepEqual([budget.used, budget.peak, budget.refused], [90, 100, 1])
})

test('what is larger than all of it is served alone', () => {
  const budget = new ByteBudget(100)
  assert.ok(budget.take(500))
  assert.ok(!budget.take(1))
  budget.give(500)
  assert.ok(budget.take(1))
  assert.ok(!budget.take(500))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteBudget, type Holder } from './byte-budget.ts'

const holder = (name: string): Holder => ({ name, isExempt: false })
const admin: Holder = { name: 'admin', isExempt: true }
const large = (name: string) => ({ holder: holder(name), isSmall: false })
const small = (name: string) => ({ holder: holder(name), isSmall: true })

test('a ByteBudget grants bytes until it is exhausted, and grants released bytes again', () => {
  const budget = new ByteBudget(1600)
  for (const name of ['a', 'b', 'c']) assert.ok(budget.take(400, large(name)))
  assert.ok(!budget.take(300, large('d')))
  assert.ok(budget.take(200, large('d')))
  budget.give(400, holder('a'))
  assert.ok(budget.take(300, large('e')))
  assert.deepEqual([budget.used, budget.peak, budget.refused], [1300, 1400, 1])
})

test('one client gets at most a quarter of the budget, for small and large requests together', () => {
  const budget = new ByteBudget(1600)
  assert.ok(budget.take(300, large('a')))
  assert.ok(!budget.take(200, large('a')))
  assert.ok(!budget.take(200, small('a')))
  assert.ok(budget.take(100, small('a')))
  assert.ok(budget.take(400, large('b')))
})

test('a part of the byte budget is reserved for small requests, and another part for exempt clients', () => {
  const budget = new ByteBudget(1600)
  for (const name of ['a', 'b', 'c']) budget.take(400, large(name))
  assert.ok(budget.take(200, large('d')))
  assert.ok(!budget.take(1, large('e')))
  assert.ok(budget.take(100, small('e')))
  assert.ok(!budget.take(1, small('f')))
  assert.ok(budget.take(100, { holder: admin, isSmall: false }))
  assert.ok(!budget.take(1, { holder: admin, isSmall: false }))
})

test('a reservation that exceeds the budget is granted only if there is no other reservation', () => {
  const budget = new ByteBudget(100)
  assert.ok(budget.take(500, large('a')))
  assert.ok(!budget.take(1, large('b')))
  assert.ok(budget.take(0, large('b')), 'zero bytes always fit')
  budget.give(500, holder('a'))
  assert.ok(budget.take(1, large('b')))
  assert.ok(!budget.take(500, large('a')))
})

test('released bytes no longer count toward the share of their client', () => {
  const budget = new ByteBudget(100)
  budget.takeAnyway(70, holder('a'))
  budget.give(70, holder('a'))
  assert.equal(budget.used, 0)
  assert.ok(budget.take(25, large('a')))
})

test('a running request can reserve more bytes if its client has no other request', () => {
  const budget = new ByteBudget(1600)
  assert.ok(budget.take(300, large('a')))
  assert.ok(budget.take(500, { ...large('a'), ownBytes: 300 }))
  assert.ok(!budget.take(100, { ...large('a'), ownBytes: 0 }), 'another request of the same client')
  assert.ok(budget.take(300, large('b')))
  assert.ok(!budget.take(500, { ...large('b'), ownBytes: 300 }), 'there is no room')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PageSize } from './page-size.ts'

test('if the rows are small, the page limit grows step by step to its maximum', () => {
  const size = new PageSize()
  const limits = []
  for (let i = 0; i < 6; i++) {
    limits.push(size.rows)
    size.record(size.rows, size.rows * 80)
  }
  assert.deepEqual(limits, [16, 128, 1024, 8192, 10_000, 10_000])
})

test('if the rows are large, the page limit shrinks to one row', () => {
  const size = new PageSize()
  size.record(16, 16 * 1_400_000)
  assert.equal(size.rows, 1)
  size.record(1, 2000)
  assert.equal(size.rows, 8)
})

test('if large rows are expected, even the limit of the first page is small', () => {
  assert.deepEqual(
    [1_000_000, 300_000, 100_000, 100].map((rowBytes) => new PageSize(undefined, rowBytes).rows),
    [1, 3, 10, 16],
  )
})

test('a response that is too large reduces the page limit, but not below one row', () => {
  const size = new PageSize()
  assert.ok(size.shrink())
  assert.equal(size.rows, 2)
  assert.ok(size.shrink())
  assert.equal(size.rows, 1)
  assert.ok(!size.shrink())
})

test('property: with rows of equal size, the size of a page approaches the target', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_500_000 }), (rowBytes) => {
      const size = new PageSize()
      for (let i = 0; i < 10; i++) size.record(size.rows, size.rows * rowBytes)
      assert.ok(size.rows === 1 || size.rows * rowBytes <= 1024 * 1024)
      assert.ok(size.rows === 10_000 || (size.rows + 1) * rowBytes > 1024 * 1024)
    }),
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IdleCache, LazyValue } from './idle-cache.ts'

test('entries that are read stay in the cache, and other entries expire', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const cache = new IdleCache<string, number>(100)
  cache.set('one', 1)
  cache.set('two', 2)
  mock.timers.tick(60)
  cache.set('two', 3)
  mock.timers.tick(60)
  assert.equal(cache.get('one'), undefined)
  assert.equal(cache.get('two'), 3)
  cache.delete('two')
  assert.equal(cache.get('two'), undefined)
})

test('a cached value that was not read for a while is created again on the next read', ({
  mock,
}) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  let count = 0
  const lazy = new LazyValue(() => ({ at: ++count }), 100)
  assert.equal(count, 0)
  assert.equal(lazy.value, lazy.value)
  mock.timers.tick(120)
  assert.deepEqual(lazy.value, { at: 2 })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lingering, Remade } from './lingering.ts'

test('what is asked for stays, what is not goes', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const things = new Lingering<string, number>(100)
  things.set('one', 1)
  things.set('two', 2)
  mock.timers.tick(60)
  things.set('two', 3)
  mock.timers.tick(60)
  assert.equal(things.get('one'), undefined)
  assert.equal(things.get('two'), 3)
  things.delete('two')
  assert.equal(things.get('two'), undefined)
})

test('what nobody asked for is made again', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  let count = 0
  const thing = new Remade(() => ({ at: ++count }), 100)
  assert.equal(count, 0)
  assert.equal(thing.value, thing.value)
  mock.timers.tick(120)
  assert.deepEqual(thing.value, { at: 2 })
})

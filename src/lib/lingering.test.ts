import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lingering } from './lingering.ts'

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

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBoundedLog } from './bounded-log.ts'

test('a burst is logged, then some per second, with the number of those left out', () => {
  let nowMs = 0
  const logged: unknown[] = []
  let made = 0
  const log = createBoundedLog((level, message, fields) => logged.push([level, message, fields]), {
    monotonicMs: () => nowMs,
  })
  const fields = (): { made: number } => ({ made: ++made })
  for (let at = 0; at < 1_000; at++) log('info', 'm', fields)
  assert.equal(logged.length, 100)
  assert.deepEqual(logged[99], ['info', 'm', { made: 100 }])
  nowMs += 150
  log('info', 'm', fields)
  log('info', 'm', fields)
  assert.deepEqual(logged.slice(100), [['info', 'm', { made: 101, leftOut: 900 }]])
  assert.equal(made, 101)
  nowMs += 1_000
  log('info', 'm', fields)
  log('info', 'm', fields)
  assert.deepEqual(logged.slice(101), [
    ['info', 'm', { made: 102, leftOut: 1 }],
    ['info', 'm', { made: 103 }],
  ])
})

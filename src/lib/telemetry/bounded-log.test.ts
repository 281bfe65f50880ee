import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBoundedLog } from './bounded-log.ts'

test('after a burst of log entries, only a few entries per second are logged, with the number of dropped entries', () => {
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

test('long strings are truncated, and the total size of all entries is limited', () => {
  let nowMs = 0
  let bytes = 0
  const logged: Record<string, unknown>[] = []
  const log = createBoundedLog(
    (_level, _message, fields = {}) => {
      bytes += Buffer.byteLength(JSON.stringify(fields))
      logged.push(fields)
    },
    { monotonicMs: () => nowMs },
  )
  log('info', 'm', () => ({ error: 'a'.repeat(8_192), count: 1 }))
  assert.deepEqual<unknown>(logged, [
    { error: `${'a'.repeat(512)}... (8192 characters)`, count: 1 },
  ])
  // Each of these characters takes six bytes in JSON, because it is escaped.
  const seconds = 60
  for (; nowMs < seconds * 1000; nowMs += 10)
    log('info', 'm', () => ({ error: '\u0001'.repeat(8_192) }))
  assert.ok(bytes < 64 * 1024 + seconds * 2_600, `${bytes} bytes`)
  assert.ok(logged.length > 20)
  assert.ok(Number(logged.at(-1)?.['leftOut']) > 50)
})

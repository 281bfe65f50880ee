import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOutcome } from './outcome.ts'

test('a test that failed tells which subtests did and what was said last', () => {
  const text = `=== RUN   TestX
    x_test.go:1: extserver: start keelson serve
    x_test.go:9: expected a, got b
--- FAIL: TestX (1.00s)
    --- PASS: TestX/one (0.50s)
    --- FAIL: TestX/two (0.50s)
FAIL`
  assert.deepEqual(readOutcome(text, 'TestX'), {
    result: 'fail',
    dropped: [],
    failed: ['two'],
    said: ['x_test.go:9: expected a, got b'],
  })
})

test('a test whose subtests were all left out is left out', () => {
  const text =
    '--- PASS: TestX (1.00s)\n    --- SKIP: TestX/one (0.00s)\n        x_test.go:3: needs in-process hooks\n'
  assert.equal(readOutcome(text, 'TestX').result, 'skip')
  assert.deepEqual(readOutcome(text, 'TestX').said, ['x_test.go:3: needs in-process hooks'])
})

test('a test that passes without a server outside is left out', () => {
  const text = '--- PASS: TestX (1.00s)\n'
  assert.equal(readOutcome(text, 'TestX').result, 'skip')
  assert.deepEqual(readOutcome(text, 'TestX').said, ['it started no server outside'])
  assert.equal(
    readOutcome(`    x.go:1: extserver: start keelson serve\n${text}`, 'TestX').result,
    'pass',
  )
})

test('a test that never ended has failed', () => {
  assert.deepEqual(readOutcome('panic: test timed out after 2m0s\n', 'TestX').said, ['timed out'])
  assert.equal(readOutcome('', 'TestX').result, 'fail')
})

test('of dropped flags lists keep their values, and what every server gets is not told', () => {
  const text = `    x.go:1: extserver: dropped --feature-gates=A=true --profiling=false --proxy-client-key-file=/x
--- PASS: TestX (1.00s)`
  assert.deepEqual(readOutcome(text, 'TestX').dropped, ['feature-gates=A=true', 'profiling'])
})

test('a pass without the flag that the test is about is left out', () => {
  const text = `    x.go:1: extserver: start keelson serve
    x.go:1: extserver: dropped --emulated-version=kube=1.32
--- PASS: TestX (1.00s)`
  const { result, said } = readOutcome(text, 'TestX')
  assert.deepEqual({ result, said }, { result: 'skip', said: ['it had no --emulated-version'] })
})

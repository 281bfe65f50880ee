import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOutcome } from './outcome.ts'

test('the outcome of a failed test contains its failed subtests and its last messages', () => {
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

test('an upstream test whose subtests were all skipped counts as skipped', () => {
  const text =
    '--- PASS: TestX (1.00s)\n    --- SKIP: TestX/one (0.00s)\n        x_test.go:3: needs in-process hooks\n'
  assert.equal(readOutcome(text, 'TestX').result, 'skip')
  assert.deepEqual(readOutcome(text, 'TestX').said, ['x_test.go:3: needs in-process hooks'])
})

test('an upstream test that passes without starting an external server counts as skipped', () => {
  const text = '--- PASS: TestX (1.00s)\n'
  assert.equal(readOutcome(text, 'TestX').result, 'skip')
  assert.deepEqual(readOutcome(text, 'TestX').said, ['it started no external server'])
  assert.equal(
    readOutcome(`    x.go:1: extserver: start keelson serve\n${text}`, 'TestX').result,
    'pass',
  )
})

test('an upstream test that did not complete counts as failed', () => {
  assert.deepEqual(readOutcome('panic: test timed out after 2m0s\n', 'TestX').said, ['timed out'])
  assert.equal(readOutcome('', 'TestX').result, 'fail')
})

test('dropped server flags are reported, except flags that all test servers have; the values of list flags are included', () => {
  const text = `    x.go:1: extserver: dropped --feature-gates=A=true --profiling=false --proxy-client-key-file=/x
--- PASS: TestX (1.00s)`
  assert.deepEqual(readOutcome(text, 'TestX').dropped, ['feature-gates=A=true', 'profiling'])
})

test('an upstream test that passes without the flag that it tests counts as skipped', () => {
  const text = `    x.go:1: extserver: start keelson serve
    x.go:1: extserver: dropped --emulated-version=kube=1.32
--- PASS: TestX (1.00s)`
  const { result, said } = readOutcome(text, 'TestX')
  assert.deepEqual({ result, said }, { result: 'skip', said: ['it had no --emulated-version'] })
})

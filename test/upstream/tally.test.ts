import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type JudgedPackage, Tally } from './tally.ts'

const judged = (over: Partial<JudgedPackage>): JudgedPackage => ({
  package: 'auth',
  result: 'fail',
  wanted: 'pass',
  waitsFor: undefined,
  ...over,
})

test('an upstream test that passes only on kube-apiserver counts as failed, unless waits.txt lists it under a missing feature', () => {
  const tally = new Tally()
  assert.equal(tally.add(judged({ result: 'pass' })), '')
  assert.equal(tally.add(judged({})), '')
  assert.equal(tally.add(judged({ result: 'skip', waitsFor: 'access' })), 'listed: access')
  assert.equal(tally.add(judged({ wanted: 'fail' })), 'reference: fail')
  assert.deepEqual(tally.summary(), [
    'package\treference\tkeelson\twaits',
    'auth\t3\t1\taccess 1',
    'all\t3\t1\t33.3 %',
    'listed: access: 1',
    '1 passed, 1 failed',
  ])
})

test('an upstream test that has never run on kube-apiserver counts as failed, even if it passes', () => {
  const tally = new Tally()
  assert.match(tally.add(judged({ result: 'pass', wanted: undefined })), /--reference/)
  assert.equal(tally.failed, 1)
})

test('an upstream test in waits.txt does not count as failed, even if it has never run on kube-apiserver', () => {
  const tally = new Tally()
  assert.match(
    tally.add(judged({ wanted: undefined, waitsFor: 'audit' })),
    /^listed: audit; it never ran on the reference/,
  )
  assert.deepEqual(tally.summary().slice(1), [
    'auth\t0\t0\taudit 1',
    'all\t0\t0\t',
    'listed: audit: 1',
    '0 passed, 0 failed',
  ])
})

test('an upstream test in waits.txt that passes counts as passed and is reported', () => {
  const tally = new Tally()
  assert.match(
    tally.add(judged({ result: 'pass', waitsFor: 'access' })),
    /waits\.txt lists it under "access"/,
  )
  assert.equal(tally.passed, 1)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readJunit } from './junit.ts'

test('only selected tests are read from a report, with the reasons for failures and skips', () => {
  const report = `<testsuites><testsuite>
    <testcase name="[SynchronizedBeforeSuite]" classname="s" status="passed" time="0.1"></testcase>
    <testcase name="[It] [sig-x] a &#34;b&#34; [Conformance]" classname="s" status="passed" time="1.5"></testcase>
    <testcase name="[It] [sig-x] c" classname="s" status="failed" time="2"><failure message="expected &lt;1&gt;&#xA;more" type="failed"></failure></testcase>
    <testcase name="[It] [sig-x] d" classname="s" status="skipped" time="0"><skipped message="skipped"></skipped></testcase>
    <testcase name="[It] [sig-x] e" classname="s" status="skipped" time="0"><skipped message="skipped - no nodes"></skipped></testcase>
  </testsuite></testsuites>`
  assert.deepEqual(readJunit(report), [
    { name: '[sig-x] a "b" [Conformance]', result: 'passed', seconds: 1.5, said: '' },
    { name: '[sig-x] c', result: 'failed', seconds: 2, said: 'expected <1>' },
    { name: '[sig-x] e', result: 'skipped', seconds: 0, said: 'skipped - no nodes' },
  ])
})

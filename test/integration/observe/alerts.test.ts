/**
 * Tests the alerts of docs/dashboards with promtool: the syntax of the rules, and sample series for
 * which each alert fires or does not fire. First run `test/support/tools/install promtool`.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { toolPath } from '../../support/harness/etcd.ts'

const rules = join(import.meta.dirname, '..', '..', '..', 'docs', 'dashboards', 'rules.yaml')

const promtool = (...args: readonly string[]): string =>
  execFileSync(toolPath('promtool'), args, { encoding: 'utf8' })

test('promtool accepts the Prometheus rules without warnings', () => {
  assert.match(promtool('check', 'rules', '--lint=all', '--lint-fatal', rules), /SUCCESS/)
})

test('each alert fires for the sample series that it should detect, and not for other sample series', () => {
  const said = promtool('test', 'rules', join(import.meta.dirname, 'rules.test.yaml'))
  assert.match(said, /SUCCESS/)
})

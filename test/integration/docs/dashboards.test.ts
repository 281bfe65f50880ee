/**
 * Tests that docs/dashboards uses only existing metrics.
 * `test/integration/observe/prometheus.test.ts` tests that these metrics have values.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseYaml } from '../../../src/objects/codec/yaml-parse.ts'
import { dashboard } from '../../../scripts/dashboard.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const docs = join(root, 'docs')
const kept = readFileSync(join(docs, 'dashboards', 'keelson.json'), 'utf8')
const rules = readFileSync(join(docs, 'dashboards', 'rules.yaml'), 'utf8')
const reference = readFileSync(join(docs, 'reference', 'metrics.md'), 'utf8')

test('the dashboard is up to date with scripts/dashboard.ts', () => {
  assert.deepEqual(JSON.parse(kept), JSON.parse(JSON.stringify(dashboard())))
})

test('every metric of the dashboard and of the Prometheus rules is in the metrics reference', () => {
  const known = new Set(
    [...reference.matchAll(/^\| `(\w+)` \| \w+ \| \w+ \|/gm)].map(([, name]) => name),
  )
  const names = /(?<!:)\b(?:apiserver|etcd|keelson|nodejs|process|workqueue)_\w+/g
  const asked = new Set([...`${kept}\n${rules}`.matchAll(names)].map(([name]) => name))
  assert.ok(asked.size > 25)
  const unknown = [...asked].filter(
    (name) => !known.has(name) && !known.has(name.replace(/_(bucket|sum|count)$/, '')),
  )
  assert.deepEqual(unknown, [])
})

test('every recorded time series that the dashboard uses is defined in the Prometheus rules', () => {
  const recorded = new Set([...rules.matchAll(/- record: (\S+)/g)].map(([, name]) => name))
  for (const [name] of kept.matchAll(/keelson:\w+:\w+/g)) assert.ok(recorded.has(name), name)
})

type Rule = {
  readonly alert?: string
  readonly labels?: { readonly severity?: string }
  readonly annotations?: { readonly summary?: string; readonly runbook_url?: string }
}
type RulesFile = { readonly groups: readonly { readonly rules: readonly Rule[] }[] }
type RuleTest = {
  readonly alert_rule_test: readonly {
    readonly alertname: string
    readonly exp_alerts: readonly unknown[]
  }[]
}

const toJson = (yaml: string): string => JSON.stringify(parseYaml(Buffer.from(yaml)).value)

const { groups }: RulesFile = JSON.parse(toJson(rules))
const alerts = groups.flatMap(({ rules: all }) => all).filter(({ alert }) => alert !== undefined)

test('every alert has a severity, a summary, a runbook and a row in docs/dashboards/README.md', () => {
  const { bugs } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const pages = `${bugs.replace('/issues', '')}/blob/main/docs/runbooks.md`
  const runbooks = readFileSync(join(docs, 'runbooks.md'), 'utf8')
  const table = readFileSync(join(docs, 'dashboards', 'README.md'), 'utf8')
  assert.ok(alerts.length > 10)
  for (const { alert = '', labels, annotations } of alerts) {
    assert.match(annotations?.summary ?? '', /\.$/, alert)
    assert.equal(annotations?.runbook_url, `${pages}#${alert.toLowerCase()}`)
    assert.match(runbooks, new RegExp(`^## ${alert}$`, 'm'))
    assert.ok(table.includes(`#${alert.toLowerCase()}) | ${labels?.severity} |`), alert)
  }
})

test('for every alert, there are sample series for which it fires, and others for which it does not', () => {
  const file = readFileSync(join(root, 'test/integration/observe/rules.test.yaml'), 'utf8')
  const { tests }: { tests: readonly RuleTest[] } = JSON.parse(toJson(file))
  const cases = tests.flatMap(({ alert_rule_test: one }) => one)
  for (const { alert } of alerts)
    for (const fires of [true, false])
      assert.ok(
        cases.some(
          ({ alertname, exp_alerts: all }) => alertname === alert && all.length > 0 === fires,
        ),
        `${alert} ${fires ? 'fires' : 'does not fire'}`,
      )
})

/**
 * Tests that docs/dashboards uses only existing metrics.
 * `test/integration/observe/prometheus.test.ts` tests that these metrics have values.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { dashboard } from '../../../scripts/dashboard.ts'

const docs = join(import.meta.dirname, '..', '..', '..', 'docs')
const kept = readFileSync(join(docs, 'dashboards', 'keelson.json'), 'utf8')
const rules = readFileSync(join(docs, 'dashboards', 'rules.yaml'), 'utf8')
const reference = readFileSync(join(docs, 'reference', 'metrics.md'), 'utf8')

test('the dashboard is up to date with scripts/dashboard.ts', () => {
  assert.deepEqual(JSON.parse(kept), JSON.parse(JSON.stringify(dashboard())))
})

test('every metric of the dashboard and of the rules is in the metrics reference', () => {
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

test('every recorded series that the dashboard uses is defined in the rules', () => {
  const recorded = new Set([...rules.matchAll(/- record: (\S+)/g)].map(([, name]) => name))
  for (const [name] of kept.matchAll(/keelson:\w+:\w+/g)) assert.ok(recorded.has(name), name)
})

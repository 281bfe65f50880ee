/**
 * What the scenarios that differ wait for: reads the outcomes that `--json F` wrote and prints a table for docs/, each id under
 * the work that will bring it.
 *
 *   node test/compat/waiting.ts F > docs/waiting.md
 */
import { readFileSync } from 'node:fs'
import type { Outcome } from './compare.ts'
import { type FiledScenario, loadScenarios } from './scenarios.ts'

const topics = [
  'patches and apply',
  'custom resources',
  'representations',
  'access',
  'admission',
  'rules of kinds',
  'to be looked at',
] as const
type Topic = (typeof topics)[number]

/** Kinds whose own rules are done: what differs on these alone is ours to look at. */
const done = new Set(['configmaps', 'namespaces', 'secrets', 'leases', 'serviceaccounts', 'events'])

const [file = ''] = process.argv.slice(2)
const outcomes: readonly Outcome[] = JSON.parse(readFileSync(file, 'utf8'))
const scenarios = new Map((await loadScenarios()).map((scenario) => [scenario.id, scenario]))
const byTopic = Map.groupBy(
  outcomes.filter(({ outcome }) => outcome !== 'same'),
  ({ id }) => topicOf(scenarios.get(id)),
)
const same = outcomes.filter(({ outcome }) => outcome === 'same').length
console.log(`# What the scenarios that differ wait for\n\n${same} of ${outcomes.length} scenarios are the same.\n`)
for (const topic of topics) {
  const ofTopic = byTopic.get(topic) ?? []
  console.log(`## ${topic}: ${ofTopic.length}\n`)
  const byFile = Map.groupBy(ofTopic, (outcome) => outcome.file)
  for (const [name, some] of byFile) console.log(`- ${name}: ${some.map(({ id }) => id).join(', ')}`)
  console.log()
}

/** By what the scenario does, most telling first. */
function topicOf(scenario: FiledScenario | undefined): Topic {
  if (scenario === undefined) return 'to be looked at'
  const text = JSON.stringify(scenario)
  if (/"method":"PATCH"/.test(text)) return 'patches and apply'
  if (/customresourcedefinition|example\.com|stable\.|crontab/i.test(text)) return 'custom resources'
  if (/protobuf|as=Table|PartialObjectMetadata|cbor|openapi|APIGroupDiscovery/i.test(text)) return 'representations'
  if (/"as":"(alice|bob)"|rbac|impersonate|subjectaccessreview|system:anonymous/i.test(text)) return 'access'
  if (scenario.hooks !== undefined || /webhook|resourcequota|limitrange|priorityclass/i.test(text)) return 'admission'
  const resources = scenario.steps.map((step) => ('path' in step ? resourceOf(step.path) : undefined))
  return resources.some((name) => name !== undefined && !done.has(name)) ? 'rules of kinds' : 'to be looked at'
}

/** The resource that a path is about: `/api/v1/namespaces/$ns/pods/x` is about pods. */
function resourceOf(path: string): string | undefined {
  const below = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/)?([a-z]+)/.exec(path)
  return below?.[1]
}

/**
 * Groups by topic the scenarios in which the responses of Keelson and kube-apiserver differ. Reads
 * the results that `--json F` wrote, and prints a page for docs/ with the scenario IDs of each
 * topic.
 *
 *   node test/recorded/compat/waiting.ts F > docs/waiting.md
 */
import { readFileSync } from 'node:fs'
import type { Outcome } from './compare.ts'
import { type FiledScenario, loadScenarios } from './scenarios.ts'

const topics = [
  'custom resources',
  'webhooks and policies',
  'access',
  'flow control',
  'intentional',
  'to be examined',
] as const
type Topic = (typeof topics)[number]

/** Matches the IDs of scenarios whose differences are intentional (docs/differences.md). */
const onPurpose =
  /^(encoding-(list|get)-(large|middle)|crud-paths-method-foo|path-methods-|apply-limits-deep|crud-dryrun-create-node-port|debug-|crd-watch-too-old|everyone-review-blank|crd-values-set-numbers|(protobuf|transform)-watch-error)/

const [file = ''] = process.argv.slice(2)
const outcomes: readonly Outcome[] = JSON.parse(readFileSync(file, 'utf8'))
const scenarios = new Map((await loadScenarios()).map((scenario) => [scenario.id, scenario]))
const byTopic = Map.groupBy(
  outcomes.filter(({ outcome }) => outcome !== 'same'),
  ({ id }) => topicOf(scenarios.get(id)),
)
const same = outcomes.filter(({ outcome }) => outcome === 'same').length
console.log(`# Scenarios that differ\n\n${same} of ${outcomes.length} scenarios are the same.\n`)
for (const topic of topics) {
  const ofTopic = byTopic.get(topic) ?? []
  console.log(`## ${topic}: ${ofTopic.length}\n`)
  const byFile = Map.groupBy(ofTopic, (outcome) => outcome.file)
  for (const [name, some] of byFile)
    console.log(`- ${name}: ${some.map(({ id }) => id).join(', ')}`)
  console.log()
}

/** Returns the topic of a scenario, based on the most specific feature that it uses. */
function topicOf(scenario: FiledScenario | undefined): Topic {
  if (scenario === undefined) return 'to be examined'
  if (onPurpose.test(scenario.id)) return 'intentional'
  const text = JSON.stringify(scenario)
  if (/x-kubernetes-pf-/i.test(text)) return 'flow control'
  if (/customresourcedefinition|crontab/i.test(text)) return 'custom resources'
  if (scenario.hooks !== undefined || /webhookconfiguration|admissionpolic|expression/i.test(text))
    return 'webhooks and policies'
  if (/"as":"(alice|bob)"|rbac|impersonate|subjectaccessreview|system:anonymous/i.test(text))
    return 'access'
  return 'to be examined'
}

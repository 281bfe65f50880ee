/**
 * Measures how long CustomResourceDefinitions of the maximum size block the event loop while they
 * are validated: `node test/chaos/hostile/crd-turns.ts [NAME]`. Prints the CPU time of the longest
 * tick of each definition.
 */
import type { Fields, Json, KubeObject } from '../../../src/api/object.ts'
import { PatternThread } from '../../../src/objects/cel/pattern-thread.ts'
import { customResourceDefinitionRules } from '../../../src/registry/kinds/apiextensions/custom-resource-definition.ts'
import { longestTurnMs } from '../../support/harness/turns.ts'

const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at))
const byName = (count: number, make: (at: number) => Json): Fields =>
  Object.fromEntries(times(count, (at) => [`p${at}`, make(at)]))
const names = times(30_000, (at) => `p${at}`)
const wide: Fields = {
  type: 'object',
  properties: byName(30_000, () => ({ type: 'string' })),
  required: names,
}

const schemas: { readonly [name: string]: Fields } = {
  'a pattern of 300 KB': { a: { type: 'string', pattern: '(a|b[c-f]+)'.repeat(27_000) } },
  '3,000 patterns': byName(3_000, (at) => ({
    type: 'string',
    pattern: `^[a-z${at}]+(x|y{1,9})*$`.repeat(4),
  })),
  '30,000 required properties': { o: wide },
  '30,000 required properties with a default': {
    o: { ...wide, default: byName(30_000, () => 'x') },
  },
  '30,000 required properties that a default lacks': { o: { ...wide, default: {} } },
  '60,000 properties': byName(60_000, (at) => ({ type: 'string', maxLength: at })),
  'a default of 100,000 items': {
    l: { type: 'array', items: { type: 'integer' }, default: times(100_000, (at) => at) },
  },
}

function definitionOf(properties: Fields): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', properties } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      conversion: { strategy: 'None' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
    status: { storedVersions: ['v1'] },
  }
}

const longestTurnOf = (definition: KubeObject, thread: PatternThread): Promise<number> =>
  longestTurnMs(async () => {
    await customResourceDefinitionRules.validateInSlices?.(definition, undefined, {
      answer: (question) => thread.answer(question),
    })
  })

await using thread = new PatternThread()
for (const [name, properties] of Object.entries(schemas)) {
  if (!name.includes(process.argv[2] ?? '')) continue
  const ms = await longestTurnOf(definitionOf(properties), thread)
  console.log(`${ms.toFixed(0).padStart(6)} ms longest tick of ${name}`)
}

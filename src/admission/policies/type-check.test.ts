import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { turnsDuring } from '../../../test/harness/turns.ts'
import { cases, definition, policyOf } from '../../../test/type-checking/cases.ts'
import { fieldsOf, isFields, type Json } from '../../api/object.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { customResources } from '../../registry/custom/custom-resource.ts'
import { readDefinition } from '../../registry/custom/definition.ts'
import { typeCheck } from './type-check.ts'

const { spec: definitionSpec, ...named } = definition
const acceptedNames = fieldsOf(fieldsOf(definitionSpec)['names'])
const resources = [
  ...builtInResources(),
  ...customResources(
    readDefinition({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { ...fieldsOf(named['metadata']), uid: '1' },
      spec: fieldsOf(definitionSpec),
      status: { acceptedNames },
    }),
  ),
]

/** What the real kube-controller-manager wrote (test/type-checking/record.ts). */
const file: Json = JSON.parse(
  readFileSync(new URL('../../../test/type-checking/recorded.json', import.meta.url), 'utf8'),
)
const recorded = isFields(file) ? file : {}

/** Upstream's types have a number behind the kind, another one each time. */
const numbered = (text: string): string => text.replaceAll(/\b([A-Z]\w*?)\d+(?=[.,)])/g, '$1')

for (const [name, one] of Object.entries(cases)) {
  test(`type check: ${name}`, async () => {
    const { spec = {} } = policyOf(name, one)
    const warnings = await typeCheck({ spec }, resources)
    assert.deepEqual(warnings, JSON.parse(numbered(JSON.stringify(recorded[name]))))
  })
}

test('a policy of many long expressions is checked in turns', async () => {
  const long = Array.from({ length: 2_000 }, () => 'object.spec.replicas == 1').join(' || ')
  const { spec = {} } = policyOf('long', { rules: cases['good']?.rules ?? [], validations: [{ expression: long }] })
  const turns = await turnsDuring(async () => void (await typeCheck({ spec }, resources)))
  assert.ok(turns > 3, `${turns} turns`)
})

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { turnsDuring } from '../../../test/support/harness/turns.ts'
import { cases, definition, policyOf } from '../../../test/recorded/type-checking/cases.ts'
import { type Fields, fieldsOf, isFields, type Json } from '../../api/object.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { customResources } from '../../registry/custom/custom-resource.ts'
import { readCrd } from '../../registry/custom/crd.ts'
import { typeCheck } from './type-check.ts'

const { spec: definitionSpec, ...named } = definition
const acceptedNames = fieldsOf(fieldsOf(definitionSpec)['names'])
const resources = [
  ...builtInResources(),
  ...customResources(
    readCrd({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { ...fieldsOf(named['metadata']), uid: '1' },
      spec: fieldsOf(definitionSpec),
      status: { acceptedNames },
    }),
  ),
]

/**
 * Warnings recorded from the real kube-controller-manager (test/recorded/type-checking/record.ts).
 */
const file: Json = JSON.parse(
  readFileSync(
    new URL('../../../test/recorded/type-checking/recorded.json', import.meta.url),
    'utf8',
  ),
)
const recorded = isFields(file) ? file : {}

/**
 * Removes the number that Kubernetes appends to the kind in type names, because it differs in each
 * run.
 */
const numbered = (text: string): string => text.replaceAll(/\b([A-Z]\w*?)\d+(?=[.,)])/g, '$1')

for (const [name, one] of Object.entries(cases)) {
  test(`a type check returns the warnings that were recorded from kube-controller-manager: ${name}`, async () => {
    const { spec = {} } = policyOf(name, one)
    const warnings = await typeCheck({ spec }, resources)
    assert.deepEqual(warnings, JSON.parse(numbered(JSON.stringify(recorded[name]))))
  })
}

test('the type check of long expressions is divided into slices, between which the event loop runs other work', async () => {
  const long = Array.from({ length: 2_000 }, () => 'object.spec.replicas == 1').join(' || ')
  const { spec = {} } = policyOf('long', {
    rules: cases['good']?.rules ?? [],
    validations: [{ expression: long }],
  })
  const turns = await turnsDuring(async () => void (await typeCheck({ spec }, resources)))
  assert.ok(turns > 3, `${turns} turns`)
})

const ruleOf = (rule: object): Fields => ({ operations: ['*'], ...rule })
const many = (prefix: string): string[] => Array.from({ length: 500 }, (_, at) => `${prefix}${at}`)

test('a type check finds the served kind among many groups, versions and resources in a rule', async () => {
  const rule = ruleOf({
    apiGroups: [...many('g'), 'apps', ...many('g')],
    apiVersions: [...many('v'), 'v1'],
    resources: [...many('r'), 'deployments'],
  })
  const spec = {
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: 'object.spec.nothing' }],
  }
  const [warning] = await typeCheck({ spec }, resources)
  assert.match(
    warning?.warning ?? '',
    /^apps\/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'nothing'/,
  )
})

test('if a rule lists a resource several times, each repetition counts toward the limit of checked kinds', async () => {
  const rules = [
    ruleOf({
      apiGroups: ['apps'],
      apiVersions: ['v1'],
      resources: Array.from({ length: 10 }, () => 'deployments'),
    }),
    ruleOf({ apiGroups: ['apps'], apiVersions: ['v1'], resources: ['daemonsets'] }),
  ]
  const spec = {
    matchConstraints: { resourceRules: rules },
    validations: [{ expression: 'object.nothing' }],
  }
  const [warning] = await typeCheck({ spec }, resources)
  const { warning: text = '' } = warning ?? {}
  assert.ok(text.startsWith('apps/v1, Kind=Deployment: ') && !text.includes('DaemonSet'))
})

test('the warnings of a type check are limited, so that they fit into the status of the policy', async () => {
  const expression = Array.from({ length: 200 }, (_, at) => `object.nothing${at} == 1`).join(' || ')
  const rule = ruleOf({
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    resources: ['deployments', 'daemonsets'],
  })
  const validations = Array.from({ length: 20 }, () => ({ expression }))
  const warnings = await typeCheck(
    { spec: { matchConstraints: { resourceRules: [rule] }, validations } },
    resources,
  )
  const characters = warnings.reduce(
    (sum, { fieldRef, warning }) => sum + fieldRef.length + warning.length,
    0,
  )
  assert.ok(characters > 100 << 10 && characters <= 128 << 10, `${characters} characters`)
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { longestTurnMs, turnsDuring } from '../../../../test/support/harness/turns.ts'
import { defaultGatesOf } from '../../../api/gates.ts'
import { type Fields, fieldsOf, type KubeObject } from '../../../api/object.ts'
import { customResourceDefinitionRules } from './custom-resource-definition.ts'

function definitionOf(properties: Fields): KubeObject {
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
  const schema = { openAPIV3Schema: { type: 'object', properties } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      conversion: { strategy: 'None' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
    status: { storedVersions: ['v1'] },
  }
}

const turnsOf = (crd: KubeObject): Promise<number> =>
  turnsDuring(async () =>
    assert.deepEqual(await customResourceDefinitionRules.validateInSlices?.(crd, undefined), []),
  )

test('compiling a thousand validation rules does not block the event loop', async () => {
  const rules = Array.from({ length: 1_000 }, (_, at) => ({
    rule: `self > ${at} || self < ${at} || self == ${at}`,
  }))
  assert.ok(
    (await turnsOf(definitionOf({ n: { type: 'integer', 'x-kubernetes-validations': rules } }))) >
      20,
  )
})

test('the validation of a CRD stops when many of its validation rules are invalid', async () => {
  const rules = Array.from({ length: 30_000 }, () => ({ rule: 'self.missing > 0' }))
  const crd = definitionOf({ n: { type: 'integer', 'x-kubernetes-validations': rules } })
  const faults = (await customResourceDefinitionRules.validateInSlices?.(crd, undefined)) ?? []
  assert.ok(faults.length > 0 && faults.length <= 10_000, `${faults.length} errors`)
})

test('evaluating the validation rules of a default does not block the event loop', async () => {
  const rule = 'self.all(x, self.all(y, x + y >= 0))'
  const list = {
    type: 'array',
    maxItems: 300,
    items: { type: 'integer' },
    'x-kubernetes-validations': [{ rule }],
  }
  const properties = { n: { ...list, default: Array.from({ length: 300 }, (_, at) => at) } }
  assert.ok((await turnsOf(definitionOf(properties))) > 3)
})

test('reading a large schema with a default does not block the event loop', async () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `p${at}`)
  const properties = Object.fromEntries(
    names.map((name, at) => [name, { type: 'string', maxLength: at + 1 }]),
  )
  const values = Object.fromEntries(names.map((name) => [name, 'x']))
  const schema = { type: 'object', properties, required: names, default: values }
  // Parsing the schema takes about fifty milliseconds. Validating that it is structural takes as
  // long.
  assert.ok((await turnsOf(definitionOf({ o: schema }))) > 30)
})

test('validating tens of thousands of properties blocks the event loop only for a short time', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 60_000 }, (_, at) => [`p${at}`, { type: 'string', maxLength: at }]),
  )
  const crd = definitionOf(properties)
  const check = async (): Promise<void> => {
    assert.deepEqual(await customResourceDefinitionRules.validateInSlices?.(crd, undefined), [])
  }
  // Use the best of several runs, because garbage collection for another test can slow down a run.
  const ms = Math.min(
    await longestTurnMs(check),
    await longestTurnMs(check),
    await longestTurnMs(check),
  )
  assert.ok(ms < 150, `${ms} ms of CPU in one turn`)
})

const crdWith = (count: number): KubeObject => {
  const names = Array.from({ length: count }, (_, at) => `p${at}`)
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const openAPIV3Schema = { type: 'object', properties }
  const version = {
    name: 'v1',
    storage: true,
    schema: { openAPIV3Schema },
    selectableFields: names.map((name) => ({ jsonPath: `.${name}` })),
  }
  const given = definitionOf({})
  const spec = { ...fieldsOf(given['spec']), versions: [{ ...version, served: true }] }
  return { ...given, spec }
}

const updatedIn = async (release: number, now: KubeObject, was: KubeObject) => {
  const gates = defaultGatesOf(release)
  const { validateInSlices } = customResourceDefinitionRules
  return (await validateInSlices?.(now, was, undefined, gates))?.map(({ path }) => path)
}

test('since 1.35, too many selectable fields are tolerated if they do not change', async () => {
  const path = 'spec.selectableFields'
  assert.deepEqual(await updatedIn(34, crdWith(9), crdWith(9)), [path])
  assert.deepEqual(await updatedIn(35, crdWith(9), crdWith(9)), [])
  assert.deepEqual(await updatedIn(35, crdWith(10), crdWith(9)), [path])
  assert.deepEqual(await updatedIn(35, crdWith(9), crdWith(8)), [path])
})

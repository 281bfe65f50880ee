import { defaultGates } from '../../../api/gates.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { type Fields, fieldsOf } from '../../../api/object.ts'
import { inTurns } from '../../../objects/cel/turns.ts'
import { AcceptedSchemas } from './accepted-schemas.ts'
import { validateSpec } from './crd-spec.ts'

const costly = { rule: 'self.all(x, self.all(y, x == y))' }
const list: Fields = {
  type: 'array',
  items: { type: 'string' },
  'x-kubernetes-validations': [costly],
}

const specWith = (properties: Fields, more: Fields = {}): Fields => ({
  group: 'example.com',
  scope: 'Namespaced',
  names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
  versions: [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object', properties } },
      ...more,
    },
  ],
})

async function faultsOf(spec: Fields, was?: Fields): Promise<string[]> {
  const faults = await inTurns((slice) =>
    validateSpec(spec, { gates: defaultGates, slice }, was && { was, isEstablished: true }),
  )
  return faults.map(({ message }) => message.slice(0, 40))
}

test('a schema over the cost limit is refused if it is new or has changed', async () => {
  const was = specWith({ list })
  assert.match((await faultsOf(was))[0] ?? '', /estimated rule cost exceeds/)
  assert.match(
    (await faultsOf(specWith({ list, other: { type: 'string' } }), was))[0] ?? '',
    /estimated rule cost exceeds/,
  )
})

test('a stored schema over the cost limit is accepted as long as it is unchanged', async () => {
  const was = specWith({ list })
  assert.deepEqual(await faultsOf(was, was), [])
  assert.deepEqual(await faultsOf(specWith({ list }, { deprecated: true }), was), [])
})

test('an unchanged schema over the cost limit is refused if the status subresource is enabled', async () => {
  const [first] = await faultsOf(
    specWith({ list }, { subresources: { status: {} } }),
    specWith({ list }),
  )
  assert.match(first ?? '', /estimated rule cost exceeds/)
})

const semver = (more: Fields): Fields =>
  specWith({
    v: {
      type: 'string',
      maxLength: 9,
      ...more,
      'x-kubernetes-validations': [{ rule: 'isSemver(self)' }],
    },
  })

test('a stored validation rule can use CEL functions that are not yet available to new rules', async () => {
  assert.match((await faultsOf(semver({})))[0] ?? '', /^Invalid value: apiextensions/)
  assert.deepEqual(await faultsOf(semver({ minLength: 1 }), semver({})), [])
})

test('looking up the schemas of many versions takes time linear in the size of the schemas', async () => {
  const versions = Array.from({ length: 1_000 }, (_, at): Fields => {
    const names = [...Array.from({ length: 100 }, (__, index) => `p${index}`), `q${at}`]
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
    return { name: `v${at}`, schema: { openAPIV3Schema: { type: 'object', properties } } }
  })
  const accepted = new AcceptedSchemas({ versions }, defaultGates)
  const since = process.threadCpuUsage()
  for (const { schema } of versions.toReversed()) {
    const found = fieldsOf(fieldsOf(schema)['openAPIV3Schema'])
    assert.ok(await inTurns((slice) => accepted.has(found, false, slice)))
    assert.ok(!(await inTurns((slice) => accepted.has(found, true, slice))))
  }
  const { user, system } = process.threadCpuUsage(since)
  assert.ok(user + system < 3_000_000, `${(user + system) / 1000} ms of CPU`)
})

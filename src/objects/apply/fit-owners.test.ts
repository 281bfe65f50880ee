import assert from 'node:assert/strict'
import test from 'node:test'
import { parseFieldsV1, printFieldsV1 } from './fields-v1.ts'
import { fitOwners } from './fit-owners.ts'
import { identityOf, type Owner } from './managers.ts'
import { type MergeType, structField, type StructMerge } from './merge-type.ts'

const scalar: MergeType = { form: 'scalar', scalar: 'untyped' }
const struct = (fields: { readonly [name: string]: MergeType }, isAtomic = false): StructMerge => ({
  form: 'struct',
  isAtomic,
  fields: new Map(Object.entries(fields).map(([name, below]) => [name, structField(name, below)])),
})
const type = struct({
  whole: { form: 'list', by: 'whole', keys: [], of: scalar },
  atom: struct({ a: scalar }, true),
  map: { form: 'map', isAtomic: true, of: scalar },
  keyed: {
    form: 'list',
    by: 'keys',
    keys: [{ name: 'name', default: undefined, isOptional: false }],
    of: struct({ deep: struct({}, true) }),
  },
})

const cases: readonly (readonly [string, string, string])[] = [
  [
    'a list that became atomic',
    '{"f:whole":{"k:{\\"name\\":\\"a\\"}":{".":{},"f:name":{}}}}',
    '{"f:whole":{}}',
  ],
  ['a struct that became atomic', '{"f:atom":{".":{},"f:a":{}}}', '{"f:atom":{}}'],
  ['a map that became atomic', '{"f:map":{"f:a":{},"f:b":{}}}', '{"f:map":{}}'],
  [
    'a struct inside of an item that became atomic',
    '{"f:keyed":{"k:{\\"name\\":\\"a\\"}":{"f:deep":{"f:x":{}}}}}',
    '{"f:keyed":{"k:{\\"name\\":\\"a\\"}":{"f:deep":{}}}}',
  ],
  ['fields that fit', '{"f:atom":{},"f:whole":{}}', '{"f:atom":{},"f:whole":{}}'],
  ['fields that the type does not declare', '{"f:other":{"f:a":{}}}', '{"f:other":{"f:a":{}}}'],
]

for (const [what, before, after] of cases) {
  test(`field owners are adapted to a changed type: ${what}`, () => {
    const fields = parseFieldsV1(before)
    assert(fields !== undefined)
    const writer = { manager: 'm', operation: 'Apply', apiVersion: 'v1', subresource: '' } as const
    const owner: Owner = { ...writer, time: undefined, fields, entry: undefined }
    const owners = new Map([[identityOf(owner), owner]])
    const fitted = fitOwners(owners, (version) => (version === 'v1' ? type : undefined))
    const [only] = fitted.values()
    assert.equal(only && printFieldsV1(only.fields), after)
    assert.equal(fitted === owners, before === after)
    assert.equal(
      fitOwners(owners, () => undefined),
      owners,
    )
  })
}

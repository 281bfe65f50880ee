import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../api/errors.ts'
import { type Fields, fieldsOf, type Json } from '../../api/object.ts'
import { printSorted } from '../codec/json.ts'
import { inParts, unsteadyWork } from '../../lib/scheduling/parts.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import { applyOver } from './apply.ts'
import { Differences } from './differences.ts'
import { type FieldSet, noFields, union } from './field-set.ts'
import { printFieldsV1 } from './fields-v1.ts'
import { identityOf, type Owner, type Owners, printOwners, type Writer } from './managers.ts'
import { type MergeType, structField, type StructMerge } from './merge-type.ts'
import { appliedSet } from './owned.ts'
import { recordUpdate } from './record.ts'

const scalar: MergeType = { form: 'scalar', scalar: 'untyped' }
const struct = (fields: { readonly [name: string]: MergeType }, isAtomic = false): StructMerge => ({
  form: 'struct',
  isAtomic,
  fields: new Map(Object.entries(fields).map(([name, below]) => [name, structField(name, below)])),
})
const keys = [
  { name: 'name', default: '', isOptional: false },
  { name: 'protocol', default: 'TCP', isOptional: false },
]
const item = struct({ name: scalar, protocol: scalar, size: scalar })
const type = struct({
  one: scalar,
  two: scalar,
  labels: { form: 'map', isAtomic: false, of: scalar },
  whole: { form: 'map', isAtomic: true, of: scalar },
  args: { form: 'list', by: 'whole', keys: [], of: scalar },
  tags: { form: 'list', by: 'value', keys: [], of: scalar },
  items: { form: 'list', by: 'keys', keys, of: item },
  inner: struct({ deep: scalar, other: scalar }),
})

type State = { readonly live: Fields; readonly owners: Owners }
const start: State = { live: {}, owners: new Map() }
const version = 'v1'

const writerOf = (manager: string, operation: Writer['operation']): Writer => ({
  manager,
  operation,
  apiVersion: version,
  subresource: '',
})

async function apply(
  state: State,
  manager: string,
  applied: Fields,
  force = true,
): Promise<State & { isChanged: boolean }> {
  const { live } = state
  const { result, owners } = await applyOver({
    ...state,
    writer: writerOf(manager, 'Apply'),
    type,
    applied,
    force,
    ignored: noFields,
    now: '2001-01-01T00:00:00Z',
    typeIn: (given) => (given === version ? type : undefined),
    versions: async (after) => () => ({ type, before: live, after }),
  })
  return { live: result ?? live, owners, isChanged: result !== undefined }
}

function update(state: State, manager: string, after: Fields, now = '2001-01-01T00:00:00Z'): State {
  const differences = new Differences(() => ({ type, before: state.live, after }), noFields)
  return {
    live: after,
    owners: recordUpdate(state.owners, { writer: writerOf(manager, 'Update'), now, differences }),
  }
}

const names = ['a', 'b', 'c', 'd'] as const
const someNames = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 })

/** Configurations in which each field can have only one value, so that appliers never conflict. */
const agreed = fc
  .record(
    {
      one: fc.constant('1'),
      two: fc.constant('2'),
      labels: someNames.map((some) =>
        Object.fromEntries(some.map((name) => [name, `label ${name}`])),
      ),
      whole: fc.constant({ x: '1' }),
      args: fc.constant(['x', 'y']),
      tags: someNames.map((some): Json => some),
      items: someNames.map((some): Json => some.map((name) => ({ name, size: 3 }))),
      inner: fc.record(
        { deep: fc.constant('3'), other: fc.constant('4') },
        { requiredKeys: ['deep'] },
      ),
    },
    { requiredKeys: [] },
  )
  .map((fields): Fields => ({ ...fields }))

const anyConfig = fc.tuple(agreed, fc.constantFrom('x', 'y')).map(([fields, value]): Fields => {
  return 'one' in fields ? { ...fields, one: value, labels: { a: value } } : fields
})

/** Returns a value whose lists are sorted, so that comparisons ignore the order of items. */
const inAnyOrder = (value: Json): Json =>
  Array.isArray(value)
    ? value
        .map(inAnyOrder)
        .toSorted((one, other) => (printSorted(one) < printSorted(other) ? -1 : 1))
    : value

const said = ({ live }: State): string =>
  printSorted(
    Object.fromEntries(
      Object.entries(live).map(([name, value]) => [name, inAnyOrder(value ?? null)]),
    ),
  )

const owned = ({ owners }: State): string => printSorted([...(printOwners(owners) ?? [])])

const fieldsOwned = ({ owners }: State): string[] =>
  [...owners.values()].map(({ fields }) => printFieldsV1(fields)).toSorted()

const list = (text: string): Fields => ({ tags: text.split('') })

test('applying the same configuration again changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(anyConfig, anyConfig, async (first, second) => {
      const once = await apply(await apply(start, 'other', first), 'me', second)
      const twice = await apply(once, 'me', second)
      assert.ok(!twice.isChanged)
      assert.equal(owned(twice), owned(once))
    }),
  )
})

test('if several managers apply the same values, the order of their applies does not matter', async () => {
  await fc.assert(
    fc.asyncProperty(agreed, agreed, async (first, second) => {
      const one = await apply(await apply(start, 'a', first), 'b', second)
      const other = await apply(await apply(start, 'b', second), 'a', first)
      assert.equal(said(one), said(other))
      assert.deepEqual(fieldsOwned(one), fieldsOwned(other))
    }),
  )
})

test('a field exists exactly as long as at least one manager applies it', async () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), agreed), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(steps, async (applies) => {
      let state: State = start
      const stated = new Map<string, Fields>()
      for (const [manager, config] of applies) {
        state = await apply(state, manager, config, false)
        stated.set(manager, config)
        const wanted = [...stated.values()].reduce<FieldSet>(
          (all, one) => union(all, appliedSet(one, type)),
          noFields,
        )
        assert.equal(printFieldsV1(appliedSet(state.live, type)), printFieldsV1(wanted))
      }
    }),
  )
})

test("changing the value of another manager's field is a conflict, unless the apply is forced", async () => {
  const state = await apply(start, 'owner', { one: '1', items: [{ name: 'a', size: 1 }] })
  const conflict = apply(state, 'me', { one: '2', items: [{ name: 'a', size: 2 }] }, false)
  await assert.rejects(conflict, (error) => {
    assert.ok(error instanceof ApiError)
    assert.equal(
      error.message,
      'Apply failed with 2 conflicts: conflicts with "owner":\n- .one\n- .items[name="a",protocol="TCP"].size',
    )
    return true
  })
  const taken = await apply(state, 'me', { one: '2' })
  assert.deepEqual(taken.live['one'], '2')
  assert.match(owned(taken), /"fieldsV1":"\{\\"f:one\\":\{\}\}","manager":"me"/)
})

test('a manager that updates an object owns the fields that it changed, and the fields that it removed have no owner', async () => {
  const applied = await apply(start, 'applier', { one: '1', two: '2', labels: { a: 'x', b: 'y' } })
  const state = update(applied, 'updater', { one: '9', labels: { a: 'x' } })
  const [first, second] = printOwners(state.owners) ?? []
  assert.equal(first?.['fieldsV1'], '{"f:labels":{"f:a":{}}}')
  assert.equal(second?.['fieldsV1'], '{"f:one":{}}')
})

test('if more than ten managers have updated an object, the oldest ones are merged into ancient-changes', () => {
  let state: State = start
  for (let at = 0; at < 12; at++) {
    const labels = { ...fieldsOf(state.live['labels']), [`l${at}`]: 'x' }
    state = update(state, `m${at}`, { labels }, `2001-01-01T00:00:${String(at).padStart(2, '0')}Z`)
  }
  const entries = printOwners(state.owners) ?? []
  assert.equal(entries.length, 10)
  assert.equal(entries[0]?.['manager'], 'ancient-changes')
  assert.equal(entries[0]?.['fieldsV1'], '{"f:labels":{".":{},"f:l0":{},"f:l1":{},"f:l2":{}}}')
})

test('items that are only in the stored list keep their order, and all other items take the order of the applied list', async () => {
  for (const [live, applied, expected] of [
    ['abcd', 'cnao', 'bcdnao'],
    ['abc', 'ca', 'bca'],
    ['ab', 'na', 'nab'],
    ['ab', 'no', 'abno'],
    ['abc', 'cab', 'cab'],
  ] as const) {
    const state = await apply(update(start, 'u', list(live)), 'me', list(applied))
    assert.deepEqual(state.live['tags'], list(expected)['tags'])
  }
})

test('keys such as __proto__ and constructor are handled like any other keys', async () => {
  const applied: Fields = { labels: JSON.parse('{"__proto__":"x","constructor":"y"}') }
  const state = await apply(start, 'me', applied)
  assert.equal(printSorted(state.live), '{"labels":{"__proto__":"x","constructor":"y"}}')
  assert.equal(
    printOwners(state.owners)?.[0]?.['fieldsV1'],
    '{"f:labels":{"f:__proto__":{},"f:constructor":{}}}',
  )
  const none = await apply(state, 'me', { one: '1' })
  assert.equal(printSorted(none.live), '{"one":"1"}')
})

/** Time slices that are always over, so that the work is interrupted as often as possible. */
class ShortSlices extends Slices {
  override get isOver(): boolean {
    return true
  }
}

const labels = (value: string): Fields =>
  Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`k${at}`, value]))

const ownerOf = (manager: string, apiVersion: string, fields: Fields): Owner => ({
  ...writerOf(manager, 'Update'),
  apiVersion,
  time: '2001-01-01T00:00:00Z',
  fields: appliedSet(fields, type),
  entry: undefined,
})

test('an apply that is divided into parts finds conflicts with the managers of every API version', async () => {
  const live: Fields = { labels: labels('a') }
  const after: Fields = { labels: labels('b') }
  // Only in version v3 does the apply change a field that another manager owns.
  const changed: Readonly<Record<string, Fields>> = { v1: {}, v2: {}, v3: { one: 'changed' } }
  const application = (slices: Slices | undefined) => ({
    live,
    owners: new Map([
      ['a', ownerOf('a', 'v2', { two: 'x' })],
      ['b', ownerOf('b', 'v3', { one: 'x' })],
    ]),
    writer: writerOf('me', 'Apply'),
    type,
    applied: after,
    force: false,
    ignored: noFields,
    now: '2001-01-01T00:00:00Z',
    slices,
    typeIn: () => type,
    versions: async () => (apiVersion: string) => ({
      type,
      before: { ...live, one: 'x', two: 'x' },
      after: { ...after, one: 'x', two: 'x', ...changed[apiVersion] },
    }),
  })
  const conflict = { message: /conflict with "b" using v3: \.one/ }
  await assert.rejects(applyOver(application(undefined)), conflict)
  await assert.rejects(
    applyOver(application(new ShortSlices(undefined, { isExpensive: true }))),
    conflict,
  )
})

test('an update that is divided into parts records the same field owners as an undivided update', async () => {
  const live: Fields = { labels: labels('a') }
  const after: Fields = { labels: labels('b'), two: 'x' }
  const owners = new Map(
    ['a', 'b'].map((manager) => {
      const owner = ownerOf(manager, version, { labels: labels('a') })
      return [identityOf(owner), owner]
    }),
  )
  const record = (): string => {
    const differences = new Differences(() => ({ type, before: live, after }), noFields)
    const writer = writerOf('me', 'Update')
    const left = recordUpdate(owners, { writer, now: '2001-01-01T00:00:00Z', differences })
    return printSorted([...(printOwners(left) ?? [])])
  }
  const { report } = unsteadyWork
  unsteadyWork.report = assert.fail
  try {
    const slices = new ShortSlices(undefined, { isExpensive: true })
    assert.equal(await inParts(record, slices), record())
  } finally {
    unsteadyWork.report = report
  }
})

/**
 * Tests that an apply to a large object, or to one with many managers, does not block the event
 * loop for long.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fields, fieldsOf } from '../../api/object.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import { bestLongestTurnMs } from '../../../test/support/harness/turns.ts'
import { applyOver } from './apply.ts'
import { noFields } from './field-set.ts'
import { identityOf, type Owner, type Writer } from './managers.ts'
import { type MergeType, structField, type StructMerge } from './merge-type.ts'
import { appliedSet } from './owned.ts'

const TURN_MS_MAX = 50

const scalar: MergeType = { form: 'scalar', scalar: 'untyped' }
const fields: { readonly [name: string]: MergeType } = {
  one: scalar,
  two: scalar,
  labels: { form: 'map', isAtomic: false, of: scalar },
}
const type: StructMerge = {
  form: 'struct',
  isAtomic: false,
  fields: new Map(Object.entries(fields).map(([name, below]) => [name, structField(name, below)])),
}

const me: Writer = { manager: 'me', operation: 'Apply', apiVersion: 'v1', subresource: '' }

const ownerOf = (writer: Writer, owned: Fields): Owner => ({
  ...writer,
  time: '2001-01-01T00:00:00Z',
  fields: appliedSet(owned, type),
  entry: undefined,
})

const labelsOf = (count: number): Fields =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`l${at}`, 'x']))

/** Applies a configuration that omits the field `two`. The applier owned this field before. */
async function applyLess(
  labels: Fields,
  own: Owner,
  others: readonly Owner[],
): Promise<Fields | undefined> {
  const live = { one: 'a', two: 'b', labels }
  const { result, owners } = await applyOver({
    writer: me,
    type,
    live,
    applied: { one: 'a', labels: { l0: 'x' } },
    owners: new Map([own, ...others].map((owner) => [identityOf(owner), owner])),
    force: false,
    ignored: noFields,
    now: '2001-01-01T00:00:00Z',
    slices: new Slices(undefined, { isExpensive: true }),
    typeIn: () => type,
    convert: (given) => given,
    versions: async (after) => () => ({ type, before: live, after }),
  })
  assert.equal(owners.size, others.length + 1)
  return result
}

for (const versions of [1, 2]) {
  test(`an apply to an object with thousands of field managers in ${versions} API versions runs in short ticks`, async () => {
    const labels = labelsOf(10_000)
    const others = Object.keys(labels).map((label, at) => {
      const apiVersion = `v${(at % versions) + 1}`
      return ownerOf({ ...me, manager: `m${at}`, apiVersion }, { labels: { [label]: 'x' } })
    })
    const own = ownerOf(me, { one: 'a', two: 'b' })
    const ms = await bestLongestTurnMs(async () => {
      assert.deepEqual({ ...(await applyLess(labels, own, others)) }, { one: 'a', labels })
    })
    assert.ok(ms < TURN_MS_MAX, `${ms} ms`)
  })
}

test('an update that removes fields from a large object runs in short ticks', async () => {
  const labels = labelsOf(100_000)
  const own = ownerOf(me, { one: 'a', two: 'b', labels })
  const ms = await bestLongestTurnMs(async () => {
    const result = await applyLess(labels, own, [])
    assert.deepEqual({ ...fieldsOf(result?.['labels']) }, { l0: 'x' })
  })
  assert.ok(ms < TURN_MS_MAX, `${ms} ms`)
})

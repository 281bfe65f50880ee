import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Names } from '../registry/custom/crd.ts'
import { acceptNames, NamesInUse } from './crd-names.ts'

const group = 'example.com'
const none: Names = {
  plural: '',
  singular: '',
  kind: '',
  listKind: '',
  shortNames: [],
  categories: [],
}
const widgets: Names = {
  plural: 'widgets',
  singular: 'widget',
  kind: 'Widget',
  listKind: 'WidgetList',
  shortNames: ['w'],
  categories: [],
}
const gadgets: Names = {
  ...widgets,
  plural: 'gadgets',
  singular: 'gadget',
  kind: 'Gadget',
  listKind: 'GadgetList',
}

function inUse(): NamesInUse {
  const names = new NamesInUse()
  names.set('widgets.example.com', { group, accepted: widgets, wanted: widgets, revision: 1 })
  return names
}

const asked = (wanted: Names, accepted = none) => ({
  owner: 'gadgets.example.com',
  group,
  wanted,
  accepted,
  revision: 9,
})

test('names that are not taken are accepted', () => {
  const wanted = { ...gadgets, shortNames: ['g'] }
  assert.deepEqual(acceptNames(asked(wanted), inUse()), { names: wanted, conflict: undefined })
})

test('a definition keeps its previous names if the requested names are taken', () => {
  const { names, conflict } = acceptNames(asked(gadgets), inUse())
  assert.deepEqual(names.shortNames, [])
  assert.deepEqual(conflict, { reason: 'ShortNamesConflict', message: '"w" is already in use' })
  const clash = acceptNames(asked({ ...gadgets, shortNames: [], kind: 'WidgetList' }), inUse())
  assert.deepEqual([clash.names.kind, clash.conflict?.reason], ['', 'KindConflict'])
})

test('names that are used in other groups, or that were released, can be accepted', () => {
  assert.equal(acceptNames({ ...asked(widgets), group: 'other.com' }, inUse()).conflict, undefined)
  const names = inUse()
  names.delete('widgets.example.com')
  assert.equal(acceptNames(asked(widgets), names).conflict, undefined)
})

test('if two definitions request a name at the same time, every replica accepts the earlier one', () => {
  const names = new NamesInUse()
  const first = { group, wanted: widgets, accepted: none, revision: 5 }
  const second = { group, wanted: { ...gadgets, kind: 'Widget' }, accepted: none, revision: 6 }
  names.set('widgets.example.com', first)
  names.set('gadgets.example.com', second)
  assert.equal(acceptNames({ owner: 'widgets.example.com', ...first }, names).conflict, undefined)
  const late = acceptNames({ owner: 'gadgets.example.com', ...second }, names)
  assert.deepEqual(
    [late.names.plural, late.names.kind, late.conflict?.reason],
    ['gadgets', '', 'KindConflict'],
  )
})

test('if one short name of a definition is taken, its other short names do not block other definitions', () => {
  const names = inUse()
  names.set('gears.example.com', {
    group,
    wanted: { ...none, shortNames: ['w', 'x'] },
    accepted: none,
    revision: 5,
  })
  const wanted = { ...gadgets, shortNames: ['x'] }
  assert.equal(acceptNames(asked(wanted), names).conflict, undefined)
})

test('after the names of a definition change, the index reports whether any name may have become free', () => {
  const names = inUse()
  const owner = 'widgets.example.com'
  const settled = { group, accepted: widgets, wanted: widgets }
  assert.equal(names.set(owner, { ...settled, revision: 2 }), false)
  const fewer = { ...widgets, shortNames: [] }
  assert.equal(names.set(owner, { ...settled, wanted: fewer, revision: 3 }), false)
  assert.equal(names.set(owner, { group, wanted: fewer, accepted: fewer, revision: 4 }), true)
  assert.equal(names.set(owner, { ...settled, accepted: fewer, revision: 5 }), true)
  assert.equal(
    names.set('new.example.com', { group, accepted: none, wanted: gadgets, revision: 6 }),
    false,
  )
})

test('checking many short names takes linear time', () => {
  const shortNames = Array.from({ length: 50_000 }, (_, at) => `s${at}`)
  const wanted = { ...gadgets, shortNames }
  const startCpu = process.threadCpuUsage()
  assert.deepEqual(acceptNames(asked(wanted, wanted), inUse()).names, wanted)
  const { user: userMicros } = process.threadCpuUsage(startCpu)
  assert.ok(userMicros < 1_000_000, `${userMicros} µs`)
})

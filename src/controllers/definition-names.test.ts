import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Names } from '../registry/custom/definition.ts'
import { acceptNames, NamesInUse } from './definition-names.ts'

const group = 'example.com'
const none: Names = { plural: '', singular: '', kind: '', listKind: '', shortNames: [], categories: [] }
const widgets: Names = {
  plural: 'widgets',
  singular: 'widget',
  kind: 'Widget',
  listKind: 'WidgetList',
  shortNames: ['w'],
  categories: [],
}
const gadgets: Names = { ...widgets, plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' }

function inUse(): NamesInUse {
  const names = new NamesInUse()
  names.add('widgets.example.com', group, widgets)
  return names
}

const asked = (wanted: Names, accepted = none) => ({ owner: 'gadgets.example.com', group, wanted, accepted })

test('names that nobody has are accepted', () => {
  const wanted = { ...gadgets, shortNames: ['g'] }
  assert.deepEqual(acceptNames(asked(wanted), inUse()), { names: wanted, conflict: undefined })
})

test('of what others have, a definition keeps what it had', () => {
  const { names, conflict } = acceptNames(asked(gadgets), inUse())
  assert.deepEqual(names.shortNames, [])
  assert.deepEqual(conflict, { reason: 'ShortNamesConflict', message: '"w" is already in use' })
  const clash = acceptNames(asked({ ...gadgets, shortNames: [], kind: 'WidgetList' }), inUse())
  assert.deepEqual([clash.names.kind, clash.conflict?.reason], ['', 'KindConflict'])
})

test('other groups, and what was given back, do not matter', () => {
  assert.equal(acceptNames({ ...asked(widgets), group: 'other.com' }, inUse()).conflict, undefined)
  const names = inUse()
  names.remove('widgets.example.com', group, widgets)
  assert.equal(acceptNames(asked(widgets), names).conflict, undefined)
})

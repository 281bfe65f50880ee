import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gateRows } from '../api/gate-rows.ts'
import { gatesActedOn, parseFeatureGates } from './feature-gates.ts'

const page = join(import.meta.dirname, '..', '..', 'docs', 'gates.md')

test('docs/gates.md has each gate that can be changed upstream and not here, and no other', () => {
  const told = [...readFileSync(page, 'utf8').matchAll(/(?<=\| .*)`([A-Z]\w+)`/g)].map(([, name = '']) => name)
  const unchanged = gateRows
    .filter(({ isLocked }) => !isLocked)
    .flatMap(({ names }) => names)
    .filter((name) => !gatesActedOn.includes(name))
  assert.deepEqual(told.toSorted(), unchanged.toSorted())
})

test('a gate of a part that is not here is off, whatever is asked for', () => {
  const { gates, faults } = parseFeatureGates(['ContextualLogging=true', 'WatchList=true'])
  assert.deepEqual(faults, [])
  const shown = gates.all.filter(({ name }) => ['ContextualLogging', 'WatchList'].includes(name))
  assert.deepEqual(Object.fromEntries(shown.map(({ name, isOn }) => [name, isOn])), {
    ContextualLogging: false,
    WatchList: true,
  })
  assert.ok(!gates.isOn('ContextualLogging'))
})

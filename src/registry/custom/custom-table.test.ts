import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSteps, bestLongestTurnMs } from '../../../test/support/harness/turns.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import type { Cell } from '../../api/table.ts'
import { inParts, parts } from '../../lib/scheduling/parts.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { customTable } from './custom-table.ts'

const column = (path: string) => ({
  name: path,
  type: 'string',
  format: '',
  description: '',
  priority: 0,
  path,
})
const object = (spec: Json): KubeObject => ({
  apiVersion: 'ex.io/v1',
  kind: 'Blob',
  metadata: { name: 'b' },
  spec,
})

test('a table cell shows a list or a map as JSON', () => {
  const { cells } = customTable(['.spec', '.spec.b', '.spec.c', '.spec.d'].map(column))
  const spec = { b: [1, { z: '<', a: null }], a: {}, c: null, d: 'x' }
  assert.deepEqual(cells(object(spec)), [
    'b',
    '{"a":{},"b":[1,{"a":null,"z":"\\u003c"}],"c":null,"d":"x"}',
    '[1,{"a":null,"z":"\\u003c"}]',
    '<no value>',
    'x',
  ])
})

const hostile: { readonly [name: string]: Json } = {
  numbers: Array.from({ length: 600_000 }, () => 0),
  objects: Array.from({ length: 150_000 }, () => ({ x: '1' })),
  keys: Object.fromEntries(
    Array.from({ length: 60_000 }, (_, at) => [`k${(at * 7919) % 60_000}`, '']),
  ),
  text: '<'.repeat(1_000_000),
}
for (const [name, a] of Object.entries(hostile)) {
  test(`the cells of an object with many ${name} are short, and printing them does not block the event loop`, async () => {
    const paths = [
      '.spec.a',
      '.spec.a[*]',
      '.spec.a[*].y',
      '.spec.a[?(@.x=="2")].x',
      '..y',
      '.spec',
    ]
    const { cells } = customTable(Array.from({ length: 10 }, () => paths.map(column)).flat())
    const large = object({ a })
    let made: readonly Cell[] = []
    const ms = await bestLongestTurnMs(async () => {
      made = await inParts(() => cells(large), new Slices(systemTime, { isExpensive: true }))
    })
    assert.deepEqual(made, cells(large))
    const characters = JSON.stringify(made).length
    assert.ok(characters < 150_000, `${characters} characters`)
    assert.ok(ms < 100, `${ms} ms`)
  })
}

test('the path of a column is evaluated once, even if its value is printed in several time slices', () => {
  const keys = Object.fromEntries(
    Array.from({ length: 1000 }, (_, at) => [`k${(at * 7919) % 1000}`, at]),
  )
  const { cells } = customTable([column('.spec[?(@.x=="y")]')])
  const large = object([...Array.from({ length: 30_000 }, () => 0), { ...keys, x: 'y' }])
  const slices = { isOver: true, begin: (): void => undefined, stepsPerLook: 1 }
  assert.deepEqual(allSteps(parts(() => cells(large), slices)), cells(large))
})

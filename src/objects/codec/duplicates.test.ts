import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allSteps, cpuMsOf } from '../../../test/support/harness/turns.ts'
import { parts } from '../../lib/scheduling/parts.ts'
import { duplicateFields, duplicateSteps } from './duplicates.ts'

test('each duplicate key is reported once, in the order of the text', () => {
  const text = '{"a":1,"a":2,"b":[{"c":1},{"":1,"c":2,"":3,"c":{"d":1,"d":2},"c":4}]}'
  const found = ['a', 'b[1].', 'b[1].c', 'b[1].c.d'].map((path) => `duplicate field "${path}"`)
  assert.deepEqual(duplicateFields(text), found)
  assert.deepEqual(allSteps(duplicateSteps(text)), found)
  assert.deepEqual(duplicateFields('[{"a":1,"a":2}]', '[7].value'), [
    'duplicate field "[7].value[0].a"',
  ])
})

const shapes: { [shape: string]: string } = {
  'empty objects': `[${Array.from({ length: 1_000_000 }, () => '{}').join(',')}]`,
  'objects with keys': `[${Array.from({ length: 200_000 }, () => '{"b":1,"c":2}').join(',')}]`,
  'deep objects': `[${Array.from({ length: 580 }, () => `${'{"a":'.repeat(900)}1${'}'.repeat(900)}`).join(',')}]`,
}

const listShapes: { readonly [shape: string]: string } = {
  'empty strings': '"",'.repeat(1_000_000),
  'empty lists': '[],'.repeat(1_000_000),
  'strings with escapes': '"\\n",'.repeat(600_000),
}
for (const [shape, items] of Object.entries(listShapes)) shapes[shape] = `{"a":[${items}0],"a":1}`

for (const [shape, text] of Object.entries(shapes)) {
  test(`searching ${shape} for duplicate keys takes only short steps`, () => {
    const steps = duplicateSteps(text)
    let longestMs = 0
    for (let isDone = false; !isDone; ) {
      const ms = cpuMsOf(() => void (isDone = steps.next().done === true))
      longestMs = Math.max(longestMs, ms)
    }
    assert.ok(longestMs < 50, `${longestMs} ms`)
  })
}

test('a search that is divided into parts finds the same duplicates, wherever it is interrupted', () => {
  const long = `${'\\n'.repeat(40_000)}x`
  const list = `[[],[${'1,"x",'.repeat(300)}2],"${long}"]`
  const text = `{"a":[{"b":1,"b":{"c":"${long}"},"${long}":[1,{}],"${long}":2}],"d":{"e":${list},"e":null},"d":"x"}`
  const slices = { isOver: true, begin: (): void => undefined, stepsPerLook: 1 }
  assert.deepEqual(allSteps(parts(() => duplicateFields(text), slices)), duplicateFields(text))
  assert.equal(duplicateFields(text).length, 4)
})

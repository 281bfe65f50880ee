import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInResources } from '../../registry/built-in.ts'
import { isSameGiven, patched, UndecodablePatch } from './patched.ts'

const expected = builtInResources().find(
  ({ group, plural }) => group === '' && plural === 'configmaps',
)

function steps(
  before: string,
  after: string,
): { readonly isSame: boolean | undefined; readonly pauses: number } {
  assert.ok(expected)
  const all = isSameGiven(before, after, expected)
  for (let pauses = 0; ; pauses++) {
    const { done, value } = all.next()
    if (done === true) return { isSame: value, pauses }
  }
}

const text = (data: string): string =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":${data}}`

test('the objects before and after the patch are decoded in separate ticks of the event loop', () => {
  assert.deepEqual(steps(text('{"a":"1"}'), text('{ "a" : "1" }')), { isSame: true, pauses: 2 })
  assert.deepEqual(steps(text('{"a":"1"}'), text('{"a":"2"}')), { isSame: false, pauses: 2 })
})

test('a patch that is not JSON, or is not a list, cannot be decoded', async () => {
  assert.ok(expected)
  for (const patch of ['nope', '{}', '["a"]', '['])
    await assert.rejects(
      patched(patch, () => text('{}'), expected),
      UndecodablePatch,
    )
})

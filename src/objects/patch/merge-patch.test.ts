import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonNode } from './document.ts'
import { allSteps } from '../../../test/support/harness/turns.ts'
import { mergeInto } from './merge-patch.ts'
import { Work } from './work.ts'

function merged(document: object, patch: object): unknown {
  const work = new Work()
  const root = new JsonNode(JSON.stringify(document), work)
  const members = new JsonNode(JSON.stringify(patch), work).members()
  allSteps(mergeInto(root.members() ?? new Map(), members ?? new Map()))
  return JSON.parse(root.print())
}

/**
 * Examples of RFC 7386, appendix A. They are those in which the document and the patch are objects.
 */
const cases: readonly (readonly [object, object, object])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  // Nulls inside lists: a null item is kept, but a null member of an item is removed.
  [{}, { a: [null, { b: null, c: 1 }] }, { a: [null, { c: 1 }] }],
]

for (const [document, patch, expected] of cases) {
  test(`merge patch: ${JSON.stringify(patch)} is merged into ${JSON.stringify(document)}`, () => {
    assert.deepEqual(merged(document, patch), expected)
  })
}

const withoutNull = fc
  .jsonValue({ maxDepth: 4 })
  .map(
    (value) =>
      JSON.parse(JSON.stringify(value), (_key, inside: unknown) => inside ?? undefined) as unknown,
  )

/**
 * A random patch in which only top-level members can be null. Applying it twice has the same result
 * as applying it once. With nulls inside list items, the result can differ, as in kube-apiserver.
 */
const change = fc.dictionary(fc.string(), fc.oneof(fc.constant(null), withoutNull))

test('merge patch: applying a patch a second time changes nothing', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), withoutNull), change, (document, patch) => {
      const once = merged(document, patch)
      assert(typeof once === 'object' && once !== null)
      assert.deepEqual(merged(once, patch), once)
    }),
  )
})

test('merge patch: numbers keep their digits, and objects that are not patched keep their key order', () => {
  const work = new Work()
  const root = new JsonNode('{"z":{"b":1.50,"a":12345678901234567890},"c":1e3}', work)
  allSteps(
    mergeInto(root.members() ?? new Map(), new JsonNode('{"n":2.0}', work).members() ?? new Map()),
  )
  assert.equal(root.print(), '{"c":1e3,"n":2.0,"z":{"b":1.50,"a":12345678901234567890}}')
})

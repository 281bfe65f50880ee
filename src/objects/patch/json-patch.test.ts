import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonNode } from './document.ts'
import { allSteps } from '../../../test/support/harness/turns.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import { applyOperations } from './json-patch.ts'
import { readOperations } from './read-operations.ts'
import { PatchError, Work } from './work.ts'

function patched(document: unknown, operations: unknown): unknown {
  const work = new Work()
  const { operations: read } = allSteps(readOperations(JSON.stringify(operations), work, true))
  return JSON.parse(
    allSteps(applyOperations(new JsonNode(JSON.stringify(document), work), read, work)).print(),
  )
}

const doc = { a: 1, list: ['x', 'y'], map: { b: { c: 'd' } } }

const cases: readonly (readonly [string, unknown[], unknown])[] = [
  [
    'add creates a member',
    [{ op: 'add', path: '/z', value: { n: null } }],
    { ...doc, z: { n: null } },
  ],
  ['add overwrites an existing member', [{ op: 'add', path: '/a', value: 2 }], { ...doc, a: 2 }],
  ['add without a value sets null', [{ op: 'add', path: '/a' }], { ...doc, a: null }],
  [
    'add at an index inserts an item',
    [{ op: 'add', path: '/list/1', value: 'n' }],
    { ...doc, list: ['x', 'n', 'y'] },
  ],
  [
    'add at the dash appends an item',
    [{ op: 'add', path: '/list/-', value: 'n' }],
    { ...doc, list: ['x', 'y', 'n'] },
  ],
  [
    'add at index -1 appends an item',
    [{ op: 'add', path: '/list/-1', value: 'n' }],
    { ...doc, list: ['x', 'y', 'n'] },
  ],
  [
    'add at a negative index inserts an item',
    [{ op: 'add', path: '/list/-2', value: 'n' }],
    { ...doc, list: ['x', 'n', 'y'] },
  ],
  ['remove deletes a member', [{ op: 'remove', path: '/map/b/c' }], { ...doc, map: { b: {} } }],
  [
    'remove at index -1 deletes the last item',
    [{ op: 'remove', path: '/list/-1' }],
    { ...doc, list: ['x'] },
  ],
  [
    'replace sets an item',
    [{ op: 'replace', path: '/list/0', value: [] }],
    { ...doc, list: [[], 'y'] },
  ],
  ['replace creates a missing member', [{ op: 'replace', path: '/z', value: 1 }], { ...doc, z: 1 }],
  [
    'replace with an empty path replaces the document',
    [{ op: 'replace', path: '', value: { n: 1 } }],
    { n: 1 },
  ],
  [
    'replacing the document with a scalar has no effect',
    [{ op: 'replace', path: '', value: 1 }],
    doc,
  ],
  [
    'move moves a member into a list',
    [{ op: 'move', from: '/map/b', path: '/list/0' }],
    { a: 1, list: [{ c: 'd' }, 'x', 'y'], map: {} },
  ],
  [
    'move computes the target index after the removal',
    [{ op: 'move', from: '/list/0', path: '/list/1' }],
    { ...doc, list: ['y', 'x'] },
  ],
  [
    'copy copies a value into itself',
    [{ op: 'copy', from: '/map', path: '/map/b/e' }],
    { ...doc, map: { b: { c: 'd', e: { b: { c: 'd' } } } } },
  ],
  [
    'copying a missing member copies null',
    [{ op: 'copy', from: '/no', path: '/z' }],
    { ...doc, z: null },
  ],
  [
    'test ignores the order of keys',
    [{ op: 'test', path: '', value: { map: doc.map, list: doc.list, a: 1 } }],
    doc,
  ],
  ['test treats a missing member as null', [{ op: 'test', path: '/no', value: null }], doc],
  [
    'escapes in a path are decoded',
    [{ op: 'add', path: '/~01~1', value: 1 }],
    { ...doc, '~1/': 1 },
  ],
  [
    'an index may have a leading zero',
    [{ op: 'replace', path: '/list/01', value: 1 }],
    { ...doc, list: ['x', 1] },
  ],
  [
    'text before the first slash is ignored',
    [{ op: 'remove', path: 'anything/a' }],
    { list: doc.list, map: doc.map },
  ],
]

for (const [name, operations, expected] of cases) {
  test(`json patch: ${name}`, () => assert.deepEqual(patched(doc, operations), expected))
}

const refused: readonly (readonly [string, unknown])[] = [
  ['an unknown operation', { op: 'Add', path: '/a' }],
  ['an operation without op', { path: '/a' }],
  ['an operation that is null', null],
  ['an operation without path', { op: 'add', value: 1 }],
  ['a move without from', { op: 'move', path: '/a' }],
  ['add at the root', { op: 'add', path: '', value: {} }],
  ['a path below a missing member', { op: 'add', path: '/no/x', value: 1 }],
  ['a path through a scalar', { op: 'add', path: '/a/x', value: 1 }],
  ['removal of a missing member', { op: 'remove', path: '/no' }],
  ['an index beyond the end', { op: 'add', path: '/list/3', value: 1 }],
  ['a negative index before the start', { op: 'replace', path: '/list/-3', value: 1 }],
  ['removal at the dash', { op: 'remove', path: '/list/-' }],
  ['a key that is not an index', { op: 'replace', path: '/list/1e0', value: 1 }],
  ['a huge index', { op: 'add', path: `/list/${'9'.repeat(400)}`, value: 1 }],
  ['a test that fails', { op: 'test', path: '/a', value: 2 }],
  ['a test of a number against a string', { op: 'test', path: '/a', value: '1' }],
  ['a test against a shorter list', { op: 'test', path: '/list', value: ['x'] }],
  [
    'a test against a missing key with the value null',
    { op: 'test', path: '/map', value: { c: null } },
  ],
]

for (const [name, operation] of refused) {
  test(`json patch refuses ${name}`, () =>
    assert.throws(() => patched(doc, [operation]), PatchError))
}

const anyJson = fc
  .jsonValue({ maxDepth: 4 })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown)

test('json patch: an added value can be tested, copied, moved and removed again', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), anyJson),
      fc.string(),
      anyJson,
      (members, key, value) => {
        const pointer = `/new/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
        const before = { ...members, new: {} }
        const operations = [
          { op: 'add', path: pointer, value },
          { op: 'test', path: pointer, value },
          { op: 'copy', from: pointer, path: '/new/other~1' },
          { op: 'move', from: '/new/other~1', path: pointer },
          { op: 'test', path: pointer, value },
          { op: 'remove', path: pointer },
        ]
        assert.deepEqual(patched(before, operations), before)
      },
    ),
  )
})

test('json patch: dividing the work into time slices does not change the order of printed keys', () => {
  const document = '{"list":[{"z":{"y":1,"x":2}},{"z":{"y":1,"x":2}}],"map":{"z":{"y":1,"x":2}}}'
  const printed = (operations: unknown, work: Work): string => {
    const { operations: read } = allSteps(readOperations(JSON.stringify(operations), work, true))
    return allSteps(applyOperations(new JsonNode(document, work), read, work)).print()
  }
  const operations = [
    { op: 'add', path: '/a', from: '/map/z/y', value: 1 },
    { op: 'move', path: '/list/0/z/a', from: '/list/0' },
    { op: 'copy', path: '/b', from: '/list/0/z/y' },
  ]
  for (const operation of operations) {
    assert.equal(printed([operation], new Work(new Slices())), printed([operation], new Work()))
  }
})

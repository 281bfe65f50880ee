import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/errors.ts'
import { JsonMap } from '../../api/json-map.ts'
import { JsonScanner } from '../../api/json-scanner.ts'
import type { Json } from '../../api/object.ts'
import { readAny } from '../../api/json-value.ts'
import { printSorted } from '../codec/json.ts'
import { commonType } from '../../registry/types.ts'
import { allSteps } from '../../../test/support/harness/turns.ts'
import { mergeMaps } from './strategic.ts'
import { Work } from './work.ts'

const tree = (value: unknown): JsonMap => {
  const read = readAny(new JsonScanner(JSON.stringify(value)))
  assert(read instanceof JsonMap)
  return read
}

const podSpec = commonType('core/v1', 'PodSpec')
const merge = (live: unknown, patch: unknown): Json =>
  allSteps(mergeMaps(tree(live), tree(patch), { schema: podSpec, work: new Work() }))

const named = (...names: string[]): { name: string }[] => names.map((name) => ({ name }))

const cases: readonly (readonly [string, unknown, unknown, unknown])[] = [
  ['an empty patch changes nothing', { hostname: 'h' }, {}, { hostname: 'h' }],
  [
    'a field is replaced or added',
    { hostname: 'h' },
    { hostname: 'i', nodeName: 'n' },
    { hostname: 'i', nodeName: 'n' },
  ],
  ['null removes a field', { hostname: 'h' }, { hostname: null, nodeName: null }, {}],
  [
    'null in a new map is dropped',
    {},
    { nodeSelector: { a: '1', b: null } },
    { nodeSelector: { a: '1' } },
  ],
  [
    'maps are merged',
    { nodeSelector: { a: '1' } },
    { nodeSelector: { b: '2' } },
    { nodeSelector: { a: '1', b: '2' } },
  ],
  [
    'a map is replaced by directive',
    { nodeSelector: { a: '1' } },
    { nodeSelector: { $patch: 'replace' } },
    { nodeSelector: {} },
  ],
  [
    'a map is emptied by directive',
    { nodeSelector: { a: '1' } },
    { nodeSelector: { $patch: 'delete', b: '2' } },
    { nodeSelector: {} },
  ],
  [
    'a directive for an absent map has no effect',
    {},
    { nodeSelector: { $patch: 'replace', a: '1' } },
    {},
  ],
  [
    'items are merged by key, with new items first',
    { volumes: [{ name: 'a', x: 1 }, { name: 'b' }] },
    { volumes: [{ name: 'n' }, { name: 'a', y: 2 }] },
    { volumes: [{ name: 'n' }, { name: 'a', x: 1, y: 2 }, { name: 'b' }] },
  ],
  [
    'an atomic list is replaced',
    { tolerations: [{ key: 'a' }] },
    { tolerations: [{ key: 'b' }] },
    { tolerations: [{ key: 'b' }] },
  ],
  [
    'an item is deleted by directive',
    { volumes: named('a', 'b', 'c') },
    { volumes: [{ $patch: 'delete', name: 'b' }] },
    { volumes: named('a', 'c') },
  ],
  [
    'a list is replaced by directive',
    { volumes: named('a', 'b') },
    { volumes: [...named('n'), { $patch: 'replace' }] },
    { volumes: named('n') },
  ],
  [
    'directives in a new list are dropped',
    {},
    { volumes: [{ $patch: 'delete', name: 'a' }, ...named('b')] },
    { volumes: named('b') },
  ],
  [
    'items take the given order',
    { volumes: named('a', 'b', 'c') },
    { '$setElementOrder/volumes': named('c', 'a', 'b') },
    { volumes: named('c', 'a', 'b') },
  ],
  [
    'items missing from the given order keep their place',
    { volumes: named('a', 'b', 'c', 'd') },
    { '$setElementOrder/volumes': named('d', 'b') },
    { volumes: named('a', 'c', 'd', 'b') },
  ],
  [
    'an order is applied together with new and deleted items',
    { volumes: named('a', 'b') },
    {
      '$setElementOrder/volumes': named('n', 'b'),
      volumes: [{ $patch: 'delete', name: 'a' }, ...named('n')],
    },
    { volumes: named('n', 'b') },
  ],
  ['an order for an absent list has no effect', {}, { '$setElementOrder/volumes': named('a') }, {}],
  [
    'only the retained keys are kept',
    { volumes: [{ name: 'a', emptyDir: {}, x: 1 }] },
    { volumes: [{ name: 'a', $retainKeys: ['name', 'hostPath'], hostPath: {} }] },
    { volumes: [{ name: 'a', hostPath: {} }] },
  ],
  [
    'values are deleted from a list without a patch strategy',
    { readinessGates: ['a', 'b'] },
    { '$deleteFromPrimitiveList/readinessGates': ['a'] },
    { readinessGates: ['b'] },
  ],
  ['a list replaces a map', { nodeSelector: {} }, { nodeSelector: ['a'] }, { nodeSelector: ['a'] }],
]

for (const [name, live, patch, expected] of cases) {
  test(`strategic merge: ${name}`, () =>
    assert.equal(printSorted(merge(live, patch)), printSorted(tree(expected))))
}

const refused: readonly (readonly [string, unknown, number, string])[] = [
  [
    'an unknown directive',
    { nodeSelector: { $patch: 'x' } },
    500,
    'unknown patch type: x in map: map[$patch:x]',
  ],
  [
    'a directive that is not a string',
    { $patch: 1 },
    500,
    'unknown patch type: %!s(int64=1) in map: map[$patch:1]',
  ],
  [
    'a merge directive in a list',
    { volumes: [{ $patch: 'merge' }] },
    500,
    'merging lists cannot yet be specified in the patch',
  ],
  [
    'an item without its merge key',
    { volumes: [{}] },
    500,
    'map: map[] does not contain declared merge key: name',
  ],
  [
    'items of different types',
    { volumes: ['x'] },
    500,
    'list element types are not identical: [[map[name:a]] [x]]',
  ],
  [
    'a null item',
    { volumes: [null] },
    500,
    'list element types are not identical: [[map[name:a]] [<nil>]]',
  ],
  [
    'an order that is not a list',
    { '$setElementOrder/volumes': 1 },
    500,
    'expected a []interface {}, but received a int64',
  ],
  [
    'an order without a field name',
    { $setElementOrder: [] },
    400,
    'invalid patch format of setElementOrder list',
  ],
  [
    'a deletion without a field name',
    { $deleteFromPrimitiveList: [] },
    400,
    'invalid patch format of primitive list',
  ],
  [
    'retained keys that omit a field of the patch',
    { $retainKeys: ['a'], b: 1 },
    400,
    'invalid patch format of retainKeys',
  ],
  [
    'an order that omits an item of the patch',
    { '$setElementOrder/volumes': [], volumes: [{ name: 'a' }] },
    500,
    "The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[]\n",
  ],
  [
    'an order for an unknown field',
    { '$setElementOrder/no': [] },
    500,
    'unable to find api field in struct PodSpec for the json field "no"',
  ],
]

for (const [name, patch, code, message] of refused) {
  test(`strategic merge refuses ${name}`, () => {
    assert.throws(
      () => merge({ nodeSelector: { a: '1' }, volumes: named('a') }, patch),
      (error) => {
        assert(error instanceof ApiError)
        assert.deepEqual([error.code, error.message], [code, message])
        return true
      },
    )
  })
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseManifests, withoutDuplicates } from './parse-manifests.ts'

const parse = (text: string) => parseManifests(text, (line) => `a.yaml:${line}`)
const named = (name: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`

test('each document has the number of the line on which its content begins', () => {
  const text = `# comment\n---\n# about a\n${named('a')}---\n\n${named('b')}...\n---\n---\n${named('c')}`
  const { manifests, faults } = parse(text)
  assert.deepEqual(faults, [])
  assert.deepEqual(
    manifests.map(({ object, source }) => [object.metadata.name, source]),
    [
      ['a', 'a.yaml:4'],
      ['b', 'a.yaml:10'],
      ['c', 'a.yaml:17'],
    ],
  )
})

const accepted: readonly (readonly [what: string, text: string, names: readonly string[]])[] = [
  ['JSON', JSON.stringify({ apiVersion: 'v1', kind: 'A', metadata: { name: 'a' } }), ['a']],
  [
    'JSON that is indented with tabs',
    '{\n\t"apiVersion": "v1",\n\t"kind": "A",\n\t"metadata": {"name": "a"}\n}\n',
    ['a'],
  ],
  ['a directive', `%YAML 1.1\n---\n${named('a')}`, ['a']],
  ['Windows line ends', named('a').replaceAll('\n', '\r\n'), ['a']],
  ['a byte order mark', `\ufeff${named('a')}`, ['a']],
  [
    'a List',
    'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a}}\n- {apiVersion: v1, kind: A, metadata: {name: b}}\n',
    ['a', 'b'],
  ],
  ['a file of another program', 'replicas: 3\nimage: web\n', []],
  ['comments only', '# nothing\n---\n', []],
  ['a list of another program', '[1, 2]\n', []],
]

for (const [what, text, names] of accepted) {
  test(`parseManifests accepts ${what}`, () => {
    const { manifests, faults } = parse(text)
    assert.deepEqual(faults, [])
    assert.deepEqual(
      manifests.map(({ object }) => object.metadata.name),
      names,
    )
  })
}

const rejected: readonly (readonly [what: string, text: string, fault: RegExp])[] = [
  ['invalid YAML', `${named('a')}---\na: 1\nb: [\nc: 2\n`, /^a\.yaml:8: did not find expected/],
  ['a tab', `${named('a')}data:\n\ta: b\n`, /^a\.yaml:6: found character that cannot start/],
  ['invalid JSON', '{\n"apiVersion": "v1",\n"kind"\n}', /^a\.yaml:\d+: /],
  ['a repeated key', `---\n${named('a')}kind: Secret\n`, /^a\.yaml:6: key "kind" already set/],
  ['a missing kind', 'apiVersion: v1\nmetadata: {name: a}\n', /^a\.yaml:1: kind is missing/],
  ['a missing apiVersion', '\nkind: A\nmetadata: {name: a}\n', /^a\.yaml:2: apiVersion is missing/],
  ['a missing name', 'apiVersion: v1\nkind: A\nmetadata: {generateName: a}\n', /metadata\.name/],
  [
    'an item without a kind',
    'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a}}\n- {}\n',
    /^a\.yaml:1: items\[1\]: apiVersion and kind are missing/,
  ],
]

for (const [what, text, fault] of rejected) {
  test(`the error for ${what} contains the line number`, () => {
    const { faults } = parse(text)
    assert.equal(faults.length, 1, faults.join('\n'))
    assert.match(faults[0] ?? '', fault)
  })
}

test('a document that cannot be parsed does not prevent the other documents from being read', () => {
  const { manifests, faults } = parse(`${named('a')}---\n]\n---\n${named('b')}`)
  assert.equal(faults.length, 1)
  assert.equal(manifests.length, 2)
})

test('a second manifest of an object is reported as an error', () => {
  const text = `${named('a')}---\n${named('a')}  namespace: default\n---\n${named('a')}  namespace: b\n`
  const { manifests, faults } = withoutDuplicates(parse(text).manifests)
  assert.equal(manifests.length, 2)
  assert.deepEqual(faults, ['a.yaml:6: configmap/a is also in a.yaml:1: remove one of them'])
})

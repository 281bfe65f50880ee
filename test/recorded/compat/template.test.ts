import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fill, fillHeaders, fillTarget } from './template.ts'

const variables = {
  $ns: 'ns1',
  made: { metadata: { name: 'n', generation: 3 } },
  'made@headers': { etag: '"e"' },
}

const cases: { name: string; value: unknown; want: unknown }[] = [
  {
    name: 'the namespace is replaced in texts and keys',
    value: { '$ns.io': ['a $ns'] },
    want: { 'ns1.io': ['a ns1'] },
  },
  {
    name: 'a text that is only a reference becomes a value with its type',
    value: '${made.metadata.generation}',
    want: 3,
  },
  {
    name: 'a reference inside a text becomes text',
    value: 'g=${made.metadata.generation}',
    want: 'g=3',
  },
  { name: 'a reference can name a header', value: '${made@headers.etag}', want: '"e"' },
  {
    name: 'a reference to a missing value becomes undefined',
    value: '${made.spec.x}',
    want: undefined,
  },
  { name: 'bytes are not changed', value: Buffer.from('$ns'), want: Buffer.from('$ns') },
]

for (const { name, value, want } of cases)
  void test(name, () => assert.deepEqual(fill(value, variables), want))

void test('query values in a request template are escaped, and null results in a key without a value', () => {
  const step = {
    path: '/x/$ns',
    query: { a: 'b c&', watch: null, g: '${made.metadata.generation}' },
  }
  assert.equal(fillTarget(step, variables), '/x/ns1?a=b%20c%26&watch&g=3')
  assert.equal(fillTarget({ path: '/x?y', query: { a: 1 } }, variables), '/x?y&a=1')
})

void test('the error for a header that refers to an unknown step names the header', () => {
  assert.throws(() => fillHeaders({ 'if-match': '${nobody.etag}' }, variables), /if-match/)
})

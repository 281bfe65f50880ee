import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes } from '../../../test/support/harness/held-bytes.ts'
import { parseQuery, readTarget } from './target.ts'

const long = 'x'.repeat(5_000)
const pairs = [
  'a=1&b&=c&&d=&e=f=g',
  'a=%41%6a%6A%c3%a9+b&%41+=+',
  'é=ü&a=é+%c3%a9',
  'a=%ff%c3&b=%e2%82',
  'a=%zz&b=2&c=%4&d=%',
  'a;b=1&c=2;&d=3',
  'a=%26%3d%25%2B',
]

for (const query of pairs) {
  test(`the query ${query} has the same parameters when it is part of a long query`, () => {
    const found = [...parseQuery(`${query}&long=${long}`)]
    assert.deepEqual(found, [...parseQuery(query), ['long', long]])
  })
}

test('a query with more than 10,000 key-value pairs is treated as a query without parameters', () => {
  assert.equal(parseQuery(`${'a=1&'.repeat(9_999)}b=2`).get('b'), '2')
  assert.equal(parseQuery(`${'a=1&'.repeat(10_000)}b=2`).size, 0)
})

const targets: readonly [string, string, string][] = [
  ['/api?a=b', '/api', 'a=b'],
  ['https://example.com/api?a=b', '/api', 'a=b'],
  ['HTTP://user:password@[::1]:80/api', '/api', ''],
  ['https://example.com//api', '//api', ''],
  ['https://example.com', '', ''],
  ['https://example.com?a', '', 'a'],
  ['/https://example.com/api', '/https://example.com/api', ''],
  ['*', '*', ''],
]
for (const [sent, path, query] of targets) {
  test(`readTarget returns the path and the query of ${sent}`, () => {
    const target = readTarget(sent)
    assert.deepEqual([target?.path, target?.query], [path, query])
  })
}

test('a path from an absolute target does not retain the memory of the server name', async () => {
  const kept: (string | undefined)[] = []
  const held = await heldBytes(() => {
    for (let at = 0; at < 50; at++) {
      const sent = Buffer.concat([
        Buffer.from('http://'),
        Buffer.alloc(1 << 20, 'a'),
        Buffer.from(`/api/v1/pods/pod-${at}`),
      ])
      kept.push(readTarget(sent.toString('latin1'))?.path)
    }
    readTarget('http://another/')
  })
  assert.equal(kept.at(-1), '/api/v1/pods/pod-49')
  assert.ok(held < 10 << 20, `${held} bytes are held`)
})

test('strings from a long target do not retain the memory of the whole target', async () => {
  const kept: string[] = []
  const held = await heldBytes(() => {
    for (let at = 0; at < 12; at++) {
      const junk = Buffer.alloc(1 << 20, 'a').toString('latin1')
      const sent = `/api/v1/namespaces/a-namespace-${at}/pods?labelSelector=a-long-label-of-the-pods&junk=${junk}`
      const { path, query } = readTarget(sent) ?? assert.fail()
      kept.push(path, parseQuery(query).get('labelSelector') ?? '')
    }
  })
  assert.equal(kept.length, 24)
  assert.ok(held < 6 << 20, `${held} bytes are held`)
})

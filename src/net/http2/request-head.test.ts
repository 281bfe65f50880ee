import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createField, type HeaderField } from './field.ts'
import { HeadReader } from './request-head.ts'

const fieldsOf = (...lines: readonly string[]): HeaderField[] =>
  lines.map((line) => {
    const at = line.indexOf('=')
    return createField(line.slice(0, at), line.slice(at + 1))
  })

const SMALL = 200
const isKeptApart = (name: string): boolean => name.startsWith('impersonate-')

const pseudo = [':method=GET', ':scheme=https', ':path=/a?b=c', ':authority=x'] as const

test('`read` returns the method, the target and the headers of a request', () => {
  const head = new HeadReader(isKeptApart).read(
    fieldsOf(...pseudo, 'accept=a', 'accept=b', 'cookie=a', 'cookie=b', 'x=1'),
    SMALL,
  )
  assert.deepEqual([head?.method, head?.target, head?.contentLength], ['GET', '/a?b=c', -1])
  assert.deepEqual({ ...head?.headers }, { accept: 'a, b', cookie: 'a; b', x: '1' })
})

test('if a header that must not be repeated occurs twice, the first value is used', () => {
  const head = new HeadReader(isKeptApart).read(
    fieldsOf(...pseudo, 'authorization=a', 'authorization=b'),
    SMALL,
  )
  assert.equal(head?.headers.authorization, 'a')
})

test('header names such as __proto__ and constructor are read like other names', () => {
  const head = new HeadReader(isKeptApart).read(
    fieldsOf(...pseudo, '__proto__=x', 'constructor=y'),
    SMALL,
  )
  assert.deepEqual(Object.entries(head?.headers ?? {}), [
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ])
})

test('headers are frozen, and large headers are not cached', () => {
  const reader = new HeadReader(isKeptApart)
  const lines = fieldsOf(...pseudo, `x=${'y'.repeat(10_000)}`)
  const first = reader.read(lines, 10_200)?.headers
  assert.ok(Object.isFrozen(first))
  assert.notEqual(reader.read(lines, 10_200)?.headers, first)
})

test('requests with the same headers share one object, and other requests do not', () => {
  const reader = new HeadReader(isKeptApart)
  const read = (...lines: readonly string[]) =>
    reader.read(fieldsOf(...pseudo, ...lines), SMALL)?.headers
  const first = read('accept=a', 'x=1')
  assert.equal(read('accept=a', 'x=1'), first)
  for (const lines of [
    ['accept=a'],
    ['accept=a', 'x=2'],
    ['x=1', 'accept=a'],
    ['accept=a', 'x=1', 'y=1'],
    [],
  ]) {
    const other = read(...lines)
    assert.notEqual(other, first)
    assert.deepEqual(
      Object.keys(other ?? {}),
      lines.map((line) => line.split('=')[0]),
    )
  }
})

describe('requests are checked against the rules of RFC 9113', () => {
  const without = (name: string): string[] => pseudo.filter((line) => !line.startsWith(name))
  const cases: readonly [string, readonly string[]][] = [
    ['no method', without(':method')],
    ['no scheme', without(':scheme')],
    ['no path', without(':path')],
    ['an empty path', [...without(':path'), ':path=']],
    ['a path without a leading slash', [...without(':path'), ':path=a']],
    ['a star as the path of a method other than OPTIONS', [...without(':path'), ':path=*']],
    ['a pseudo-header field twice', [...pseudo, ':path=/b']],
    ['an unknown pseudo-header field', [...pseudo, ':protocol=x']],
    ['a pseudo-header field of responses', [...pseudo, ':status=200']],
    ['a pseudo-header field after the headers', [...without(':path'), 'x=1', ':path=/']],
    ['a connection-specific header', [...pseudo, 'connection=close']],
    ['a transfer-encoding', [...pseudo, 'transfer-encoding=chunked']],
    ['a te header other than trailers', [...pseudo, 'te=gzip']],
    ['a name in upper case', [...pseudo, 'X=1']],
    ['a header value of two lines', [...pseudo, 'x=1\r\ny: 2']],
    ['a content-length that is not a number', [...pseudo, 'content-length=-1']],
    ['two different content-lengths', [...pseudo, 'content-length=1', 'content-length=2']],
    ['the same content-length twice', [...pseudo, 'content-length=1', 'content-length=1']],
    ['the method CONNECT and a path', [':method=CONNECT', ...without(':method')]],
  ]
  for (const [what, lines] of cases) {
    test(`a request with ${what} is malformed`, () =>
      assert.equal(new HeadReader(isKeptApart).read(fieldsOf(...lines), SMALL), undefined))
  }

  test('unusual requests that RFC 9113 allows are not malformed', () => {
    for (const lines of [
      without(':authority'),
      [...pseudo, 'te=trailers'],
      [':method=OPTIONS', ':scheme=https', ':path=*'],
      [':method=CONNECT', ':authority=x'],
    ]) {
      assert.notEqual(
        new HeadReader(isKeptApart).read(fieldsOf(...lines), SMALL),
        undefined,
        lines.join(),
      )
    }
  })
})

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

test('a request is its method, its target and its headers', () => {
  const head = new HeadReader(isKeptApart).read(
    fieldsOf(...pseudo, 'accept=a', 'accept=b', 'cookie=a', 'cookie=b', 'x=1'),
    SMALL,
  )
  assert.deepEqual([head?.method, head?.target, head?.contentLength], ['GET', '/a?b=c', -1])
  assert.deepEqual({ ...head?.headers }, { accept: 'a, b', cookie: 'a; b', x: '1' })
})

test('of headers that can be there once the first counts', () => {
  const head = new HeadReader(isKeptApart).read(
    fieldsOf(...pseudo, 'authorization=a', 'authorization=b'),
    SMALL,
  )
  assert.equal(head?.headers.authorization, 'a')
})

test('names of JavaScript are names like others', () => {
  const head = new HeadReader(isKeptApart).read(
    fieldsOf(...pseudo, '__proto__=x', 'constructor=y'),
    SMALL,
  )
  assert.deepEqual(Object.entries(head?.headers ?? {}), [
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ])
})

test("headers are nobody's to change, and large ones are not remembered", () => {
  const reader = new HeadReader(isKeptApart)
  const lines = fieldsOf(...pseudo, `x=${'y'.repeat(10_000)}`)
  const first = reader.read(lines, 10_200)?.headers
  assert.ok(Object.isFrozen(first))
  assert.notEqual(reader.read(lines, 10_200)?.headers, first)
})

test('requests with the same headers share them, others do not', () => {
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

describe('malformed requests', () => {
  const without = (name: string): string[] => pseudo.filter((line) => !line.startsWith(name))
  const cases: readonly [string, readonly string[]][] = [
    ['no method', without(':method')],
    ['no scheme', without(':scheme')],
    ['no path', without(':path')],
    ['an empty path', [...without(':path'), ':path=']],
    ['a path that is none', [...without(':path'), ':path=a']],
    ['a star that is not of OPTIONS', [...without(':path'), ':path=*']],
    ['a field twice', [...pseudo, ':path=/b']],
    ['an unknown field', [...pseudo, ':protocol=x']],
    ['a field of answers', [...pseudo, ':status=200']],
    ['a field behind the headers', [...without(':path'), 'x=1', ':path=/']],
    ['a header of connections', [...pseudo, 'connection=close']],
    ['an encoding of HTTP/1.1', [...pseudo, 'transfer-encoding=chunked']],
    ['te that is not trailers', [...pseudo, 'te=gzip']],
    ['a name in upper case', [...pseudo, 'X=1']],
    ['a value of two lines', [...pseudo, 'x=1\r\ny: 2']],
    ['a length that is none', [...pseudo, 'content-length=-1']],
    ['two lengths', [...pseudo, 'content-length=1', 'content-length=2']],
    ['a length that is told twice', [...pseudo, 'content-length=1', 'content-length=1']],
    ['CONNECT with a path', [':method=CONNECT', ...without(':method')]],
  ]
  for (const [what, lines] of cases) {
    test(what, () =>
      assert.equal(new HeadReader(isKeptApart).read(fieldsOf(...lines), SMALL), undefined),
    )
  }

  test('and some that are not', () => {
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

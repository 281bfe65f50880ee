import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { segmentFault, toKey } from './keys.ts'
import { decodeContinue, encodeContinue, encodeContinueFrom } from './paging.ts'
import { scanJson } from './token-json.ts'

const folder = '/registry/configmaps/ns/'
const tokenOf = (json: unknown) =>
  Buffer.from(typeof json === 'string' ? json : JSON.stringify(json)).toString('base64url')
const faultOf = (token: string) => decodeContinue(folder, token).fault
const v = 'meta.k8s.io/v1'

test('a continue token has the same format as in kube-apiserver', () => {
  const token = encodeContinue(folder, `${folder}a`, 5)
  assert.equal(
    Buffer.from(token, 'base64url').toString(),
    '{"v":"meta.k8s.io/v1","rv":5,"start":"a\\u0000"}',
  )
  assert.deepEqual(decodeContinue(folder, token), { from: `${folder}a\0`, revision: 5 })
  const odd = encodeContinue(folder, `${folder}<&>"é`.replace('é', '\xc3\xa9'), 'latest')
  assert.equal(
    Buffer.from(odd, 'base64url').toString(),
    '{"v":"meta.k8s.io/v1","rv":-1,"start":"\\u003c\\u0026\\u003e\\"é\\u0000"}',
  )
  assert.deepEqual(decodeContinue(folder, odd), {
    from: `${folder}<&>"\xc3\xa9\0`,
    revision: undefined,
  })
})

test('continue tokens of unusual form that kube-apiserver accepts are decoded', () => {
  const cases: [unknown, { from: string; revision: number | undefined }][] = [
    [
      { v, rv: 5, start: '/a' },
      { from: `${folder}a`, revision: 5 },
    ],
    [
      { v, rv: 5, start: 'ns/a\0' },
      { from: `${folder}ns/a\0`, revision: 5 },
    ],
    [
      { v, rv: -7, start: 'a' },
      { from: `${folder}a`, revision: undefined },
    ],
    [
      { v, rv: 5, start: '/' },
      { from: folder, revision: 5 },
    ],
    [
      { V: v, RV: 5, Start: 'a', more: [{}] },
      { from: `${folder}a`, revision: 5 },
    ],
    [`{"v":"${v}","rv":4,"rv":5,"start":"a","start":null}`, { from: `${folder}a`, revision: 5 }],
    [` {"v" : "${v}" ,"rv":5,"start":"\\ud800"}\n`, { from: `${folder}\xef\xbf\xbd`, revision: 5 }],
  ]
  for (const [json, expected] of cases)
    assert.deepEqual(decodeContinue(folder, tokenOf(json)), expected)
  const wrapped = encodeContinue(folder, `${folder}a`, 5).replace(/^..../, '$&\r\n')
  assert.deepEqual(decodeContinue(folder, wrapped), { from: `${folder}a\0`, revision: 5 })
})

test('an invalid continue token is rejected with the message of kube-apiserver', () => {
  const cases: [token: string, fault: string][] = [
    ['%%%', 'illegal base64 data at input byte 0'],
    ['x', 'illegal base64 data at input byte 0'],
    ['abcde', 'illegal base64 data at input byte 4'],
    ['e30=', 'illegal base64 data at input byte 3'],
    ['a+/b', 'illegal base64 data at input byte 1'],
    ['é', 'illegal base64 data at input byte 0'],
    ['e30', 'server does not recognize this encoded version '],
    [tokenOf('null'), 'server does not recognize this encoded version '],
    [
      tokenOf({ v: 'meta.k8s.io/v9', rv: 5, start: 'a' }),
      'server does not recognize this encoded version meta.k8s.io/v9',
    ],
    [
      tokenOf({ v, start: 'a\0' }),
      'incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    ],
    [
      tokenOf({ v, rv: 0, start: 'a\0' }),
      'incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    ],
    [tokenOf({ v, rv: 5 }), 'encoded start key empty (version meta.k8s.io/v1)'],
    [tokenOf({ v, rv: 5, start: '' }), 'encoded start key empty (version meta.k8s.io/v1)'],
    ...['../other/a\0', 'a//b\0', 'a/', '//', './a', 'a/../b', '..', 'a/.'].map(
      (start): [string, string] => [tokenOf({ v, rv: 5, start }), start],
    ),
    [tokenOf({ v, rv: '5', start: 'a' }), cannot('string', 'rv of type int64')],
    [tokenOf({ v, rv: 1.5, start: 'a' }), cannot('number 1.5', 'rv of type int64')],
    [
      tokenOf(`{"rv":9223372036854775808}`),
      cannot('number 9223372036854775808', 'rv of type int64'),
    ],
    [tokenOf({ v, rv: true }), cannot('bool', 'rv of type int64')],
    [tokenOf({ v: 1, rv: 'x' }), cannot('number', 'v of type string')],
    [tokenOf({ v: {}, start: [] }), cannot('object', 'v of type string')],
    [tokenOf({ v, start: [] }), cannot('array', 'start of type string')],
    [tokenOf('[]'), 'json: cannot unmarshal array into Go value of type storage.continueToken'],
    [tokenOf('"a"'), 'json: cannot unmarshal string into Go value of type storage.continueToken'],
    [tokenOf('1'), 'json: cannot unmarshal number into Go value of type storage.continueToken'],
    ['garbage', "invalid character '\\u0081' looking for beginning of value"],
    [tokenOf('not json'), "invalid character 'o' in literal null (expecting 'u')"],
    [tokenOf(''), 'unexpected end of JSON input'],
    [tokenOf('{"v":"x'), 'unexpected end of JSON input'],
    [tokenOf('{"v"'), 'unexpected end of JSON input'],
    [tokenOf('{"v":01}'), "invalid character '1' after object key:value pair"],
    [tokenOf('{"v" 1}'), "invalid character '1' after object key"],
    [tokenOf('{v}'), "invalid character 'v' looking for beginning of object key string"],
    [tokenOf('{"v":1,}'), "invalid character '}' looking for beginning of object key string"],
    [tokenOf('[1,]'), "invalid character ']' looking for beginning of value"],
    [tokenOf('[1 2]'), "invalid character '2' after array element"],
    [tokenOf('{}x'), "invalid character 'x' after top-level value"],
    [tokenOf('"\n"'), "invalid character '\\n' in string literal"],
    [tokenOf('"\\x"'), "invalid character 'x' in string escape code"],
    [tokenOf('"\\u00g0"'), "invalid character 'g' in \\u hexadecimal character escape"],
    [tokenOf('-x'), "invalid character 'x' in numeric literal"],
    [tokenOf('1.x'), "invalid character 'x' after decimal point in numeric literal"],
    [tokenOf('1e+x'), "invalid character 'x' in exponent of numeric literal"],
    [tokenOf("'"), "invalid character '\\'' looking for beginning of value"],
    [tokenOf('[[[[\x01'), "invalid character '\\x01' looking for beginning of value"],
  ]
  for (const [token, fault] of cases)
    assert.equal(faultOf(token), `continue key is not valid: ${fault}`, token)
})

function cannot(got: string, field: string): string {
  return `json: cannot unmarshal ${got} into Go struct field continueToken.${field}`
}

test('a deeply nested continue token does not overflow the stack', () => {
  assert.match(faultOf(tokenOf('['.repeat(200_000))) ?? '', /unexpected end of JSON input/)
})

const recordings = join(
  import.meta.dirname,
  '../../test/recorded/compat/recordings/listwatch-paging.json',
)

test('recorded continue tokens that kube-apiserver rejected are rejected with the same message', () => {
  const scenarios: Record<string, { step: string; body?: { message?: string } }[]> = JSON.parse(
    readFileSync(recordings, 'utf8'),
  )
  let seen = 0
  for (const { step, body } of Object.values(scenarios).flat()) {
    const token = /[?&]continue=([^&$]+)/.exec(step)?.[1]
    const message = body?.message
    if (
      token === undefined ||
      message === undefined ||
      !message.startsWith('invalid continue token: ')
    )
      continue
    assert.equal(`invalid continue token: ${faultOf(decodeURIComponent(token))}`, message)
    seen++
  }
  assert.ok(seen >= 20, `only ${seen} tokens`)
})

const segments = fc.string({ unit: 'binary' }).filter((text) => segmentFault(text) === undefined)

test('property: decodeContinue reverses encodeContinue', () => {
  fc.assert(
    fc.property(
      segments,
      segments,
      fc.integer({ min: 1, max: 2 ** 53 - 1 }),
      (namespace, name, revision) => {
        const all = '/registry/pods/'
        const last = `${all}${toKey(namespace)}/${toKey(name)}`
        assert.deepEqual(decodeContinue(all, encodeContinue(all, last, revision)), {
          from: `${last}\0`,
          revision,
        })
        assert.deepEqual(decodeContinue(all, encodeContinueFrom(all, last, 'latest')), {
          from: last,
          revision: undefined,
        })
      },
    ),
  )
})

test('property: for every continue token, the next page begins inside the key prefix of the listed resource', () => {
  const starts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom('/', '.', 'a', '\0')).map((all) => all.join('')),
  )
  fc.assert(
    fc.property(starts, fc.integer(), (start, rv) => {
      const read = decodeContinue(folder, tokenOf({ v, rv, start }))
      assert.ok(
        read.fault !== undefined || (read.from.startsWith(folder) && !read.from.includes('/../')),
      )
    }),
  )
  fc.assert(fc.property(fc.string(), (token) => void decodeContinue(folder, token)))
  fc.assert(
    fc.property(
      fc.uint8Array(),
      (bytes) => void decodeContinue(folder, Buffer.from(bytes).toString('base64url')),
    ),
  )
})

test('property: the scanner accepts a text if and only if it is JSON', () => {
  const nearJson = fc.oneof(
    fc.json(),
    fc.string({ unit: fc.constantFrom(...'{}[]",:\\truefalsn0123456789.-+eE \n'.split('')) }),
    fc.tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 })).map(([text, at, extra]) => {
      const position = at % (text.length + 1)
      return text.slice(0, position) + extra + text.slice(position + 1)
    }),
  )
  fc.assert(
    fc.property(nearJson, (text) => {
      let isJson = true
      try {
        JSON.parse(text)
      } catch {
        isJson = false
      }
      assert.equal(scanJson(Buffer.from(text)).fault === undefined, isJson, text)
    }),
    { numRuns: 2000 },
  )
})

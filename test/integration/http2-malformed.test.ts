/**
 * Tests malformed requests (RFC 9113, section 8). A proxy in front of the server might interpret
 * them differently, so that one request becomes two. Malformed requests must not reach the handler.
 * The stream is reset with PROTOCOL_ERROR, and the connection continues.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  block,
  END_HEADERS,
  END_STREAM,
  FRAME,
  field,
  frame,
  headersFrame,
  RawHttp2,
  requestFields,
} from '../support/harness/raw-http2.ts'
import { type AttackedListener, startListener } from './listener-under-attack.ts'

const PROTOCOL_ERROR = 1
const seen: string[] = []
let server: AttackedListener
before(async () => {
  server = await startListener(async (request) => {
    const { length } = await request.body()
    seen.push(`${request.method} ${request.path} ${length}`)
    return { status: 200, headers: {}, body: Buffer.from('ok') }
  })
})
after(() => server[Symbol.asyncDispose]())

/**
 * Defines a test that sends these frames for stream 1, and then a valid request on stream 3. The
 * server must reset stream 1 and respond on stream 3.
 */
function refused(name: string, ...frames: readonly Buffer[]): void {
  test(`a malformed request resets its stream: ${name}`, async () => {
    seen.length = 0
    using client = await RawHttp2.open(server.port)
    await client.send(...frames, headersFrame(3, requestFields('GET', '/next')))
    assert.equal(await client.resetCode(1), PROTOCOL_ERROR)
    assert.ok(
      await client.until(({ type, stream }) => type === FRAME.DATA && stream === 3),
      'the connection continues',
    )
    assert.deepEqual(seen, ['GET /next 0'])
  })
}

const pseudo = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', '127.0.0.1'],
] as const
const without = (name: string) => pseudo.filter(([one]) => one !== name)
const withValue = (name: string, value: string) =>
  pseudo.map(([one, its]): readonly [string, string] => [one, one === name ? value : its])
const get = (...more: readonly (readonly [string, string])[]): Buffer =>
  headersFrame(1, block(...pseudo, ...more))
const post = (...more: readonly (readonly [string, string])[]): Buffer =>
  headersFrame(1, requestFields('POST', '/', block(...more)), END_HEADERS)
const data = (text: string, flags = 0): Buffer => frame(FRAME.DATA, flags, 1, Buffer.from(text))

describe('malformed requests with connection-specific fields are rejected', () => {
  for (const name of [
    'connection',
    'keep-alive',
    'proxy-connection',
    'transfer-encoding',
    'upgrade',
  ]) {
    refused(name, get([name, name === 'transfer-encoding' ? 'chunked' : 'close']))
  }
  refused('te: gzip', get(['te', 'gzip']))
  refused(
    'transfer-encoding beside content-length',
    post(['content-length', '5'], ['transfer-encoding', 'chunked']),
  )
})

describe('malformed requests with invalid field names and values are rejected', () => {
  refused('an uppercase name', get(['X-Upper', 'x']))
  refused('an empty name', get(['', 'x']))
  for (const [what, code] of [
    ['NUL', 0],
    ['LF', 10],
    ['CR', 13],
    ['DEL', 127],
  ] as const) {
    refused(`${what} in a value`, get(['x', `a${String.fromCharCode(code)}b: c`]))
    refused(`${what} in a name`, get([`a${String.fromCharCode(code)}b`, 'x']))
    refused(
      `${what} in a path`,
      headersFrame(1, block(...withValue(':path', `/${String.fromCharCode(code)}x`))),
    )
  }
  for (const letter of [' ', ':', '(', '"', '\u00e4'])
    refused(`${JSON.stringify(letter)} in a name`, get([`a${letter}b`, 'x']))
  refused(
    'a second request in a value',
    get(['x', 'y\r\n\r\nGET /admin HTTP/1.1\r\nhost: x\r\n\r\n']),
  )
  refused(
    'a second request in a path',
    headersFrame(1, block(...withValue(':path', '/ HTTP/1.1\r\nhost: x\r\n\r\nGET /'))),
  )
  refused(
    'a second request in a method',
    headersFrame(1, block(...withValue(':method', 'GET / HTTP/1.1\r\nx: '))),
  )
})

describe('malformed requests with invalid pseudo-header fields are rejected', () => {
  for (const [name] of pseudo.slice(0, 3))
    refused(`no ${name}`, headersFrame(1, block(...without(name))))
  for (const [name, value] of pseudo)
    refused(`${name} twice`, headersFrame(1, block(...pseudo, [name, value])))
  for (const [name] of pseudo.slice(0, 3))
    refused(`an empty ${name}`, headersFrame(1, block(...withValue(name, ''))))
  refused('an unknown pseudo field', headersFrame(1, block(...pseudo, [':protocol', 'websocket'])))
  refused('a pseudo field of responses', headersFrame(1, block(...pseudo, [':status', '200'])))
  refused(
    'a pseudo field after a regular field',
    headersFrame(1, block(...without(':path'), ['x', 'y'], [':path', '/'])),
  )
  refused('a path without a slash', headersFrame(1, block(...withValue(':path', 'x'))))
  refused(
    'a whole URL as path',
    headersFrame(1, block(...withValue(':path', 'https://elsewhere/'))),
  )
  refused('a space in a path', headersFrame(1, block(...withValue(':path', '/a b'))))
  refused('an invalid method', headersFrame(1, block(...withValue(':method', 'GET /'))))
})

describe('malformed requests with invalid host fields are rejected', () => {
  refused('a host that differs from :authority', get(['host', 'elsewhere']))
  refused(
    'two hosts',
    headersFrame(1, block(...without(':authority'), ['host', 'a'], ['host', 'b'])),
  )
  test('a host header that equals or replaces :authority is accepted', async () => {
    using client = await RawHttp2.open(server.port)
    await client.send(
      get(['host', '127.0.0.1']),
      headersFrame(3, block(...without(':authority'), ['host', 'a'])),
    )
    assert.ok(await client.until(({ type, stream }) => type === FRAME.DATA && stream === 1))
    assert.ok(await client.until(({ type, stream }) => type === FRAME.DATA && stream === 3))
  })
})

describe('malformed requests with a wrong content-length are rejected', () => {
  refused('less body than announced', post(['content-length', '5']), data('1234', END_STREAM))
  refused('more body than announced', post(['content-length', '5']), data('123456', END_STREAM))
  refused(
    'more body than announced, in two frames',
    post(['content-length', '5']),
    data('1234'),
    data('56', END_STREAM),
  )
  refused(
    'no body at all',
    headersFrame(1, requestFields('POST', '/', field('content-length', '5'))),
  )
  refused(
    'two different lengths',
    post(['content-length', '5'], ['content-length', '6']),
    data('12345', END_STREAM),
  )
  for (const length of ['-1', '+5', '5, 5', '0x5', '5.0', ' 5', '', '99999999999999999999']) {
    refused(JSON.stringify(length), post(['content-length', length]), data('12345', END_STREAM))
  }
  refused(
    'trailers before the body is complete',
    post(['content-length', '5']),
    data('1234'),
    headersFrame(1, field('x', 'y')),
  )
})

describe('malformed requests with invalid trailers are rejected', () => {
  refused(
    'trailers with a pseudo field',
    post(),
    data('x'),
    headersFrame(1, field(':path', '/admin')),
  )
  refused(
    'trailers with a connection-specific field',
    post(),
    data('x'),
    headersFrame(1, field('transfer-encoding', 'chunked')),
  )
  refused(
    'trailers that do not end the stream',
    post(),
    data('x'),
    headersFrame(1, field('x', 'y'), END_HEADERS),
  )
})

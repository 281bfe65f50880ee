import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiResponse } from '../api/request.ts'
import { createAuthority } from '../lib/x509/certificates.ts'
import { type AuthenticationInfo, publishInfo } from './authentication-info.ts'

const nowMs = Date.parse('2026-06-01T00:00:00Z')
const pem = (name: string, madeMs = nowMs): string => createAuthority(name, madeMs).certificatePem
const [old, own, third] = [pem('old'), pem('own'), pem('third')]
const answer = (status: number, body: object): ApiResponse => ({
  status,
  headers: {},
  body: Buffer.from(JSON.stringify(body)),
})
const done = answer(200, {})

/**
 * Publishes the settings, and returns what was written. `gets` are the responses to the GET
 * requests, and `writes` those to the writes, in order.
 */
async function written(
  gets: readonly ApiResponse[],
  writes: readonly ApiResponse[],
  info: AuthenticationInfo = { clientCaPem: own, requestHeader: null },
): Promise<string[]> {
  const bodies: string[] = []
  let got = 0
  await publishInfo(
    async (request) => {
      if (request.method === 'GET') return gets[got++] ?? assert.fail('unexpected GET')
      bodies.push(`${request.method} ${(await request.body()).toString()}`)
      return writes[bodies.length - 1] ?? assert.fail('unexpected write')
    },
    info,
    { nowMs, signal: new AbortController().signal },
  )
  return bodies
}

const map = (resourceVersion: string, data: object): ApiResponse =>
  answer(200, { metadata: { resourceVersion }, data })
const clientCas = (resourceVersion: string, ...pems: readonly string[]): ApiResponse =>
  map(resourceVersion, { 'client-ca-file': pems.join('') })
const dataOf = (body: string | undefined) => JSON.parse(body?.replace(/^\w+ /, '') ?? '').data

test('existing certificates in the ConfigMap extension-apiserver-authentication are kept', async () => {
  const [body] = await written([clientCas('1', old)], [done])
  assert.equal(dataOf(body)['client-ca-file'], old + own)
})

test('a ConfigMap that already contains all settings is not written', async () => {
  assert.deepEqual(await written([clientCas('1', old, own)], []), [])
  assert.deepEqual(await written([], [], { clientCaPem: null, requestHeader: null }), [])
})

test('a missing ConfigMap is created', async () => {
  const [body = ''] = await written([answer(404, {})], [answer(201, {})])
  assert.match(body, /^POST .*"name":"extension-apiserver-authentication"/)
  assert.equal(dataOf(body)['client-ca-file'], own)
})

test('nothing is written if the ConfigMap cannot be read', async () => {
  for (const refused of [
    answer(503, { kind: 'Status' }),
    { status: 429, headers: {}, body: Buffer.from('Too many') },
  ]) {
    await assert.rejects(written([refused], []), /could not be written: status (503|429)/)
  }
})

test('certificates that another replica adds at the same time are kept', async () => {
  const bodies = await written(
    [clientCas('1', old), clientCas('2', old, third)],
    [answer(409, {}), done],
  )
  assert.ok(bodies[0]?.includes('"resourceVersion":"1"'))
  assert.ok(bodies[1]?.includes('"resourceVersion":"2"'))
  assert.equal(dataOf(bodies[1])['client-ca-file'], old + third + own)
})

test('each certificate is a separate PEM block, regardless of line endings in the other bundles', async () => {
  const known = own.replaceAll('\n', '\r\n')
  for (const text of [old.trimEnd(), `${old.trimEnd()}\r\n`, `${old.trimEnd()}\n${known}`]) {
    const [body] = await written([map('1', { 'client-ca-file': text })], [done])
    assert.equal(dataOf(body)['client-ca-file'], old + own)
  }
})

test('expired certificates and invalid blocks are removed', async () => {
  const expired = pem('expired', Date.parse('1990-01-01T00:00:00Z'))
  const none = '-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n'
  const [body] = await written([clientCas('1', expired, none)], [done])
  assert.equal(dataOf(body)['client-ca-file'], own)
})

test('the allowed names and headers of front proxies are merged with those in the ConfigMap', async () => {
  const requestHeader = {
    caPem: third,
    allowedNames: ['proxy'],
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: [],
    groupHeaders: ['X-Remote-Group', 'X-More'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  }
  const before = {
    'requestheader-client-ca-file': old,
    'requestheader-allowed-names': '["first","proxy"]',
    'requestheader-group-headers': 'no list',
  }
  const [body] = await written([map('1', before)], [done], { clientCaPem: null, requestHeader })
  assert.deepEqual(dataOf(body), {
    'requestheader-allowed-names': '["first","proxy"]',
    'requestheader-client-ca-file': old + third,
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group","X-More"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiResponse } from '../api/request.ts'
import { addClientCa } from './authentication-info.ts'

const pem = (text: string): string => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`
const answer = (status: number, body: object): ApiResponse => ({
  status,
  headers: {},
  body: Buffer.from(JSON.stringify(body)),
})

/** What was written, given the answers to each GET and each PATCH in turn. */
async function written(gets: readonly ApiResponse[], patches: readonly ApiResponse[]): Promise<string[]> {
  const bodies: string[] = []
  let got = 0
  await addClientCa(
    async (request) => {
      if (request.method === 'GET') return gets[got++] ?? assert.fail('asked too often')
      bodies.push((await request.body()).toString())
      return patches[bodies.length - 1] ?? assert.fail('written too often')
    },
    pem('new'),
    () => undefined,
    new AbortController().signal,
  )
  return bodies
}

const map = (resourceVersion: string, ...texts: readonly string[]): ApiResponse =>
  answer(200, { metadata: { resourceVersion }, data: { 'client-ca-file': texts.map(pem).join('') } })

test('what is there stays', async () => {
  const [body = ''] = await written([map('1', 'old')], [answer(200, {})])
  assert.ok(body.includes('old') && body.includes('new'))
})

test('who cannot be asked what is there is not told anything', async () => {
  assert.deepEqual(await written([answer(503, { kind: 'Status' })], []), [])
  assert.deepEqual(await written([{ status: 429, headers: {}, body: Buffer.from('Too many') }], []), [])
})

test('what another replica adds meanwhile stays', async () => {
  const bodies = await written([map('1', 'old'), map('2', 'old', 'other')], [answer(409, {}), answer(200, {})])
  assert.ok(bodies[0]?.includes('"resourceVersion":"1"'))
  assert.ok(bodies[1]?.includes('"resourceVersion":"2"') && bodies[1].includes('other') && bodies[1].includes('new'))
})

test('each certificate is a block of lines of its own, whatever the lines of the others end with', async () => {
  const [old, known] = [pem('old').trimEnd(), pem('new').replaceAll('\n', '\r\n')]
  for (const text of [old, `${old}\r\n`, `${old}\n${known}`]) {
    const found = answer(200, { metadata: { resourceVersion: '1' }, data: { 'client-ca-file': text } })
    const [body = ''] = await written([found], [answer(200, {})])
    assert.equal(JSON.parse(body).data['client-ca-file'], pem('old') + pem('new'))
  }
})

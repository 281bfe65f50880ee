/** Tests responses that are compressed once for many clients. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { adminToken, clients, startTestServer } from './support.ts'

const OBJECTS = 20
const path = '/api/v1/namespaces/default/configmaps?includeObject=Object'
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'

/** Returns the body as parsed JSON. Fails if the body was not compressed. */
async function askCompressed(url: string, accept: string) {
  const session = connect(url, { rejectUnauthorized: false })
  try {
    const headers = {
      ':path': path,
      authorization: `Bearer ${adminToken}`,
      accept,
      'accept-encoding': 'gzip',
    }
    const stream = session.request(headers)
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    const [answer] = await once(stream, 'response')
    await once(stream, 'end')
    assert.equal(answer['content-encoding'], 'gzip')
    return JSON.parse(gunzipSync(Buffer.concat(chunks)).toString())
  } finally {
    session.close()
  }
}

test('a compressed table shows the ages of objects at the time of each request', async () => {
  await using server = await startTestServer()
  const open = clients['HTTP/2']
  assert.ok(open)
  await using client = open(server.url)
  for (let i = 0; i < OBJECTS; i++) {
    const body = { metadata: { name: `a${i}` }, data: { text: 'x'.repeat(10_000) } }
    const { status } = await client.call({
      method: 'POST',
      path: '/api/v1/namespaces/default/configmaps',
      body,
    })
    assert.equal(status, 201)
  }
  const ageOf = async (): Promise<string> =>
    (await askCompressed(server.url, table)).rows[0].cells[2]
  const first = await ageOf()
  await sleep(1_500)
  assert.notEqual(await ageOf(), first)
  assert.equal((await askCompressed(server.url, 'application/json')).items.length, OBJECTS)
})

/**
 * Tests that short strings that the server retains do not keep long strings in memory. A string
 * that is sliced from a long string would keep the long string in memory
 * (src/lib/text/own-text.ts).
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Cluster, startCluster } from '../../src/entry/testing/index.ts'
import { heldBytes } from '../support/harness/held-bytes.ts'

let cluster: Cluster

before(async () => {
  cluster = await startCluster()
  await cluster.ready()
})

after(() => cluster[Symbol.asyncDispose]())

const REQUESTS = 12
const HELD_BYTES_MAX = 6 << 20

/**
 * Checks how much memory is still in use after many requests have ended. Each request contains a
 * megabyte that is not stored.
 */
async function heldBy(ask: (at: string) => Parameters<Cluster['request']>[0]): Promise<void> {
  const send = async (at: string): Promise<void> => {
    const { status } = await cluster.request(ask(at))
    assert.ok(status < 300, `${status}`)
  }
  // Send some requests before the measurement, because the first requests create data that remains
  // in memory permanently.
  for (const at of ['first', 'second']) await send(at)
  const held = await heldBytes(async () => {
    for (let at = 0; at < REQUESTS; at++) await send(`${at}`)
    // End with a small request, because the server still refers to parts of the last request.
    await cluster.request({ path: '/api/v1/namespaces/default' })
  })
  assert.ok(held < HELD_BYTES_MAX, `${held} bytes are held of ${REQUESTS} requests`)
}

const longText = (): string => Buffer.alloc(1 << 20, 'a').toString('latin1')
const configMaps = '/api/v1/namespaces/default/configmaps'

test('the decoded object of a write does not keep unused parts of the request body in memory', async () => {
  await heldBy((at) => {
    const metadata = { name: `created-with-a-long-body-${at}` }
    return { method: 'POST', path: configMaps, body: { metadata, unknown: longText() } }
  })
})

test('an object that was applied many times does not keep the request bodies in memory', async () => {
  const name = 'applied-to'
  const big = longText().slice(0, 900_000)
  assert.equal(
    (
      await cluster.request({
        method: 'POST',
        path: configMaps,
        body: { metadata: { name }, data: { big } },
      })
    ).status,
    201,
  )
  // Applies the object many times. Each request body contains a long string that is not stored, and
  // a short string that is stored.
  const applyAll = async (round: string): Promise<void> => {
    for (let at = 0; at < 30; at++) {
      const metadata = { name, selfLink: big }
      const data = { [`${round}-${at}`]: `a value of ${round} ${at}` }
      const { status } = await cluster.request({
        method: 'PATCH',
        path: `${configMaps}/${name}?fieldManager=${round}-${at}`,
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
      })
      assert.equal(status, 200)
    }
    await cluster.request({ path: '/api/v1/namespaces/default' })
  }
  await applyAll('first')
  const held = await heldBytes(() => applyAll('second'))
  // The limit includes the versions of the object, which are retained for watches and for the
  // history of the test cluster.
  assert.ok(held < 38 << 20, `${held} bytes are held`)
})

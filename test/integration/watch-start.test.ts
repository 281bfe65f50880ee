/**
 * Tests from which state watches without a resourceVersion start, on two servers that share an
 * etcd.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clients, startReplica, startTestServer } from './support.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'

/**
 * Number of attempts. In each attempt, the state of the other server is outdated for some
 * milliseconds.
 */
const ATTEMPTS = 100

test('a watch without a resourceVersion starts with a state that includes acknowledged writes of another server', async () => {
  await using first = await startTestServer()
  await using second = await startReplica(first)
  await using writer = clients['HTTP/2']?.(first.url) ?? assert.fail()
  await using watcher = clients['HTTP/2']?.(second.url) ?? assert.fail()
  const created = await writer.call({
    method: 'POST',
    path: configMaps,
    body: { metadata: { name: 'x' } },
  })
  assert.equal(created.status, 201)
  // Send a list to the other server, so that its cache loads the resource.
  assert.equal((await watcher.call({ path: configMaps })).status, 200)
  const headers = { 'content-type': 'application/merge-patch+json' }
  const missed: number[] = []
  for (let n = 0; n < ATTEMPTS; n++) {
    const body = { data: { n: String(n) } }
    assert.equal(
      (await writer.call({ method: 'PATCH', path: `${configMaps}/x`, headers, body })).status,
      200,
    )
    const path = `${configMaps}?watch=1&timeoutSeconds=60&fieldSelector=metadata.name%3Dx`
    for await (const line of watcher.lines({ path })) {
      if (JSON.parse(line).object.data?.n !== String(n)) missed.push(n)
      break
    }
  }
  assert.deepEqual(missed, [])
  assert.deepEqual([...first.complaints, ...second.complaints], [])
})

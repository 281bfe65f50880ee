/** Tests watches that begin with many objects and whose clients read nothing. */
import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { test } from 'node:test'
import { heldBytes } from '../support/harness/held-bytes.ts'
import { adminToken, clients, startTestServer } from './support.ts'

const SESSIONS = 4
/** Number of streams of a connection that the server allows. */
const STREAMS = 250
const OBJECTS = 60
const OBJECT_BYTES = 10_000
/** Maximum memory for the frames of all clients that do not read. */
const BUDGET_BYTES = 16 << 20
/**
 * Maximum memory of a watch in addition to its frames. It includes the client, which runs in the
 * same process.
 */
const WATCH_BYTES_MAX = 40 << 10

const folder = '/api/v1/namespaces/default/configmaps'
const authorization = `Bearer ${adminToken}`
const forms = {
  JSON: 'application/json',
  Tables: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  protobuf: 'application/vnd.kubernetes.protobuf;stream=watch',
}

test('clients that do not read their watches cannot exhaust the memory', async (t) => {
  await using server = await startTestServer([`--request-memory-max=${BUDGET_BYTES}`])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail('there is a client')
  const data = { text: 'x'.repeat(OBJECT_BYTES) }
  for (let at = 0; at < OBJECTS; at++)
    await client.call({
      method: 'POST',
      path: folder,
      body: { metadata: { name: `c${at}` }, data },
    })
  for (const [name, accept] of Object.entries(forms)) {
    await t.test(name, async () => {
      const sessions = Array.from({ length: SESSIONS }, () =>
        connect(server.url, { rejectUnauthorized: false, settings: { initialWindowSize: 0 } }),
      )
      const open = (): Promise<unknown> =>
        Promise.all(
          sessions.flatMap((session) =>
            Array.from({ length: STREAMS }, () => {
              const path = `${folder}?watch=true&resourceVersion=0&includeObject=Object`
              const stream = session.request({ ':path': path, accept, authorization })
              stream.on('error', () => undefined)
              return new Promise((resolve) => stream.on('response', resolve).on('close', resolve))
            }),
          ),
        )
      try {
        const bytes = await heldBytes(async () => void (await open()))
        const bytesMax = BUDGET_BYTES + SESSIONS * STREAMS * WATCH_BYTES_MAX
        assert.ok(bytes < bytesMax, `${bytes} bytes, at most ${bytesMax} are expected`)
        const { status } = await client.call({ path: `${folder}/c0` })
        assert.equal(status, 200)
      } finally {
        for (const session of sessions) session.destroy()
      }
    })
  }
})

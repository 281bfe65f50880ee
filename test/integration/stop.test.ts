/** How a server stops: readiness fails first, requests under way are answered, watches end cleanly, the process is gone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clients, startTestServer } from './support.ts'

const DELAY_MS = 600

test('readiness fails while requests are still taken; a write under way is answered; watches end without an error', async () => {
  const server = await startTestServer([`--shutdown-delay-duration=${DELAY_MS}ms`])
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  const watched: string[] = []
  const watching = (async () => {
    for await (const line of client.lines({ path: '/api/v1/namespaces?watch=1' })) watched.push(line)
  })()
  while (watched.length < 4) await sleep(5)
  const startMs = performance.now()
  const stopped = server[Symbol.asyncDispose]()
  await sleep(50)
  const ready = await client.call({ path: '/readyz?verbose' })
  assert.equal(ready.status, 500)
  assert.match(ready.text, /^\[-\]shutdown failed: reason withheld$/m)
  assert.equal((await client.call({ path: '/livez' })).status, 200)
  const late = await client.call({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'late' } } })
  assert.equal(late.status, 201)
  await watching
  const endedMs = performance.now() - startMs
  assert.ok(endedMs >= DELAY_MS - 50, `watches end after the delay, not after ${endedMs} ms`)
  assert.match(watched.at(-1) ?? '', /^\{"type":"ADDED".*"late"/, 'the last line is whole')
  await stopped
  assert.deepEqual(server.complaints, [])
})

test('a watch is counted while it goes on, and no longer', async () => {
  await using server = await startTestServer()
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  const open = async (): Promise<string | undefined> => {
    const { text } = await client.call({ path: '/metrics' })
    return /^apiserver_longrunning_requests\{.*resource="namespaces".*\} (\d+)$/m.exec(text)?.[1]
  }
  const lines = client.lines({ path: '/api/v1/namespaces?watch=1&timeoutSeconds=1' })
  await lines.next()
  assert.equal(await open(), '1')
  for await (const _ of lines);
  assert.equal(await open(), '0')
  const left = client.lines({ path: '/api/v1/namespaces?watch=1' })
  await left.next()
  assert.equal(await open(), '1')
  await left.return()
  while ((await open()) !== '0') await sleep(10)
  const { text } = await client.call({ path: '/metrics' })
  assert.match(text, /^apiserver_watch_events_total\{group="",kind="Namespace",version="v1"\} 8$/m)
})

test('a request takes no longer than it says, whatever etcd does', async () => {
  await using server = await startTestServer()
  await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
  await client.call({ path: '/api/v1/namespaces/default' })
  server.pauseEtcd()
  try {
    for (const call of [
      { path: '/api/v1/namespaces/default?timeout=300ms' },
      { path: '/api/v1/namespaces?timeout=300ms', method: 'POST', body: { metadata: { name: 'late' } } },
    ]) {
      const startMs = performance.now()
      const answer = await client.call(call)
      assert.ok(performance.now() - startMs < 2500, `${performance.now() - startMs} ms`)
      assert.equal(answer.status, 504, answer.text)
    }
    assert.match((await client.call({ path: '/version?timeout=soon' })).text, /time: invalid duration \\"soon\\"/)
  } finally {
    server.resumeEtcd()
  }
})

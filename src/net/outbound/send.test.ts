import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { Agent, createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { test } from 'node:test'
import { until } from '../../../test/support/harness/until.ts'
import { ReceivedAnswers } from './received.ts'
import { BrokenAnswer, send } from './send.ts'

test('the abort listener of a call is removed when the call has ended', async () => {
  const server = createServer((request, response) =>
    request.resume().on('end', () => response.end('{}')),
  )
  const agent = new Agent({ keepAlive: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    const { signal } = new AbortController()
    const target = { host: '127.0.0.1', port: address.port, path: '/' }
    const call = {
      agent,
      isTls: false,
      target,
      headers: {},
      body: '{}',
      signal,
      received: new ReceivedAnswers(),
    }
    for (let calls = 0; calls < 3; calls++) assert.equal((await send(call)).text, '{}')
    await assert.rejects(send({ ...call, target: { ...target, port: 1 } }), {
      code: 'ECONNREFUSED',
    })
    // The listener is removed when the request emits `close`, which is after the end of its
    // response.
    await until(() => getEventListeners(signal, 'abort').length === 0, 'no listener is left')
  } finally {
    agent.destroy()
    server.close()
  }
})

test('a call fails if its response is shorter than its content-length', async () => {
  const server = createTcpServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}'))
  })
  const agent = new Agent({ keepAlive: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    const { signal } = new AbortController()
    const target = { host: '127.0.0.1', port: address.port, path: '/' }
    const call = {
      agent,
      isTls: false,
      target,
      headers: {},
      body: '{}',
      signal,
      received: new ReceivedAnswers(),
    }
    await assert.rejects(send(call), BrokenAnswer)
  } finally {
    agent.destroy()
    server.close()
  }
})

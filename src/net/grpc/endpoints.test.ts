import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer, type ServerHttp2Session } from 'node:http2'
import { test } from 'node:test'
import { systemClock } from '../../lib/time/clock.ts'
import { Endpoints } from './endpoints.ts'

test('an etcd connection does not inherit the asynchronous context of the call that opened it', async () => {
  const current = new AsyncLocalStorage<string>()
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sessions = new Promise<ServerHttp2Session>((resolve) => server.once('session', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const seen = Promise.withResolvers<string | undefined>()
  const endpoints = new Endpoints({
    urls: [`http://127.0.0.1:${port}`],
    tls: undefined,
    clock: systemClock,
    log: (_, message) => {
      if (message.includes('GOAWAY')) seen.resolve(current.getStore())
    },
  })
  try {
    await current.run('a request', () => endpoints.connect())
    const session = await sessions
    session.goaway()
    assert.equal(await seen.promise, undefined)
    session.destroy()
  } finally {
    endpoints.close()
    server.close()
  }
})

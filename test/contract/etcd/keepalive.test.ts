import { deepEqual, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerHttp2Session } from 'node:http2'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startProxy } from './proxy.ts'
import { until } from './wait.ts'

const key = Buffer.from('key')
const value = Buffer.from('value')

// etcd closes a connection when it considers three pings premature. With a ping every 5.5 s, this
// happens within 19 s.
test('the pings that keep an idle watch alive are not too frequent for etcd', {
  timeout: 120_000,
}, async () => {
  await using etcd = await startEtcd()
  await using proxy = await startProxy(etcd.clientUrl)
  await using client = new EtcdClient({ endpoints: [proxy.url] })
  const ends: unknown[] = []
  let events = 0
  const handler = {
    onEvents: () => {
      events++
    },
    onCanceled: () => undefined,
  }
  client.watch.open({ onEnd: (error) => ends.push(error) }).create({ key }, handler)
  await sleep(21_000)
  await client.kv.put({ key, value })
  await until(() => events === 1, 'the event')
  deepEqual([ends, proxy.connections()], [[], 1])
})

test("the client acknowledges etcd's pings in batches instead of one by one", async () => {
  const { promise, resolve } = Promise.withResolvers<ServerHttp2Session>()
  const server = createServer().once('session', resolve).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  ok(typeof address === 'object' && address !== null)
  const client = new EtcdClient({ endpoints: [`http://127.0.0.1:${address.port}`] })
  const put = client.kv.put({ key, value }).catch(() => undefined)
  const session = await promise
  const answers: string[] = []
  const ping = (text: string): Promise<number> =>
    new Promise((done, fail) => {
      session.ping(Buffer.from(text), (error, duration, payload) => {
        answers.push(String(payload))
        if (error === null) done(duration)
        else fail(error)
      })
    })
  const [, waitedMs] = await Promise.all([ping('the 1st '), ping('the 2nd ')])
  await ping('the 3rd ')
  deepEqual(answers, ['the 1st ', 'the 2nd ', 'the 3rd '])
  // The client delays its acknowledgments. Otherwise a busy connection would exchange a ping with
  // almost every call.
  ok(waitedMs >= 190, `answered after ${waitedMs} ms`)
  session.destroy()
  await client[Symbol.asyncDispose]()
  server.close()
  await put
})

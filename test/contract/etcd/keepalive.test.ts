import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../../../src/etcd/client.ts'
import { startEtcd } from '../../harness/etcd.ts'
import { startProxy } from './proxy.ts'
import { until } from './wait.ts'

const key = Buffer.from('key')
const value = Buffer.from('value')

// etcd ends a connection at the third ping that it finds too early: with a ping every 5.5 s, after 19 s at the latest.
test('a quiet watch is kept alive by pings that etcd does not mind', { timeout: 60_000 }, async () => {
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

/** Tests the test harness, because many tests search for free ports at the same time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EtcdProcess, startEtcd } from '../../support/harness/etcd.ts'

test('an etcd process whose port is already in use fails to start', async () => {
  await using first = await startEtcd()
  const dir = `${first.dir}-second`
  const args = [
    '--name',
    'second',
    '--data-dir',
    `${dir}/data`,
    '--listen-peer-urls',
    'http://127.0.0.1:0',
  ]
  const urls = ['--listen-client-urls', first.clientUrl, '--advertise-client-urls', first.clientUrl]
  await using second = new EtcdProcess(dir, first.clientUrl, [
    ...args,
    ...urls,
    '--log-level',
    'warn',
  ])
  await assert.rejects(
    // `start` alone might succeed, because the first process can answer the health check of the
    // second one.
    second.start().then(() => second.answersAsPeer(first.clientUrl)),
    /address already in use/,
  )
})

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Watcher } from '../../../src/storage/cache/watch.ts'
import { type EtcdProcess, startEtcd } from '../../support/harness/etcd.ts'
import { encode, PlainCache, root } from '../../support/harness/plain-cache.ts'

const HISTORY_BYTES = 2 << 20
const OBJECT_BYTES = 100_000
const key = (name: string): string => `${root}plain/${name}`

let etcd: EtcdProcess
before(async () => {
  etcd = await startEtcd()
})
after(() => etcd[Symbol.asyncDispose]())

const takeAll = (watcher: Watcher): number => {
  let events = 0
  for (let taken = watcher.take(); taken.length > 0; taken = watcher.take()) events += taken.length
  return events
}

test('watches that read history share a memory budget, and a watch that exceeds the budget is rejected', async () => {
  await using writer = new PlainCache([etcd.clientUrl])
  const revisions: number[] = []
  for (let i = 0; i < 12; i++) {
    revisions.push(
      await writer.store.create(key(`a${i}`), encode(`a${i}`, 'x'.repeat(OBJECT_BYTES))),
    )
  }
  const [first = 0, second = 0] = revisions
  await using small = new PlainCache([etcd.clientUrl], {
    budgets: { historiesBytes: HISTORY_BYTES },
  })
  await small.cache.start()
  const reader = small.reader('plain')
  const range = small.range('plain')
  await reader.list(range, 'latest')
  const resume = (revision: number): Promise<Watcher> =>
    reader.watch({ range, start: { after: revision } })
  // The 11 events of 100 KB fit into the budget only once. All watchers that read this history
  // share the events.
  const shared = await Promise.all([resume(first), resume(first), resume(second)])
  await assert.rejects(resume(first), { code: 'busy' })
  assert.equal(takeAll(shared[0]), 11)
  shared[1].close()
  await assert.rejects(resume(first), { code: 'busy' }, 'the third watcher still holds the history')
  assert.equal(takeAll(shared[2]), 10)
  const again = await resume(first)
  assert.equal(takeAll(again), 11)
  const last = await resume(first)
  for (const watcher of [...shared, again, last]) watcher.close()
  const anew = await resume(first)
  anew.close()
})

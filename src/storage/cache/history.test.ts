import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemTimers } from '../../lib/time/timers.ts'
import type { FeedListener } from '../engine.ts'
import { isCode } from '../errors.ts'
import { type History, HistoryBudget, readHistory } from './history.ts'

const READS_MAX = 256

const isBusy = (error: unknown): boolean => isCode(error, 'busy')

test('the number of concurrent history reads is limited per client', async () => {
  const sinks: FeedListener[] = []
  const engine = {
    openFeed: (_: unknown, sink: FeedListener) => {
      sinks.push(sink)
      return { requestProgress: () => undefined, close: () => undefined }
    },
  }
  const budget = new HistoryBudget(64 << 20)
  const read = (client: string): Promise<History> =>
    readHistory(engine, {
      prefix: '/registry/pods/',
      after: 1,
      isEnough: () => true,
      toItem: () => assert.fail('no events'),
      budget,
      client,
      timers: systemTimers,
    })
  const reads = Array.from({ length: READS_MAX }, () => read('one'))
  await assert.rejects(read('one'), isBusy)
  reads.push(read('other'))
  sinks[0]?.onProgress(5)
  assert.equal((await reads[0])?.until, 5)
  reads.push(read('one'))
  await assert.rejects(read('one'), isBusy)
  for (const sink of sinks) sink.onProgress(5)
  for (const { bytes } of await Promise.all(reads)) budget.giveBack(bytes)
  assert.equal(budget.leftBytes, 64 << 20)
})

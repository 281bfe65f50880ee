import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Slices } from '../lib/slices.ts'
import { systemTime } from '../lib/timers.ts'
import type { FeedEvent } from './engine.ts'
import { OpenedEvents } from './opened-events.ts'

test('events are decrypted as fast beside many long lists', async () => {
  let nowMs = 0
  let due: (() => void)[] = []
  const time = { ...systemTime, monotonicMs: () => nowMs, soon: (run: () => void) => void due.push(run) }
  const nextTurn = async (): Promise<void> => {
    const now = due
    due = []
    for (const run of now) run()
    await new Promise((resolve) => setImmediate(resolve))
  }
  let isListing = true
  const lists = Array.from({ length: 40 }, async () => {
    for (const slices = new Slices(time); isListing; nowMs += 1) await slices.turn()
  })
  let told = 0
  const events = new OpenedEvents({
    time,
    transformer: {
      toStorage: (_, plain) => plain,
      fromStorage: (_, stored) => {
        nowMs += 0.1
        return { value: Buffer.from(stored), stale: false }
      },
      canBeStale: () => false,
    },
    onEvents: ({ length }) => (told += length),
    onGap: () => assert.fail('events were lost'),
  })
  const count = 1_000
  events.push(
    Array.from({ length: count }, (_, at): FeedEvent => {
      const revision = at + 1
      return { type: 'put', key: `/secrets/a/${at}`, value: Buffer.from('a'), revision, createRevision: revision }
    }),
  )
  let turns = 0
  for (; told < count; turns++) await nextTurn()
  isListing = false
  for (let left = 0; left < 40; left++) await nextTurn()
  await Promise.all(lists)
  // A slice is enough for ten of them.
  assert.ok(turns <= count / 10, `${turns} turns`)
})

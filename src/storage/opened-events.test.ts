import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusyLoop } from '../../test/support/harness/turns.ts'
import type { FeedEvent } from './engine.ts'
import { OpenedEvents } from './opened-events.ts'

test('events are decrypted without long delays while many long lists run', async () => {
  await using loop = new BusyLoop()
  let reported = 0
  const events = new OpenedEvents({
    time: loop.time,
    transformer: {
      toStorage: (_, plain) => plain,
      fromStorage: (_, stored) => ({ value: Buffer.from(stored), stale: false }),
      canBeStale: () => false,
    },
    onEvents: ({ length }) => (reported += length),
    onGap: () => assert.fail('events were lost'),
  })
  const count = 1_000
  events.push(
    Array.from({ length: count }, (_, at): FeedEvent => {
      const revision = at + 1
      return {
        type: 'put',
        key: `/secrets/a/${at}`,
        value: Buffer.from('a'),
        revision,
        createRevision: revision,
      }
    }),
  )
  const turns = await loop.turnsUntil(() => reported === count)
  // Decrypting must not take one tick for each event: there must be at least two events per tick on
  // average.
  assert.ok(turns <= count / 2, `${turns} turns`)
})

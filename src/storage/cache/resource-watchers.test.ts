import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ScriptedCache } from '../../../test/support/harness/scripted-engine.ts'
import { BusyLoop } from '../../../test/support/harness/turns.ts'
import { systemClock } from '../../lib/time/clock.ts'

const WATCHERS = 400
/**
 * Maximum number of watchers that are woken in one tick. A tick has at most three slices. The
 * simulated clock advances each time it is read, so a slice ends after a few reads.
 */
const WOKEN_MAX = 20

test('all watchers of a resource are closed in the same tick, but only a few watchers are woken per tick', async () => {
  await using loop = new BusyLoop()
  const { time } = loop
  const clock = { ...systemClock, monotonicMs: time.monotonicMs }
  await using scripted = new ScriptedCache({ clock, timers: time })
  const { cache, reader, range } = scripted
  await cache.start()
  let opened = 0
  const watchers = Array.from({ length: WATCHERS }, () =>
    reader.watch({ range, start: { initial: 'any' } }).finally(() => opened++),
  )
  await loop.turnsUntil(() => opened === WATCHERS)
  let woken = 0
  const all = await Promise.all(watchers)
  for (const watcher of all) {
    while (watcher.state !== 'live') watcher.take()
    watcher.onReady(() => woken++)
  }
  cache.remove(range.from)
  assert.ok(all.every(({ closedBecause }) => closedBecause === 'shutdown'))
  assert.equal(cache.stats().watchers, 0)
  assert.equal(woken, 0)
  while (woken < WATCHERS) {
    const before = woken
    let turns = 0
    await loop.turnsUntil(() => turns++ > 0)
    assert.ok(woken - before <= WOKEN_MAX, `${woken - before} watchers in one tick`)
  }
})

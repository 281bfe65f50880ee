import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { heldBytes } from '../../../test/support/harness/held-bytes.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { StorageError } from '../errors.ts'
import { ObjectChange } from './event.ts'
import { Item } from './item.ts'
import { Ring } from './ring.ts'
import { WatchGroups } from './watch-groups.ts'

const unexpected = (): never => assert.fail('this test does not read objects')
const home = {
  codec: { decode: unexpected, print: unexpected },
  put: unexpected,
  view: unexpected,
  keep: unexpected,
}

/** Creates an item whose value is its key. */
const itemOf = (value: string | undefined): Item | undefined =>
  value === undefined ? undefined : new Item(home, { key: value, revision: 1, createRevision: 1 })

function valueOf({ key }: Item): string {
  if (key === 'corrupt') throw new StorageError('corrupt', 'not an object')
  return key
}

class WatchGroupsFixture {
  readonly ring = new Ring(0, () => undefined)
  readonly groups = new WatchGroups(this.ring, systemTime)
  #revision = 0

  /** Changes the value of an object. An undefined value means that the object does not exist. */
  change(before: string | undefined, after: string | undefined): void {
    const revision = ++this.#revision
    this.ring.push(
      new ObjectChange({ key: 'k', revision, item: itemOf(after), previous: itemOf(before) }),
    )
    this.groups.wake()
  }

  async sorted(): Promise<void> {
    while (this.groups.sorted < this.ring.end) await turn()
  }

  join(value: string): ReturnType<WatchGroups['join']> {
    return this.groups.join({ field: 'color', value }, valueOf)
  }
}

const wants = (change: ObjectChange | undefined, value: string): boolean =>
  change?.item?.key === value || change?.previous?.key === value

test('a watcher receives every event that concerns its group, or learns that events were evicted', async () => {
  const world = new WatchGroupsFixture()
  const { ring } = world
  const values = ['red', 'green', 'blue', undefined]
  let state = 3
  const random = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 8) % below
  }
  const begin = (value: string) => ({
    value,
    group: world.join(value),
    position: ring.first + random(ring.end - ring.first + 1),
  })
  const watchers = ['red', 'red', 'green', 'blue', 'rare'].map(begin)
  let late = 0
  let skipped = 0
  for (let step = 0; step < 5_000; step++) {
    for (let i = random(4); i > 0; i--) world.change(values[random(4)], values[random(4)])
    if (random(3) === 0) await turn()
    if (random(2) === 0) for (let i = random(6); i > 0; i--) ring.evict()
    const at = random(watchers.length)
    const watcher = watchers[at]
    if (watcher === undefined || random(3) === 0) continue
    const missed = watcher.position < ring.first
    let next = watcher.position < ring.end ? watcher.group.next(watcher.position) : ring.end
    if (next === undefined || random(30) === 0) {
      assert.ok(next !== undefined || missed, 'only a watcher that missed an event is late')
      if (next === undefined) late++
      world.groups.leave({ field: 'color', value: watcher.value }, watcher.group)
      watchers[at] = begin(watcher.value)
      continue
    }
    while (next < ring.end) {
      for (let position = Math.max(watcher.position, ring.first); position < next; position++) {
        assert.ok(
          !wants(ring.at(position), watcher.value),
          `${watcher.value} must look at ${position}`,
        )
        skipped++
      }
      watcher.position = next + 1
      const after: number | undefined =
        watcher.position < ring.end ? watcher.group.next(watcher.position) : ring.end
      assert.ok(after !== undefined)
      next = after
    }
    for (let position = watcher.position; position < ring.end; position++)
      assert.ok(
        !wants(ring.at(position), watcher.value),
        `${watcher.value} must look at ${position}`,
      )
    watcher.position = ring.end
  }
  assert.ok(late > 0 && skipped > 0)
})

const WAKE_MS_MAX = 10_000

test('an event wakes only the watchers that select the previous or the new value of the field', async () => {
  const world = new WatchGroupsFixture()
  const woken: string[] = []
  const sleepers = ['red', 'green', 'blue'].map((value) => {
    const group = world.join(value)
    const sleeper = { place: -1, wake: () => void woken.push(value) }
    group.waker.sleep(sleeper)
    return { group, sleeper, value }
  })
  const expectWoken = async (...values: readonly string[]): Promise<void> => {
    // On a busy machine, the watchers are woken late. The pause below gives other watchers time to
    // be woken, which would be an error.
    for (
      const start = performance.now();
      woken.length < values.length && performance.now() - start < WAKE_MS_MAX;
    ) {
      await sleep(5)
    }
    await sleep(20)
    for (const { group, sleeper } of sleepers) group.waker.sleep(sleeper)
    assert.deepEqual(woken.splice(0).toSorted(), values)
  }
  world.change('red', 'green')
  await expectWoken('green', 'red')
  world.change('red', 'red')
  await expectWoken('red')
  world.change(undefined, 'blue')
  await expectWoken('blue')
  world.change('other', undefined)
  await expectWoken()
  world.change('other', 'corrupt')
  await expectWoken('blue', 'green', 'red')
})

test('a sleeping watcher can continue if the event ring has evicted only events of other groups', async () => {
  const world = new WatchGroupsFixture()
  const group = world.join('red')
  const { ring } = world
  const begin = ring.end
  for (let i = 0; i < 100; i++) world.change('blue', 'green')
  await world.sorted()
  while (ring.first < ring.end) ring.evict()
  assert.equal(group.next(begin), ring.end)
  world.change('blue', 'red')
  await world.sorted()
  assert.equal(group.next(begin), ring.end - 1)
  ring.evict()
  group.trim()
  assert.equal(group.next(begin), undefined)
  assert.equal(group.next(ring.end), ring.end)
})

test('events that are evicted before they are assigned to groups count as missed by all groups', async () => {
  const world = new WatchGroupsFixture()
  const group = world.join('red')
  const begin = world.ring.end
  world.change('blue', 'green')
  world.ring.evict()
  await world.sorted()
  assert.equal(group.next(begin), undefined)
  assert.equal(group.next(world.ring.end), world.ring.end)
})

test('a group does not retain the selector of a watcher that has left the group', async () => {
  const world = new WatchGroupsFixture()
  const held = await heldBytes(() => {
    for (let at = 0; at < 20; at++) {
      const text = `color-of-selector-${at}=${Buffer.alloc(1 << 20, 'a').toString('latin1')}`
      const [value = ''] = Buffer.from(text).toString('latin1').split('=')
      const group = world.join(value)
      assert.equal(world.join(`color-of-selector-${at}`), group)
      world.groups.leave({ field: 'color', value }, group)
    }
  })
  assert.ok(held < 5 << 20, `${held} bytes are held`)
})

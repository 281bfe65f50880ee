import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemTime } from '../../lib/time/timers.ts'
import type { KeyRange } from '../keys.ts'
import { Item, type ItemHome } from './item.ts'
import { named, newTree, select } from './tree.ts'

const home: ItemHome = {
  codec: {
    decode: () => ({ kind: 'K', apiVersion: 'v1', metadata: {} }),
    print: () => ({ bytes: Buffer.alloc(0), headBytes: 0, versionAt: 0 }),
  },
  put: () => undefined,
  view: () => Buffer.alloc(0),
  keep: () => undefined,
}

test('a list checks the clock after each object if its selector reads many bytes per object', async () => {
  const tree = newTree()
  for (let n = 0; n < 100; n++) {
    const item = new Item(home, { key: `/r/a/${n}`, revision: 1, createRevision: 1 })
    Object.defineProperty(item, 'hasFacts', { value: true })
    tree.set(item.key, item)
  }
  const clocks = async (lookBytes: number): Promise<number> => {
    let looks = 0
    const time = { ...systemTime, monotonicMs: () => (looks++, 0) }
    const matches = Object.assign(() => true, { lookBytes })
    await select(tree, { from: '/r/a/', to: '/r/a0' }, { matches }, { time })
    return looks
  }
  assert.ok((await clocks(64)) < 10)
  assert.ok((await clocks(64_000)) >= 100)
})

test('a long list is collected in slices and contains each object of its range once', async () => {
  const tree = newTree()
  const keys = Array.from({ length: 10_000 }, (_, n) => `/r/a/${String(n).padStart(6, '0')}`)
  for (const key of [...keys, '/r/b/1', '/r/A/1'])
    tree.set(key, new Item(home, { key, revision: 1, createRevision: 1 }))
  const { items, more } = await select(
    tree,
    { from: '/r/a/', to: '/r/a0' },
    {},
    { time: systemTime },
  )
  assert.deepEqual(
    items.map((item) => item.key),
    keys,
  )
  assert.equal(more, false)
  const page = await select(
    tree,
    { from: '/r/a/', to: '/r/a0' },
    { limit: 10 },
    { time: systemTime },
  )
  assert.deepEqual([page.items.length, page.more, page.remaining], [10, true, 9_990])
})

test('an object that is created during a pause of a long list is not in the list', async () => {
  for (const size of [4_095, 4_096, 4_097]) {
    const tree = newTree()
    const add = (n: number): void => {
      const key = `/r/${String(n).padStart(6, '0')}`
      tree.set(key, new Item(home, { key, revision: 1, createRevision: 1 }))
    }
    for (let n = 0; n < size; n++) add(n)
    let nowMs = 0
    const time = {
      monotonicMs: () => (nowMs += 2),
      defer: (then: () => void) => {
        add(size)
        then()
      },
    }
    const { items } = await select(tree, { from: '/r/', to: '/r0' }, {}, { time })
    assert.equal(items.length, size)
  }
})

test('concurrent long lists wait for slices, but a short list of the same resource does not', async () => {
  const tree = newTree()
  for (let n = 0; n < 10_000; n++) {
    const key = `/r/${n < 9_900 ? 'long' : 'short'}/${n}`
    tree.set(key, new Item(home, { key, revision: 1, createRevision: 1 }))
  }
  const due: (() => void)[] = []
  const time = { monotonicMs: () => 0, defer: (run: () => void) => void due.push(run) }
  let done = 0
  const list = async (range: KeyRange): Promise<void> => {
    await select(tree, range, {}, { time })
    done++
  }
  const short = list({ from: '/r/short/', to: '/r/short0' })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(done, 1)
  const long = Array.from({ length: 20 }, () => list({ from: '/r/', to: '/r0' }))
  for (let turn = 1; done < 21; turn++) {
    for (const run of due.splice(0)) run()
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(done <= 1 + turn * 4, `${done} lists after ${turn} turns`)
  }
  await Promise.all([short, ...long])
})

test('`named` finds the keys with a name in all namespaces', () => {
  const tree = newTree()
  const add = (key: string): unknown =>
    tree.set(key, new Item(home, { key, revision: 1, createRevision: 1 }))
  const range = { from: '/r/', to: '/r0' }
  for (const key of ['/q/a/x', '/r/a/x', '/r/a/xx', '/r/a-b/x', '/r/b/w', '/r/c/x', '/s/a/x'])
    add(key)
  assert.deepEqual(named(tree, range, 'x')?.keysArray(), ['/r/a-b/x', '/r/a/x', '/r/c/x'])
  assert.deepEqual(named(tree, range, 'none')?.keysArray(), [])
  for (let n = 0; n < 1_000; n++) add(`/r/n${n}/x`)
  assert.equal(named(tree, range, 'x'), undefined)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Slices } from './slices.ts'

/** An event loop whose ticks are run by the test. Work takes the time that it adds to the clock. */
function loop() {
  const due: (() => void)[] = []
  let nowMs = 0
  const time = { monotonicMs: () => nowMs, defer: (run: () => void) => void due.push(run) }
  const nextTurn = async (): Promise<void> => {
    for (const run of due.splice(0)) run()
    await new Promise((resolve) => process.nextTick(resolve))
  }
  return { time, nextTurn, work: (ms: number) => (nowMs += ms), due }
}

test('a tick runs only a few time slices, however much work there is, and all work makes progress', async () => {
  const { time, nextTurn, work, due } = loop()
  const done = new Array<number>(20).fill(0)
  const all = done.map(async (_, at) => {
    const slices = new Slices(time)
    for (let step = 0; step < 3; step++) {
      work(2)
      assert.ok(slices.isOver)
      await slices.turn()
      done[at] = step + 1
    }
  })
  const steps = (): number => done.reduce((sum, one) => sum + one, 0)
  for (let turn = 1; steps() < 60; turn++) {
    const before = steps()
    await nextTurn()
    assert.ok(steps() - before <= 2, `${steps() - before} slices in a tick`)
    assert.ok(Math.max(...done) - Math.min(...done) <= 1, 'no work is overtaken')
    assert.ok(turn < 100)
  }
  await Promise.all(all)
  assert.equal(due.length, 0)
})

test('background work gets one slice per tick, and more slices after a long tick', async () => {
  const { time, nextTurn, work } = loop()
  const reported: string[] = []
  const run = async (name: string, slices: Slices): Promise<void> => {
    for (let step = 0; step < 4; step++) {
      work(0.1)
      await slices.turn()
      reported.push(name)
    }
  }
  const all = [
    ...['a', 'b'].map((name) => run(name, new Slices(time, { isBackground: true }))),
    ...['C', 'D', 'E', 'F'].map((name) => run(name, new Slices(time))),
  ]
  await nextTurn()
  assert.deepEqual(reported.splice(0), ['C', 'D', 'a'])
  await nextTurn()
  assert.deepEqual(reported.splice(0), ['E', 'F', 'b'])
  work(8)
  await nextTurn()
  assert.deepEqual(reported.splice(0), ['C', 'D', 'a', 'b'], 'more after a long tick')
  for (let turn = 0; turn < 12; turn++) await nextTurn()
  await Promise.all(all)
})

test('work that several clients share gets one time slice per tick, and also the slices that no other work uses', async () => {
  const { time, nextTurn } = loop()
  const reported: string[] = []
  const run = async (name: string, slices: Slices): Promise<void> => {
    for (let step = 0; step < 2; step++) {
      await slices.turn()
      reported.push(name)
    }
  }
  const all = [
    ...['A', 'B', 'C', 'D'].map((name) => run(name, new Slices(time))),
    ...['s', 't'].map((name) => run(name, new Slices(time, { isShared: true }))),
  ]
  const turns: string[] = []
  for (let turn = 0; turn < 5; turn++) {
    await nextTurn()
    turns.push(reported.splice(0).join(''))
  }
  assert.deepEqual(turns, ['sAB', 'tCD', 'sAB', 'tCD', ''])
  const more = [
    run('s', new Slices(time, { isShared: true })),
    run('t', new Slices(time, { isShared: true })),
  ]
  await nextTurn()
  assert.equal(reported.join(''), 'st')
  await nextTurn()
  await Promise.all([...all, ...more])
})

test('a time slice ends when the work itself has run for a millisecond', async () => {
  const { time, nextTurn, work } = loop()
  const slices = new Slices(time)
  work(1)
  assert.ok(!slices.isOver)
  work(0.5)
  assert.ok(slices.isOver)
  const turned = slices.turn()
  work(100)
  await nextTurn()
  await turned
  assert.ok(!slices.isOver, 'the time of other work does not count')
})

test('in each tick, one expensive request gets a time slice in addition to the slices of other requests', async () => {
  const { time, nextTurn, work } = loop()
  const reported: string[] = []
  const run = async (name: string, slices: Slices): Promise<void> => {
    for (let step = 0; step < 3; step++) {
      work(10)
      assert.ok(slices.isOver)
      await slices.turn()
      reported.push(name)
    }
  }
  const all = [
    ...['x', 'y', 'z'].map((name) => run(name, new Slices(time, { isExpensive: true }))),
    run('A', new Slices(time)),
  ]
  for (const expected of [
    ['x', 'A'],
    ['y', 'A'],
    ['z', 'A'],
    ['x'],
    ['y'],
    ['z'],
    ['x'],
    ['y'],
    ['z'],
  ]) {
    await nextTurn()
    assert.deepEqual(reported.splice(0), expected)
  }
  await Promise.all(all)
})

test('shared expensive work takes precedence over expensive requests of single clients', async () => {
  const { time, nextTurn } = loop()
  const reported: string[] = []
  const run = async (name: string, slices: Slices): Promise<void> => {
    for (let step = 0; step < 2; step++) {
      await slices.turn()
      reported.push(name)
    }
  }
  const all = [
    ...['x', 'y'].map((name) => run(name, new Slices(time, { isExpensive: true }))),
    run('S', new Slices(time, { isExpensive: true, isShared: true })),
  ]
  for (const expected of ['S', 'S', 'x', 'y', 'x', 'y']) {
    await nextTurn()
    assert.deepEqual(reported.splice(0), [expected])
  }
  await Promise.all(all)
})

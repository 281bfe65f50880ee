import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Turns, weightOf } from './turns.ts'

function harness() {
  const began: string[] = []
  const due: (() => void)[] = []
  const turns = new Turns((call) => void due.push(call))
  /** `low/a`: of the flow a of the level low. */
  const ask = (name: string, { isWrite = true, isGone = false, seats = 1 } = {}): void => {
    const weight = weightOf(isWrite, seats)
    if (turns.takes(weight)) began.push(name)
    else {
      const [level, flow] = name.split('/')
      const begin = (): boolean => {
        if (!isGone) began.push(name)
        return !isGone
      }
      turns.add({ level, flow, weight, begin })
    }
  }
  const nextTurn = (): string[] => {
    began.length = 0
    due.shift()?.()
    return [...began]
  }
  return { turns, ask, began, nextTurn, due }
}

const countOf = (names: readonly string[], name: string): number =>
  names.filter((one) => one === name).length

test('a turn begins 32 writes or 256 reads at once, and the next the rest', () => {
  const { ask, began, nextTurn } = harness()
  for (let at = 0; at < 80; at++) ask('low/a')
  assert.equal(began.length, 32)
  assert.equal(nextTurn().length, 32)
  assert.equal(nextTurn().length, 16)
  assert.equal(nextTurn().length, 0)
  const reads = harness()
  for (let at = 0; at < 300; at++) reads.ask('low/a', { isWrite: false })
  assert.equal(reads.began.length, 256)
})

test('levels take turns, within them flows, and turns are shorter for it', () => {
  const { ask, nextTurn } = harness()
  for (let at = 0; at < 400; at++) ask('low/bully')
  ask('low/polite')
  ask('high/lease')
  const next = nextTurn()
  assert.equal(next.length, 8)
  assert.equal(countOf(next, 'high/lease'), 1)
  assert.equal(countOf(next, 'low/polite'), 1)
  assert.ok(next.indexOf('low/polite') <= 2, next.join())
})

test('turns stay short for a while after requests of two flows', () => {
  const { ask, began, nextTurn, turns } = harness()
  ask('low/polite')
  nextTurn()
  turns.contend()
  began.length = 0
  for (let at = 0; at < 80; at++) ask('low/bully')
  assert.equal(began.length, 8, 'the turn that has begun')
  assert.equal(nextTurn().length, 8)
  for (let at = 0; at < 1000; at++) {
    nextTurn()
    ask('low/bully')
  }
  nextTurn()
  for (let at = 0; at < 80; at++) ask('low/bully')
  assert.equal(nextTurn().length, 32)
})

test('long lists weigh as much as the seats that they take', () => {
  const { ask, began } = harness()
  for (let at = 0; at < 300; at++) ask('low/a', { isWrite: false, seats: 8 })
  assert.equal(began.length, 32)
})

test('who has gone costs nothing', () => {
  const { ask, nextTurn, turns } = harness()
  for (let at = 0; at < 32; at++) ask('low/a')
  for (let at = 0; at < 100; at++) ask('low/a', { isGone: true })
  ask('low/a')
  let served: string[] = []
  while (turns.waiting > 0) served = nextTurn()
  assert.deepEqual(served, ['low/a'])
})

test('nothing is scheduled when nothing comes', () => {
  const { ask, nextTurn, due } = harness()
  ask('low/a')
  nextTurn()
  assert.equal(due.length, 0)
})

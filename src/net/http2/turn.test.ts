import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnEnd } from '../../lib/time/turn-end.ts'
import { Turn } from './turn.ts'

const LONG = 64 * 1024

/**
 * Simulates connections that share a budget. `writes` is the number of long writes of each
 * connection, by its name.
 */
function harness(writes: Readonly<Record<string, number>>) {
  const due: (() => void)[] = []
  const turn = new Turn(new TurnEnd((call) => void due.push(call)).defer)
  let written: string[] = []
  const write = (name: string, left: number): void => {
    if (left === 0) return
    if (!turn.takes(LONG)) return turn.later({ goOn: () => write(name, left) })
    written.push(name)
    // Continues in a later turn, as a socket does whose write takes some time.
    turn.later({ goOn: () => write(name, left - 1) })
  }
  for (const [name, count] of Object.entries(writes)) write(name, count)
  const nextTurn = (): string[] => {
    written = []
    for (const call of due.splice(0)) call()
    return written
  }
  return { turn, nextTurn, writtenNow: () => written, due }
}

test('connections take turns to write, and together write at most 256 KB per tick', () => {
  const names = Array.from({ length: 40 }, (_, at) => `${at}`)
  const { nextTurn } = harness(Object.fromEntries(names.map((name) => [name, 2])))
  const turns = Array.from({ length: 20 }, nextTurn)
  assert.ok(turns.every(({ length }) => length <= 4))
  const all = turns.flat()
  assert.deepEqual(
    new Set(all.slice(0, 39)).size,
    39,
    'no connection writes twice before all have written',
  )
})

test('short writes never wait for the next tick, and the data of a tick is written before long writes continue', () => {
  const { turn, nextTurn, writtenNow } = harness(
    Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${at}`, 5])),
  )
  assert.equal(turn.takes(LONG), false)
  assert.ok(turn.takes(1000))
  let longBefore: number | undefined
  turn.add({ endTurn: () => (longBefore = writtenNow().length) })
  assert.equal(nextTurn().length, 4)
  assert.equal(longBefore, 0)
})

test('no call is scheduled when all data has been written', () => {
  const { nextTurn, due } = harness({ a: 1 })
  nextTurn()
  nextTurn()
  assert.equal(due.length, 0)
})

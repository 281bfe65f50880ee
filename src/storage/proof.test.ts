import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemTimers } from '../lib/time/timers.ts'
import { Prover } from './proof.ts'

const turn = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

test('requests for the latest revision that arrive in one tick share a call, and later requests share the next call', async () => {
  const asked: { answer: (revision: number) => void; fail: (error: Error) => void }[] = []
  const prover = new Prover(
    () => new Promise((answer, fail) => asked.push({ answer, fail })),
    systemTimers,
  )
  const first = prover.prove()
  assert.equal(prover.prove(), first)
  assert.equal(asked.length, 0, 'it starts after the turn')
  await turn()
  assert.equal(asked.length, 1)
  const second = prover.prove()
  const third = prover.prove()
  await turn()
  assert.equal(asked.length, 1, 'one at a time')
  asked[0]?.answer(5)
  assert.equal(await first, 5)
  await turn()
  assert.equal(asked.length, 2)
  const fourth = prover.prove()
  asked[1]?.answer(9)
  assert.deepEqual([await second, await third], [9, 9])
  await turn()
  assert.equal(asked.length, 3)
  asked[2]?.fail(new Error('gone'))
  await assert.rejects(fourth, /gone/)
  const fifth = prover.prove()
  await turn()
  asked[3]?.answer(11)
  assert.equal(await fifth, 11, 'a failure is not passed on')
})

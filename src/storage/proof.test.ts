import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Prover } from './proof.ts'

test('callers that come while a proof is on its way share the next one', async () => {
  const asked: { answer: (revision: number) => void; fail: (error: Error) => void }[] = []
  const prover = new Prover(() => new Promise((answer, fail) => asked.push({ answer, fail })))
  const first = prover.prove()
  const second = prover.prove()
  const third = prover.prove()
  assert.equal(asked.length, 1)
  asked[0]?.answer(5)
  assert.equal(await first, 5)
  await new Promise(setImmediate)
  assert.equal(asked.length, 2)
  const fourth = prover.prove()
  asked[1]?.answer(9)
  assert.deepEqual([await second, await third], [9, 9])
  await new Promise(setImmediate)
  assert.equal(asked.length, 3)
  asked[2]?.fail(new Error('gone'))
  await assert.rejects(fourth, /gone/)
  await new Promise(setImmediate)
  void prover.prove()
  assert.equal(asked.length, 4)
})

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { type Stage, TurnEnd, turnEnd } from './turn-end.ts'

/**
 * Simulates Node's immediates. An immediate that is added while others run belongs to the next
 * tick. Promise reactions run after each immediate.
 */
function harness() {
  let due: (() => void)[] = []
  const end = new TurnEnd((call) => void due.push(call))
  const called: string[] = []
  const note = (name: string, stage?: Stage): void => end.defer(() => called.push(name), stage)
  const turn = async (): Promise<string> => {
    called.length = 0
    const now = due
    due = []
    for (const call of now) {
      call()
      await Promise.resolve()
    }
    return called.join(' ')
  }
  return { end, note, turn, isDue: () => due.length > 0 }
}

test('the stages of a tick run in their order, regardless of the order in which calls were added', async () => {
  const { note, turn, isDue } = harness()
  note('long', 'long')
  note('write', 'write')
  note('answer', 'answer')
  note('ask', 'ask')
  note('begin')
  note('begin 2', 'begin')
  assert.equal(await turn(), 'begin begin 2 ask answer write long')
  assert.equal(isDue(), false, 'nothing is scheduled if nothing was added')
})

test('a stage can schedule calls for a later stage of the same tick; calls for other stages run in the next tick', async () => {
  const { end, note, turn, isDue } = harness()
  end.defer(() => {
    note('begun again', 'begin')
    void Promise.resolve().then(() => note('asked', 'ask'))
  })
  end.defer(() => note('written', 'write'), 'ask')
  end.defer(() => {
    note('more', 'long')
    note('sent', 'write')
  }, 'long')
  assert.equal(await turn(), 'asked written')
  assert.equal(await turn(), 'begun again sent more')
  assert.equal(isDue(), false)
})

test('if a scheduled call fails, the other scheduled calls still run', async () => {
  const { end, note, turn } = harness()
  end.defer(() => {
    throw new Error('failed')
  })
  note('other')
  await assert.rejects(turn, /failed/)
  assert.equal(await turn(), 'other')
})

test('scheduled calls do not run in the asynchronous context of the request that scheduled the first call', async () => {
  const current = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  const note = (): unknown => seen.push(current.getStore())
  current.run('first', () => turnEnd.defer(note, 'write'))
  await new Promise<void>((resolve) =>
    turnEnd.defer(() => {
      note()
      // Work that schedules itself again calls `defer` here. It must not run in the asynchronous
      // context of the first request, or it would stay in this context forever.
      turnEnd.defer(() => resolve(void note()))
    }),
  )
  assert.deepEqual(seen, [undefined, undefined, undefined])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Stage, TurnEnd } from './turn-end.ts'

/** Immediates as Node has them: those that are added while some run are for the next turn, and promises go on after each. */
function harness() {
  let due: (() => void)[] = []
  const end = new TurnEnd((call) => void due.push(call))
  const called: string[] = []
  const note = (name: string, stage?: Stage): void => end.soon(() => called.push(name), stage)
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

test('the stages of a turn run in their order, whatever was added first', async () => {
  const { note, turn, isDue } = harness()
  note('long', 'long')
  note('write', 'write')
  note('ask', 'ask')
  note('begin')
  note('begin 2', 'begin')
  assert.equal(await turn(), 'begin begin 2 ask write long')
  assert.equal(isDue(), false, 'nothing is scheduled when nothing comes')
})

test('what a stage adds to a later one is for this turn, by promises too; to itself or an earlier one, for the next', async () => {
  const { end, note, turn, isDue } = harness()
  end.soon(() => {
    note('begun again', 'begin')
    void Promise.resolve().then(() => note('asked', 'ask'))
  })
  end.soon(() => note('written', 'write'), 'ask')
  end.soon(() => {
    note('more', 'long')
    note('sent', 'write')
  }, 'long')
  assert.equal(await turn(), 'asked written')
  assert.equal(await turn(), 'begun again sent more')
  assert.equal(isDue(), false)
})

test('what fails does not keep the others from being called', async () => {
  const { end, note, turn } = harness()
  end.soon(() => {
    throw new Error('failed')
  })
  note('other')
  await assert.rejects(turn, /failed/)
  assert.equal(await turn(), 'other')
})

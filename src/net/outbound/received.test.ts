import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReceivedAnswers } from './received.ts'

const limits = { answerBytesMax: 100, bytesMax: 200 }
const piece = (length: number): Buffer => Buffer.alloc(length, 'x')

test('if the total size of all responses in progress exceeds the limit, only the longest response fails', () => {
  const all = new ReceivedAnswers(limits)
  const givenUp: string[] = []
  const begin = (name: string) => all.begin((why) => givenUp.push(`${name}: ${why}`))
  const [long, other, short] = [begin('long'), begin('other'), begin('short')]
  long.append(piece(90))
  other.append(piece(80))
  short.append(piece(20))
  assert.equal(all.bytes, 190)
  short.append(piece(20))
  assert.deepEqual(givenUp, ['long: all'])
  long.append(piece(90))
  assert.equal(all.bytes, 120, 'later data is not kept')
  assert.equal(short.take().length, 40)
  assert.equal(other.take().length, 80)
  assert.equal(all.bytes, 0)
})

test('a call can set a lower size limit for its response than other calls', () => {
  const all = new ReceivedAnswers(limits)
  const givenUp: string[] = []
  const low = all.begin((why) => givenUp.push(`low: ${why}`), 50)
  const other = all.begin(() => givenUp.push('other'))
  for (const answer of [low, other]) answer.append(piece(50))
  assert.deepEqual(givenUp, [])
  for (const answer of [low, other]) answer.append(piece(1))
  assert.deepEqual([givenUp, all.bytes], [['low: answer'], 51])
  other.close()
})

test('a response that exceeds its own size limit fails only once', () => {
  const all = new ReceivedAnswers(limits)
  let times = 0
  const answer = all.begin(() => times++)
  answer.append(piece(100))
  assert.equal(times, 0)
  for (let more = 0; more < 3; more++) answer.append(piece(1))
  answer.close()
  assert.deepEqual([times, all.bytes], [1, 0])
})

/** The thread that matches long texts: one question in, one answer out. */
import { parentPort } from 'node:worker_threads'
import { assert } from '../lib/assert.ts'
import type { PatternAnswer } from './pattern-thread.ts'
import { PatternQuestion } from './regex.ts'
import { CelError, isList, itemsOf } from './values.ts'

const port = parentPort
assert(port !== null, 'patterns are matched in a thread of their own')

port.on('message', ({ pattern, text, use }: PatternQuestion) => {
  port.postMessage(answer(new PatternQuestion(pattern, text, use)))
})

function answer(question: PatternQuestion): PatternAnswer {
  const result = question.answer()
  if (result instanceof CelError) return { fault: result.message }
  if (isList(result)) return { value: [...itemsOf(result)].filter((item) => typeof item === 'string') }
  assert(typeof result === 'boolean' || typeof result === 'string', 'a pattern gives a text or whether it matches')
  return { value: result }
}

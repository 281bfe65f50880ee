/**
 * The worker thread that matches expensive regular expressions. It receives a message for each
 * match, and responds to it with one message.
 */
import { parentPort } from 'node:worker_threads'
import { assert } from '../../lib/errors.ts'
import type { PatternAnswer } from './pattern-thread.ts'
import { compilePattern, PatternQuestion } from './regex.ts'
import { CelError, isList, itemsOf } from './values.ts'

const port = parentPort
assert(port !== null, 'patterns are matched on a worker thread')

port.on('message', ({ pattern, text, use }: PatternQuestion) => {
  port.postMessage(answer(new PatternQuestion(pattern, text, use)))
})

/**
 * Maximum number of cached compiled patterns. The rules of an object often match many strings
 * against the same pattern.
 */
const PATTERNS_MAX = 16
const compiled = new Map<string, ReturnType<typeof compilePattern>>()

function compileOnce(pattern: string): ReturnType<typeof compilePattern> {
  const known = compiled.get(pattern)
  if (known !== undefined) return known
  const made = compilePattern(pattern)
  const [oldest] = compiled.keys()
  if (compiled.size >= PATTERNS_MAX && oldest !== undefined) compiled.delete(oldest)
  compiled.set(pattern, made)
  return made
}

function answer(question: PatternQuestion): PatternAnswer {
  const result = question.answer(compileOnce)
  if (result instanceof CelError) return { fault: result.message }
  if (isList(result))
    return { value: [...itemsOf(result)].filter((item) => typeof item === 'string') }
  assert(
    typeof result === 'boolean' || typeof result === 'string',
    'matching a pattern gives a boolean, a string or a list',
  )
  return { value: result }
}

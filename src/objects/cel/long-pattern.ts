/**
 * Validates a long pattern on a worker thread, because compiling it would block the event loop for
 * too long.
 */
import { PatternQuestion } from './regex.ts'
import type { Turns } from './turns.ts'
import { CelError } from './values.ts'

/** Returns the error of a pattern, or undefined if the pattern is valid. */
export function* longPatternFault(pattern: string): Turns<CelError | undefined> {
  const found: CelError[] = []
  yield {
    question: new PatternQuestion(pattern, '', { verb: 'matches', limit: -1 }),
    resume: (answer) => {
      if (answer instanceof CelError) found.push(answer)
    },
  }
  return found[0]
}

/** Validates a long pattern on another thread, since compiling it would block this one too long. */
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

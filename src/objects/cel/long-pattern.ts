/** Validates a long pattern on another thread, since compiling it takes too long for this one. */
import { PatternQuestion } from './regex.ts'
import type { Turns } from './turns.ts'
import { CelError } from './values.ts'

/** Undefined: the pattern is valid. */
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

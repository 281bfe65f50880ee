/** Whether a pattern that is long is one at all: compiling it takes too long to be done here. */
import { PatternQuestion } from './regex.ts'
import type { Turns } from './turns.ts'
import { CelError } from './values.ts'

/** Undefined: it is one. */
export function* longPatternFault(pattern: string): Turns<CelError | undefined> {
  const found: CelError[] = []
  yield {
    question: new PatternQuestion(pattern, '', { verb: 'matches', limit: -1 }),
    tell: (answer) => {
      if (answer instanceof CelError) found.push(answer)
    },
  }
  return found[0]
}

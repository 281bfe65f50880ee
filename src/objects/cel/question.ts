/**
 * Results for which an evaluation might have to wait: the result of a pattern that takes a long
 * time to match, and results that arrive later.
 */
import type { PatternQuestion } from './regex.ts'
import { CelError, type Result } from './values.ts'

export type Question = PatternQuestion | LaterResult

/** A result that arrives later, such as the decision of a webhook. */
export class LaterResult {
  readonly result: Promise<Result>

  constructor(result: Promise<Result>) {
    this.result = result
  }

  /** Returns the error for evaluations that cannot wait. */
  answer(): Result {
    return new CelError('the evaluation cannot wait for the result')
  }
}

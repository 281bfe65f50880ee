/**
 * What an evaluation may have to wait for: a pattern that takes long to match, or a result that
 * comes later.
 */
import type { PatternQuestion } from './regex.ts'
import { CelError, type Result } from './values.ts'

export type Question = PatternQuestion | LaterResult

/** A result that somebody else gives, such as the decision of a webhook. */
export class LaterResult {
  readonly result: Promise<Result>

  constructor(result: Promise<Result>) {
    this.result = result
  }

  /** For evaluations that cannot wait. */
  answer(): Result {
    return new CelError('the evaluation cannot wait for the result')
  }
}

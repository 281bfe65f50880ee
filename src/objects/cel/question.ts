/**
 * A question is a request for a result for which an evaluation must wait: the result of a slow
 * pattern match, which a worker thread computes, or the result of another asynchronous operation.
 */
import type { PatternQuestion } from './regex.ts'
import { CelError, type Result } from './values.ts'

export type Question = PatternQuestion | LaterResult

/** The result of an asynchronous operation, such as the decision of an authorization webhook. */
export class LaterResult {
  readonly result: Promise<Result>

  constructor(result: Promise<Result>) {
    this.result = result
  }

  /** Returns the error for evaluations that cannot wait for the result. */
  answer(): Result {
    return new CelError('the evaluation cannot wait for the result')
  }
}

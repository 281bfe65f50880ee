/**
 * Results for which an evaluation must wait. A worker thread computes the result of a slow regular
 * expression (`PatternQuestion`). Other results are those of asynchronous operations
 * (`LaterResult`).
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

  /** Returns the error that replaces the result if the evaluation cannot wait. */
  answer(): Result {
    return new CelError('the evaluation cannot wait for the result')
  }
}

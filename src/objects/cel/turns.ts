/**
 * Long-running CEL work as generators. A generator yields undefined when its time slice is over, so
 * that other work can run. It yields a question (question.ts) when it needs a result for which it
 * must wait, such as that of a slow regular expression.
 */
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { parts } from '../../lib/scheduling/parts.ts'
import { Slices } from '../../lib/scheduling/slices.ts'
import type { AnswerPattern } from './pattern-thread.ts'
import { LaterResult, type Question } from './question.ts'
import type { Suspension, Slice } from './run.ts'
import type { Result } from './values.ts'

export type Turns<T> = Generator<Suspension | undefined, T, void>

export type TurnTools = {
  /**
   * Matches slow regular expressions on a worker thread. If absent, they are matched on the current
   * thread.
   */
  readonly answer?: AnswerPattern
  /**
   * Called whenever the work is about to continue. Throws an error if the result is no longer
   * needed.
   */
  readonly refuse?: () => void
}

export const inTurns = async <T>(work: (slice: Slice) => Turns<T>, tools?: TurnTools): Promise<T> =>
  nowOrInTurns(work, tools)

/**
 * Runs the work. Returns a promise only if one time slice is not enough, or if the work must wait
 * for a result. If the work is part of a larger task, `slices` are the time slices of that task.
 */
export function nowOrInTurns<T>(
  work: (slice: Slice) => Turns<T>,
  tools: TurnTools = {},
  slices: Slices = new Slices(),
): MaybePromise<T> {
  const turns = work({ isOver: () => slices.isOver, begin: () => slices.begin() })
  const first = turns.next()
  return first.done === true
    ? first.value
    : continueInTurns(turns, { first: first.value, slices, ...tools })
}

type ContinueOptions = TurnTools & {
  readonly first: Suspension | undefined
  readonly slices: Slices
}

async function continueInTurns<T>(
  turns: Turns<T>,
  { first, slices, answer, refuse }: ContinueOptions,
): Promise<T> {
  let value = first
  for (;;) {
    refuse?.()
    if (value === undefined) await slices.turn()
    else value.resume(await answerOf(value.question, answer))
    const next = turns.next()
    if (next.done === true) return next.value
    value = next.value
  }
}

function answerOf(question: Question, answer: AnswerPattern | undefined): MaybePromise<Result> {
  if (question instanceof LaterResult) return question.result
  return answer === undefined ? question.answer() : answer(question)
}

/**
 * Runs work whose loops can be interrupted (lib/scheduling/parts.ts). Yields between its parts. The
 * first part starts immediately.
 */
export function* inPartsOf<T>(work: () => T, slice: Slice): Turns<T> {
  const steps = parts(work, {
    get isOver() {
      return slice.isOver()
    },
    begin: () => slice.begin?.(),
  })
  steps.next()
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    yield undefined
  }
}

/** Runs the work synchronously. Patterns are matched on the current thread. */
export function atOnce<T>(work: (slice: Slice) => Turns<T>): T {
  const turns = work({ isOver: () => false })
  for (;;) {
    const { done, value } = turns.next()
    if (done === true) return value
    value?.resume(value.question.answer())
  }
}

/** Long work in turns: it yields when a slice is over, and for patterns that take long to match. */
import { Slices } from '../lib/slices.ts'
import type { AnswerPattern } from './pattern-thread.ts'
import type { Asked, Slice } from './run.ts'

export type Turns<T> = Generator<Asked | undefined, T, void>

export type TurnTools = {
  /** Answers questions about patterns; without it they are matched on this thread. */
  readonly answer?: AnswerPattern
  /** Fails if the result is no longer needed. */
  readonly refuse?: () => void
}

export async function inTurns<T>(work: (slice: Slice) => Turns<T>, { answer, refuse }: TurnTools = {}): Promise<T> {
  const slices = new Slices()
  const turns = work({ isOver: () => slices.isOver, begin: () => slices.begin() })
  for (;;) {
    const { done, value } = turns.next()
    if (done === true) return value
    refuse?.()
    if (value === undefined) await slices.turn()
    else value.tell(answer === undefined ? value.question.answer() : await answer(value.question))
  }
}

/** Runs synchronously, including the matching of patterns. */
export function atOnce<T>(work: (slice: Slice) => Turns<T>): T {
  const turns = work({ isOver: () => false })
  for (;;) {
    const { done, value } = turns.next()
    if (done === true) return value
    value?.tell(value.question.answer())
  }
}

/** Work that may take long, in turns: it gives way where a slice is over, and asks others about patterns that take long. */
import { Slices } from '../lib/slices.ts'
import type { AnswerPattern } from './pattern-thread.ts'
import type { Asked, Slice } from './run.ts'

export type Turns<T> = Generator<Asked | undefined, T, void>

export type TurnTools = {
  /** Of patterns; without it they are matched here and now. */
  readonly answer?: AnswerPattern
  /** Fails if nobody waits for the end any longer. */
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

/** Here and now, and patterns as well. */
export function atOnce<T>(work: (slice: Slice) => Turns<T>): T {
  const turns = work({ isOver: () => false })
  for (;;) {
    const { done, value } = turns.next()
    if (done === true) return value
    value?.tell(value.question.answer())
  }
}

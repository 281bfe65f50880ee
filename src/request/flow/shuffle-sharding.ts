/**
 * Determines which queues a flow uses. A hash of the flow selects a hand of queues, like cards from
 * a shuffled deck. Two flows are very unlikely to have the same hand. Therefore, a flow that fills
 * all of its queues leaves at least one empty queue for almost any other flow. The hands are the
 * same as in kube-apiserver.
 */
import { createHash } from 'node:crypto'

/** The queues of a flow. All requests of the flow share one object. */
export class Hand {
  /** Queue numbers in the order in which they are drawn. */
  readonly queues: readonly number[]
  /** Number of executing requests of the flow. */
  served = 0

  constructor(queues: readonly number[]) {
    this.queues = queues
  }
}

export function handOf(
  flow: bigint,
  { queues, handSize }: { readonly queues: number; readonly handSize: number },
): Hand {
  let entropy = flow
  /**
   * Positions of the cards. Each position is among the cards that remain when the card is drawn.
   */
  const places: number[] = []
  for (let dealt = 0; dealt < handSize; dealt++) {
    const left = BigInt(queues - dealt)
    places.push(Number(entropy % left))
    entropy /= left
  }
  return new Hand(places.map((place, at) => cardAt(place, places.slice(0, at))))
}

/**
 * Converts a position among the remaining cards to a position in the whole deck. The earlier draws
 * are undone, the last one first. If the drawn card was at the same or a lower position, the
 * position increases by one.
 */
const cardAt = (place: number, before: readonly number[]): number =>
  before.reduceRight((card, other) => (card >= other ? card + 1 : card), place)

/** Returns a hash of 64 bits for a flow. */
export const hashOfFlow = (schema: string, distinguisher: string): bigint =>
  createHash('sha256').update(schema).update('\0').update(distinguisher).digest().readBigUInt64LE(0)

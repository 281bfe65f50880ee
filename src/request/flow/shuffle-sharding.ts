/**
 * Decides which queues a flow may use. A hash of the flow deals it a hand of queues, like cards
 * from a shuffled deck. Two flows share all queues of their hands only with a tiny probability. So
 * a flow that fills its own queues leaves every other flow some empty ones. The hands are those of
 * kube-apiserver, so that replicas of both kinds shard alike.
 */
import { createHash } from 'node:crypto'

/** Queues of a flow. All requests of the flow share one object. */
export class Hand {
  /** Queue numbers, in the order in which they are dealt. */
  readonly queues: readonly number[]
  /** Number of requests of the flow that are executing. */
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
  /** Positions, each among the cards that are left when it is drawn. */
  const places: number[] = []
  for (let dealt = 0; dealt < handSize; dealt++) {
    const left = BigInt(queues - dealt)
    places.push(Number(entropy % left))
    entropy /= left
  }
  return new Hand(places.map((place, at) => cardAt(place, places.slice(0, at))))
}

/**
 * Converts a position among the remaining cards to one in the whole deck. Each card that was dealt
 * earlier from a position not above it moves it up by one.
 */
const cardAt = (place: number, before: readonly number[]): number =>
  before.reduceRight((card, other) => (card >= other ? card + 1 : card), place)

/** Returns 64 bits that identify a flow. */
export const hashOfFlow = (schema: string, distinguisher: string): bigint =>
  createHash('sha256').update(schema).update('\0').update(distinguisher).digest().readBigUInt64LE(0)

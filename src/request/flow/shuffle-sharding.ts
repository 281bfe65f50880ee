/**
 * Which queues a flow may use. A hash of the flow deals it a hand of queues, as cards from a
 * shuffled deck: two flows share all queues of their hands only with a tiny probability, so that a
 * flow which fills its own leaves every other one some that are empty. The hands are those of
 * kube-apiserver: replicas of both kinds shard alike.
 */
import { createHash } from 'node:crypto'

/** The queues of a flow: one object for all of its requests. */
export class Hand {
  /** Their numbers, in the order in which they are dealt. */
  readonly queues: readonly number[]
  /** How many requests of the flow are being served. */
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
  /** The ith number is a place in what is left of the deck. */
  const places: number[] = []
  for (let dealt = 0; dealt < handSize; dealt++) {
    const left = BigInt(queues - dealt)
    places.push(Number(entropy % left))
    entropy /= left
  }
  return new Hand(places.map((place, at) => cardAt(place, places.slice(0, at))))
}

/**
 * From a place among the cards that are left to one of the whole deck: each card that was dealt
 * before from a place not above it moves it up.
 */
const cardAt = (place: number, before: readonly number[]): number =>
  before.reduceRight((card, other) => (card >= other ? card + 1 : card), place)

/** 64 bits that identify a flow. */
export const hashOfFlow = (schema: string, distinguisher: string): bigint =>
  createHash('sha256').update(schema).update('\0').update(distinguisher).digest().readBigUInt64LE(0)

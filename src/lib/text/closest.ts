/** Finds the word that a user probably meant, for suggestions such as "did you mean pods?". */

/** Longer words get no suggestion, because the comparison takes quadratic time. */
const LENGTH_MAX = 64

/**
 * Returns the candidate with the smallest edit distance, or undefined if none is similar. Up to a
 * third of the characters can differ.
 */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LENGTH_MAX) return undefined
  let best: string | undefined
  let distance = Math.floor(word.length / 3) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= distance) continue
    const next = distanceOf(word, candidate)
    if (next < distance) [best, distance] = [candidate, next]
  }
  return best
}

/**
 * Returns the number of characters to insert, remove, replace or swap with their neighbor to turn
 * one word into the other.
 */
function distanceOf(a: string, b: string): number {
  let [before, row]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isEqual = a[i - 1] === b[j - 1]
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next[j] = Math.min(
        numberAt(row, j) + 1,
        numberAt(next, j - 1) + 1,
        numberAt(row, j - 1) + (isEqual ? 0 : 1),
        isSwapped ? numberAt(before, j - 2) + 1 : Infinity,
      )
    }
    before = row ?? []
    row = next
  }
  return numberAt(row, b.length)
}

const numberAt = (row: readonly number[] | undefined, at: number): number => row?.[at] ?? Infinity

/** Finds the word that a user probably meant, for suggestions such as "did you mean pods?". */

/** Maximum length of a word that gets a suggestion, because the comparison takes quadratic time. */
const LENGTH_MAX = 64

/**
 * Returns the candidate with the smallest edit distance, or undefined if none is similar. Up to a
 * third of the characters can differ.
 */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LENGTH_MAX) return undefined
  let best: string | undefined
  let limit = Math.floor(word.length / 3) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= limit) continue
    const distance = distanceBelow(limit, word, candidate)
    if (distance < limit) [best, limit] = [candidate, distance]
  }
  return best
}

/**
 * Returns the edit distance of two words: the number of characters to insert, remove, replace or
 * swap with their neighbor. Returns `limit` if the distance is not smaller. Only cells near the
 * diagonal of the matrix are computed, because a server can have thousands of candidates.
 */
function distanceBelow(limit: number, a: string, b: string): number {
  let [before, row, next] = [newRow(b, limit), newRow(b, limit), newRow(b, limit)]
  for (let j = 0; j < limit && j <= b.length; j++) row[j] = j
  for (let i = 1; i <= a.length; i++) {
    const code = a.charCodeAt(i - 1)
    const codeBefore = a.charCodeAt(i - 2)
    let least = limit
    const first = Math.max(1, i - limit + 1)
    const last = Math.min(b.length, i + limit - 1)
    next[first - 1] = first === 1 ? i : limit
    for (let j = first; j <= last; j++) {
      const other = b.charCodeAt(j - 1)
      let cost = at(row, j - 1) + (code === other ? 0 : 1)
      cost = Math.min(cost, at(row, j) + 1, at(next, j - 1) + 1)
      if (code === b.charCodeAt(j - 2) && codeBefore === other)
        cost = Math.min(cost, at(before, j - 2) + 1)
      next[j] = cost
      if (cost < least) least = cost
    }
    // No later cost can be lower than the lowest cost in this row. This is also true for swaps,
    // although their cost is computed from the row before.
    if (least >= limit) return limit
    ;[before, row, next] = [row, next, before]
  }
  return Math.min(limit, at(row, b.length))
}

const newRow = ({ length }: string, limit: number): Uint8Array =>
  new Uint8Array(length + 1).fill(limit)

const at = (row: Uint8Array, index: number): number => row[index] ?? 0

/** Suggests names that a user probably meant, for messages such as "did you mean pods?". */
import { closest } from './closest.ts'

/**
 * Maximum number of suggested names. More names would not help. A caller with few names lists all
 * of them instead.
 */
const SHOWN_MAX = 5

/**
 * Minimum number of letters of the part of a word that is searched for in names. A shorter part
 * would also occur in unrelated names.
 */
const LETTERS_MIN = 3

/**
 * Returns a question such as "did you mean PodSecurity?", or undefined if no name is similar. The
 * case of letters does not matter. `show` formats a name for the user.
 */
export function didYouMean(
  word: string,
  names: Iterable<string>,
  show = (name: string): string => name,
): string | undefined {
  const meant = similarNames(word, names).map(show)
  if (meant.length === 0) return undefined
  return `did you mean ${meant.length === 1 ? '' : 'one of '}${meant.join(', ')}?`
}

/** Returns a line that suggests another value for a flag, or no line if no name is similar. */
export function suggestValue(flag: string, value: string, names: Iterable<string>): string[] {
  const question = didYouMean(value, names)
  return question === undefined ? [] : [`--${flag}: ${value}: ${question}`]
}

/**
 * Returns the name with the smallest edit distance. If none is similar, returns the names that
 * contain the longest possible beginning of the word, which is at least half of it.
 */
function similarNames(word: string, names: Iterable<string>): readonly string[] {
  const lower = word.toLowerCase()
  const byLower = new Map([...names].map((name) => [name.toLowerCase(), name]))
  const near = closest(lower, byLower.keys())
  if (near !== undefined) return [byLower.get(near) ?? near]
  const shortest = Math.max(LETTERS_MIN, Math.ceil(lower.length / 2))
  for (let length = lower.length; length >= shortest; length--) {
    const part = lower.slice(0, length)
    const found = [...byLower].flatMap(([key, name]) => (key.includes(part) ? name : []))
    if (found.length > 0) return found.length > SHOWN_MAX ? [] : found
  }
  return []
}

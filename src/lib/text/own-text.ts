/**
 * Minimum length of substrings that V8 stores as a reference into the original string. Such a
 * substring keeps the original string in memory, for example the text of a request.
 */
const SLICE_CHARACTERS_MIN = 13

/**
 * Returns a copy of a string that may be a substring of a longer string. Use it for a string that
 * is needed longer than the original string.
 */
export const ownText = (text: string): string =>
  text.length < SLICE_CHARACTERS_MIN ? text : Buffer.from(text).toString()

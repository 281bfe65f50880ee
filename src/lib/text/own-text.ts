/**
 * Minimum length of substrings that V8 represents as a view of the whole string. A view retains the
 * whole string, for example the text of an object or a request.
 */
const SLICE_CHARACTERS_MIN = 13

/**
 * Returns a copy of a string that may be a view. Use it for a string that is kept longer than the
 * whole string of which it is a part.
 */
export const ownText = (text: string): string =>
  text.length < SLICE_CHARACTERS_MIN ? text : Buffer.from(text).toString()

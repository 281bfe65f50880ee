/**
 * Minimum length of substrings that V8 represents as a view. A view keeps the whole string alive,
 * such as that of an object or a request.
 */
const SLICE_CHARACTERS_MIN = 13

/**
 * Returns a copy of a text that may be a view. For texts that are kept longer than the strings they
 * are part of.
 */
export const ownText = (text: string): string =>
  text.length < SLICE_CHARACTERS_MIN ? text : Buffer.from(text).toString()

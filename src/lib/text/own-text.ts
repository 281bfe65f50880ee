/**
 * V8 makes a part of a text of at least this length a view, which keeps all of the text: that of a
 * whole object, or of a request.
 */
const SLICE_CHARACTERS_MIN = 13

/** The text in memory of its own, for what is kept longer than what it is a part of. */
export const ownText = (text: string): string =>
  text.length < SLICE_CHARACTERS_MIN ? text : Buffer.from(text).toString()

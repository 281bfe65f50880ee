/** A copy, for texts that are kept longer than what they are a part of: V8 keeps all of a string for any part of it that has 13 characters or more. */
export const ownText = (text: string): string => Buffer.from(text).toString()

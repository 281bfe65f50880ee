/** Cuts long texts from clients, so that a response that quotes them stays short. */

/**
 * Maximum length of a text that a message quotes. Valid names and options are shorter, but a client
 * can send longer ones, and some messages show a whole object. kube-apiserver quotes the whole
 * text. Keelson does not, because escaping a megabyte of control characters takes a tenth of a
 * second.
 */
export const QUOTED_CHARACTERS_MAX = 32 << 10

/**
 * Formats a text for a message. Only the beginning of a long text is formatted by `show`, followed
 * by the number of the remaining characters.
 */
export function cutText(
  text: string,
  charactersMax = QUOTED_CHARACTERS_MAX,
  show: (text: string) => string = (whole) => whole,
): string {
  const more = text.length - charactersMax
  return more <= 0
    ? show(text)
    : `${show(text.slice(0, charactersMax))}... (${more} more characters)`
}

/** Like `cutText`, for a text whose end may be missing, so that its full length is unknown. */
export const cutBeginning = (text: string): string =>
  text.length <= QUOTED_CHARACTERS_MAX
    ? text
    : `${text.slice(0, QUOTED_CHARACTERS_MAX)}... (more characters)`

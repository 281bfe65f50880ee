/** Cuts long texts from clients, so that a response that quotes them stays short. */

/**
 * Maximum length of a text that a message quotes. Valid names and options are shorter, and some
 * messages show a whole object. kube-apiserver quotes the whole text, but escaping a megabyte of
 * control characters takes a tenth of a second.
 */
export const QUOTED_CHARACTERS_MAX = 32 << 10

/**
 * Returns a text as messages show it. If it is too long, only its beginning is formatted by `show`,
 * and the number of the other characters is appended.
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

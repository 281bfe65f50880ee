/** Determines the YAML styles in which a string can be written without changing its value. */
export type Styles = {
  readonly isPlainAllowed: boolean
  readonly isSingleAllowed: boolean
  /**
   * Whether the string can be written as a literal block: a `|`, followed by the lines of the
   * string.
   */
  readonly isBlockAllowed: boolean
}

/** Matches text that a plain (unquoted) scalar must not begin with. */
const startIndicator = /^[#,[\]{}&*!|>'"%@`]|^[?:-](?:[\s\u0085\u2028\u2029]|$)|^---|^\.\.\./
/** Matches text at which a plain (unquoted) scalar would end. */
const innerIndicator = /:(?:[\s\u0085\u2028\u2029]|$)|[\s\u0085\u2028\u2029]#/
const lineBreak = /[\n\r\u0085\u2028\u2029]/
const spaceBreak = / [\n\r\u0085\u2028\u2029]/

/**
 * Determines the styles in which a text can be written, by searching for characters that a style
 * does not permit. Yields between two searches, because a text can have millions of characters.
 */
export function* analyse(text: string): Generator<undefined, Styles, void> {
  const isLong = text.length > LONG_CHARACTERS
  const hasSpecial = special.test(text)
  if (isLong) yield
  const hasTab = text.includes('\t')
  const hasSpaceBreak = spaceBreak.test(text)
  if (isLong) yield
  const isOneLine = !lineBreak.test(text)
  if (isLong) yield
  const isSingleAllowed = !hasSpecial && !hasTab && isOneLine
  return {
    isPlainAllowed:
      isSingleAllowed &&
      !text.startsWith(' ') &&
      !text.endsWith(' ') &&
      !startIndicator.test(text) &&
      !innerIndicator.test(text),
    isSingleAllowed,
    isBlockAllowed: !text.endsWith(' ') && !hasSpaceBreak && !hasSpecial && !hasTab,
  }
}

/**
 * Maximum length of a text that is searched without interruption. The search takes less than a
 * millisecond.
 */
const LONG_CHARACTERS = 64 << 10

/**
 * Matches characters that are not printable: control characters, the byte order mark, and all
 * characters outside of the basic multilingual plane. Tabs and newlines are handled separately.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const special = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff\ufffe\uffff]|[\ud800-\udfff]/

/** Whether a character needs an escape sequence between double quotes. */
export function needsEscape(character: string): boolean {
  return (
    character === '"' ||
    character === '\\' ||
    /[\t\n\u2028\u2029]/.test(character) ||
    special.test(character)
  )
}

export const ESCAPES: { readonly [character: string]: string } = {
  '\u0000': '\\0',
  '\u0007': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\u001b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\u0085': '\\N',
  '\u00a0': '\\_',
  '\u2028': '\\L',
  '\u2029': '\\P',
}

/** Whether some YAML parsers interpret the text as a number in base 60, such as `12:30`. */
export function isBase60(text: string): boolean {
  return text.includes(':') && /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/.test(text)
}

/**
 * Whether the text contains a character that YAML 1.1 does not permit even in quotes. js-yaml
 * accepts some of these characters.
 */
export const hasUnprintable = (text: string): boolean => unprintable.test(text)

// oxlint-disable-next-line no-control-regex -- these are what is looked for
const unprintable = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/

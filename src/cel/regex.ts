/** Patterns of users: RE2, which takes time in proportion to the text and to the size of the pattern, whatever they are. */
import { RE2JS, RE2JSException } from 're2js'
import { CelError } from './values.ts'

export type Pattern = RE2JS

/** Steps are characters times instructions: a second at worst. A pattern of 20 takes a megabyte, one of 200 a hundred kilobytes. */
const STEPS_MAX = 20_000_000

/** Whether to match could take too long, and nobody else would get a turn. */
export const isTooMuch = (pattern: Pattern, text: string): boolean =>
  // Most texts are short, and the size of a pattern has to be looked up.
  text.length > SHORT_CHARACTERS && text.length * pattern.programSize() > STEPS_MAX

const SHORT_CHARACTERS = 100

export const tooLongFor = 'the text is too long for the pattern'

export function compilePattern(pattern: string): Pattern | CelError {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    // Go ends this message with the empty text it did not read.
    const isBackslash = error.message.endsWith('trailing backslash at end of expression')
    return new CelError(isBackslash ? `${error.message}: \`\`` : error.message)
  }
}

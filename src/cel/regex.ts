/** Patterns of users: RE2, which takes time in proportion to the text, whatever the pattern. */
import { RE2JS, RE2JSException } from 're2js'
import { CelError } from './values.ts'

export function compilePattern(pattern: string): RE2JS | CelError {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    // Go ends this message with the empty text it did not read.
    const isBackslash = error.message.endsWith('trailing backslash at end of expression')
    return new CelError(isBackslash ? `${error.message}: \`\`` : error.message)
  }
}

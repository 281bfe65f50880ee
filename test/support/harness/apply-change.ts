/**
 * Applies a change that a page of the documentation shows as a diff without line numbers. As in a
 * unified diff, each line begins with a space, `-` or `+`. Lines that begin with `@@` separate
 * parts of the change. In each part, the lines that do not begin with `+` must occur exactly once
 * in the file.
 */

/** Returns the text of a file after the change. Throws if the change does not match the file. */
export function applyChange(text: string, change: string): string {
  // Search including the line breaks before and after the lines, so that only whole lines are
  // found.
  let changed = `\n${text}`
  for (const part of change.split(/^@@.*\n/m).filter((one) => one.trim() !== '')) {
    const lines = part.replace(/\n$/, '').split('\n')
    const [before, after] = [linesOf(lines, '-'), linesOf(lines, '+')]
    const at = changed.indexOf(before)
    if (at === -1) throw new Error(`these lines are not in the file:${before}`)
    if (changed.includes(before, at + 1))
      throw new Error(`these lines are in the file more than once:${before}`)
    changed = changed.slice(0, at) + after + changed.slice(at + before.length)
  }
  return changed.slice(1)
}

/** Reverts a change. The file must already contain the change. */
export const undoChange = (text: string, change: string): string =>
  applyChange(
    text,
    change.replaceAll(/^[-+]/gm, (sign) => (sign === '+' ? '-' : '+')),
  )

/**
 * Returns the lines of a diff that begin with `sign` (`+` or `-`) or with a space. Removes this
 * first character.
 */
const linesOf = (lines: readonly string[], sign: '-' | '+'): string =>
  `\n${lines
    .filter((line) => line === '' || line.startsWith(' ') || line.startsWith(sign))
    .map((line) => line.slice(1))
    .join('\n')}\n`

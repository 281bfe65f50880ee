/** Tables and pages of docs/reference. */

export type Page = { readonly file: string; readonly text: string }

export function page(file: string, title: string, ...parts: readonly string[]): Page {
  const mark = '<!-- Written by scripts/reference.ts: change the code, then run it. -->'
  return { file, text: `${[`# ${title}`, mark, ...parts].join('\n\n')}\n` }
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`

/** What a pipe or a line break would do to a table. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

export const code = (text: string): string => `\`${text}\``

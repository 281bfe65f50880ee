/**
 * Parses CSV (RFC 4180) like Go's encoding/csv: quotes can enclose only a whole field, empty lines
 * are skipped, and spaces are part of a field.
 */

export type CsvRow = readonly string[]

const bareQuote = 'bare " in non-quoted-field'
const openQuote = 'extraneous or missing " in quoted-field'

/** Returns the rows before the first error. The error message is that of Go. */
export function parseCsv(text: string): {
  readonly rows: readonly CsvRow[]
  readonly fault?: string
} {
  const lines = linesOf(text)
  const rows: CsvRow[] = []
  for (let at = 0; at < lines.length; at++) {
    if (lines[at] === '\n' || lines[at] === '') continue
    const row = readRow(lines, at)
    if ('fault' in row) return { rows, fault: row.fault }
    rows.push(row.fields)
    at = row.lastLine
  }
  return { rows }
}

/**
 * Splits a text into lines that keep their line feeds. Drops a carriage return before a line feed
 * or at the end of the text.
 */
const linesOf = (text: string): string[] =>
  text
    .replace(/\r$/, '')
    .split(/(?<=\n)/)
    .map((line) => (line.endsWith('\r\n') ? `${line.slice(0, -2)}\n` : line))

type Row = { readonly fields: CsvRow; readonly lastLine: number } | { readonly fault: string }

function readRow(lines: readonly string[], firstLine: number): Row {
  const fields: string[] = []
  let [lineAt, at] = [firstLine, 0]
  const faultAt = (column: number, why: string): Row => {
    const line = lines[lineAt] ?? ''
    const where = `parse error on line ${lineAt + 1}, column ${Buffer.byteLength(line.slice(0, column)) + 1}: ${why}`
    return { fault: lineAt === firstLine ? where : `record on line ${firstLine + 1}; ${where}` }
  }
  for (;;) {
    const line = lines[lineAt] ?? ''
    if (line[at] !== '"') {
      const end = endOfField(line, at)
      const field = line.slice(at, end)
      if (field.includes('"')) return faultAt(at + field.indexOf('"'), bareQuote)
      fields.push(field)
      at = end
    } else {
      let field = ''
      at++
      for (let isOpen = true; isOpen; ) {
        const current = lines[lineAt] ?? ''
        const quote = current.indexOf('"', at)
        field += current.slice(at, quote < 0 ? undefined : quote)
        if (quote < 0) {
          if (lineAt + 1 >= lines.length) return faultAt(current.length, openQuote)
          lineAt++
          at = 0
        } else if (current[quote + 1] === '"') {
          field += '"'
          at = quote + 2
        } else {
          isOpen = false
          at = quote + 1
        }
      }
      fields.push(field)
    }
    const after = (lines[lineAt] ?? '')[at]
    if (after === ',') at++
    else if (after === undefined || after === '\n') return { fields, lastLine: lineAt }
    else return faultAt(at - 1, openQuote)
  }
}

function endOfField(line: string, from: number): number {
  const comma = line.indexOf(',', from)
  if (comma >= 0) return comma
  return line.endsWith('\n') ? line.length - 1 : line.length
}

/** Decodes PEM blocks (RFC 7468, and the headers of RFC 1421 that some tools still write). */

export type PemBlock = {
  readonly label: string
  readonly hasHeaders: boolean
  readonly bytes: Buffer
}

const headerLines = /^((?:[^\r\n:]+:[^\r\n]*\r?\n)*)([\s\S]*)$/

/**
 * Returns the PEM blocks in a text. Ignores malformed blocks and the text around blocks. A block
 * extends from the last BEGIN line before an END line to this END line.
 */
export function decodePem(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  let open: { readonly label: string; readonly lines: string[] } | undefined
  for (const line of text.split('\n')) {
    const begun = labelIn(line, '-----BEGIN ')
    const ended = open === undefined ? undefined : labelIn(line, '-----END ')
    if (begun !== undefined) open = { label: begun, lines: [] }
    else if (open === undefined) continue
    else if (ended === undefined) open.lines.push(line)
    else {
      // Bounded: `blockOf` returns at most one block
      if (ended === open.label) blocks.push(...blockOf(ended, open.lines))
      open = undefined
    }
  }
  return blocks
}

function labelIn(line: string, start: string): string | undefined {
  if (!line.startsWith(start)) return undefined
  const whole = line.trimEnd()
  return whole.length >= start.length + DASHES.length && whole.endsWith(DASHES)
    ? whole.slice(start.length, -DASHES.length)
    : undefined
}

const DASHES = '-----'

function blockOf(label: string, lines: readonly string[]): PemBlock[] {
  const [, headers = '', body = ''] =
    headerLines.exec(lines.map((line) => `${line}\n`).join('')) ?? []
  const base64 = body.replace(/\s/g, '')
  const isBase64 = base64.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(base64)
  return isBase64
    ? [{ label, hasHeaders: headers !== '', bytes: Buffer.from(base64, 'base64') }]
    : []
}

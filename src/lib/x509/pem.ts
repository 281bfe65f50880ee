/** Blocks of PEM (RFC 7468, with the headers of RFC 1421 that some tools still write). */

export type PemBlock = { readonly label: string; readonly hasHeaders: boolean; readonly bytes: Buffer }

const block = /^-----BEGIN ([^\r\n]*?)-----[ \t]*\r?\n([\s\S]*?)^-----END \1-----[ \t]*$/gm

/** Text around blocks, and what only looks like one, is passed over. */
export function decodePem(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  for (const [, label = '', content = ''] of text.matchAll(block)) {
    const [, headers = '', body = ''] = /^((?:[^\r\n:]+:[^\r\n]*\r?\n)*)([\s\S]*)$/.exec(content) ?? []
    const base64 = body.replace(/\s/g, '')
    const isBase64 = base64.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(base64)
    if (isBase64) blocks.push({ label, hasHeaders: headers !== '', bytes: Buffer.from(base64, 'base64') })
  }
  return blocks
}

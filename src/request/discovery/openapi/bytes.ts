/**
 * Joins the parts of a document into one buffer, in slices. The v2 document can have a size of a
 * hundred megabytes.
 */
import { createHash } from 'node:crypto'
import type { Slices } from '../../../lib/scheduling/slices.ts'

/**
 * Length of a chunk, whose encoding takes about a millisecond. A chunk is so large that the C
 * library immediately returns its memory to the operating system (bin/keelson).
 */
const CHUNK_CHARS = 1 << 20

/** Returns the bytes of the document, and their SHA-512 hash in upper case. */
export async function gather(
  texts: Iterable<string>,
  slices: Slices,
): Promise<{ readonly json: Buffer; readonly hash: string }> {
  const digest = createHash('sha512')
  const chunks: Buffer[] = []
  let length = 0
  let waiting: string[] = []
  let chars = 0
  const flush = (): void => {
    const chunk = Buffer.from(waiting.join(''))
    digest.update(chunk)
    chunks.push(chunk)
    length += chunk.length
    waiting = []
    chars = 0
  }
  for (const text of texts) {
    waiting.push(text)
    chars += text.length
    if (chars > CHUNK_CHARS) flush()
    if (slices.isOver) await slices.turn()
  }
  flush()
  const json = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const chunk of chunks) {
    at += chunk.copy(json, at)
    if (slices.isOver) await slices.turn()
  }
  return { json, hash: digest.digest('hex').toUpperCase() }
}

/** Serializes an object whose values are already JSON. */
export function* fieldTexts(fields: Iterable<readonly [string, string]>): Generator<string> {
  let before = '{'
  for (const [name, text] of fields) {
    yield `${before}${JSON.stringify(name)}:${text}`
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

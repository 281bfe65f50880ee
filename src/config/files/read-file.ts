/** Reads files that flags and other configuration files name. Errors have Go's messages. */
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import type { FileFault } from './decode-file.ts'
import { goFileError } from './go-file-error.ts'

/**
 * Certificates, tokens, policies and configurations: far more than any of them has, and little
 * enough to be held in memory and to be a JavaScript string, which ends at 512 MiB. Upstream has no
 * limit.
 */
export const FILE_BYTES_MAX = 16 << 20
const CHUNK_BYTES = 64 << 10

/** At startup. */
export function readBytes(path: string): { readonly bytes: Buffer } | FileFault {
  try {
    return { bytes: readSyncWithin(path) }
  } catch (error) {
    return { fault: goFileError('open', path, error) }
  }
}

export function readTextFile(path: string): { readonly text: string } | FileFault {
  const read = readBytes(path)
  return 'fault' in read ? read : { text: read.bytes.toString('utf8') }
}

/** While the server runs. Fails as readFile does, and with files that are too large. */
export async function rereadBytes(path: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  // One byte more than allowed, which shows that the file is too large.
  const stream = createReadStream(path, { end: FILE_BYTES_MAX, highWaterMark: CHUNK_BYTES })
  for await (const chunk of stream) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  return within(Buffer.concat(chunks))
}

function readSyncWithin(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const chunks: Buffer[] = []
    let length = 0
    while (length <= FILE_BYTES_MAX) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      const count = readSync(file, chunk)
      if (count === 0) break
      length += count
      chunks.push(chunk.subarray(0, count))
    }
    return within(Buffer.concat(chunks))
  } finally {
    closeSync(file)
  }
}

function within(bytes: Buffer): Buffer {
  if (bytes.length > FILE_BYTES_MAX)
    throw new Error(`file too large: it may have ${FILE_BYTES_MAX} bytes`)
  return bytes
}

/** Reads files that are named by flags or configuration files. Error messages are those of Go. */
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import type { FileFault } from './decode-file.ts'
import { goFileError } from './go-file-error.ts'

/**
 * Maximum size of a file. Certificates, tokens, policies and configurations are far smaller. Larger
 * files could exhaust the memory, or exceed the maximum length of a JavaScript string (512 MiB).
 * kube-apiserver has no limit.
 */
export const FILE_BYTES_MAX = 16 << 20
const CHUNK_BYTES = 64 << 10

/** Reads a file at startup, synchronously. */
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

/** Reads a file while the server runs. Rejects if the file cannot be read or is too large. */
export async function rereadBytes(path: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  // Read up to one byte more than the maximum, to detect that the file is too large.
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
    throw new Error(`file too large: at most ${FILE_BYTES_MAX} bytes are allowed`)
  return bytes
}

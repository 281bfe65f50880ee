/** Reads the body of a request, within its limits of size and time. */
import type { Readable } from 'node:stream'
import { badRequest, bodyTooLarge } from '../api/errors.ts'
import type { Limits } from './limits.ts'

const empty = Buffer.alloc(0)

/** Fails with an ApiError. Then the rest of the body is not read: the caller gets rid of it. */
export function readBody(readable: Readable, { bodyBytesMax, bodyMsMax }: Limits): Promise<Buffer> {
  if (readable.readableEnded) return Promise.resolve(empty)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const stop = (): void => {
      clearTimeout(timer)
      readable.off('data', onData).off('end', onEnd).off('close', onClose)
    }
    const fail = (error: Error): void => {
      stop()
      readable.pause()
      reject(error)
    }
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes <= bodyBytesMax) chunks.push(chunk)
      else fail(bodyTooLarge(bodyBytesMax))
    }
    const onEnd = (): void => {
      stop()
      const [only] = chunks
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes))
    }
    const onClose = (): void => fail(badRequest('the connection ended before the body did'))
    const timer = setTimeout(() => fail(badRequest('the body did not come in time')), bodyMsMax)
    if (readable.destroyed) onClose()
    else readable.on('data', onData).on('end', onEnd).on('close', onClose)
  })
}

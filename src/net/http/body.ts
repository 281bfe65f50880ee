/**
 * Reads the body of a request. Limits the size of the body and the time that the body may take to
 * arrive.
 */
import { badRequest, bodyTooLarge, noMemory } from '../../api/errors.ts'
import type { BodyListener } from '../http2/server-stream.ts'
import { GrowingBuffer } from '../../lib/bytes/growing-buffer.ts'
import type { Limits } from './limits.ts'

export interface BodySource {
  /** Whether there is data to read, or more data can arrive. */
  readonly hasBody: boolean
  readonly read: (listener: BodyListener) => void
  /** Discards the rest of the body. */
  readonly drop: () => void
}

export type BodyLimits = Pick<Limits, 'bodyBytesMax' | 'bodyMsMax'> & {
  /**
   * Called before bytes are stored. Returns false if this would exceed the memory budget. If
   * undefined, memory is not limited.
   */
  readonly hasRoom?: ((bytes: number) => boolean) | undefined
}

/**
 * Reads the whole body. If the returned promise rejects, the reason is an ApiError, and the rest of
 * the body stays unread.
 */
export function readBody(
  source: BodySource,
  { bodyBytesMax, bodyMsMax, hasRoom }: BodyLimits,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const received = new GrowingBuffer()
    let timer: NodeJS.Timeout | undefined
    let isOver = false
    const stop = (): boolean => {
      if (isOver) return false
      isOver = true
      clearTimeout(timer)
      return true
    }
    const fail = (error: Error): void => {
      if (!stop()) return
      source.drop()
      reject(error)
    }
    source.read({
      onData: (chunk) => {
        if (received.length + chunk.length > bodyBytesMax) fail(bodyTooLarge(bodyBytesMax))
        else if (hasRoom?.(chunk.length) === false) fail(noMemory())
        else received.append(chunk)
      },
      onEnd: () => {
        if (stop()) resolve(received.take())
      },
      onClose: () => fail(badRequest('the connection ended before the body did')),
    })
    // No timer is needed for a body that has already arrived, which is the usual case.
    if (!isOver)
      timer = setTimeout(() => fail(badRequest('the body did not arrive in time')), bodyMsMax)
  })
}

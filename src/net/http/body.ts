/** Reads the body of a request, within its limits of size and time. */
import { badRequest, bodyTooLarge, noMemory } from '../../api/errors.ts'
import type { BodyListener } from '../http2/server-stream.ts'
import { GrowingBuffer } from '../../lib/bytes/growing-buffer.ts'
import type { Limits } from './limits.ts'

export interface BodySource {
  /** Whether there is something to read, or more may arrive. */
  readonly hasBody: boolean
  readonly read: (listener: BodyListener) => void
  /** Discards the rest of the body. */
  readonly drop: () => void
}

export type BodyLimits = Pick<Limits, 'bodyBytesMax' | 'bodyMsMax'> & {
  /**
   * Called before bytes are kept. Returns false if there is no room. If undefined, there always is.
   */
  readonly hasRoom?: ((bytes: number) => boolean) | undefined
}

/** Reads a whole body. Rejects with an ApiError, and then does not read the rest of the body. */
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
    // Most bodies have arrived by now and need no timer.
    if (!isOver)
      timer = setTimeout(() => fail(badRequest('the body did not arrive in time')), bodyMsMax)
  })
}

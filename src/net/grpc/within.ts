/**
 * Functions that wait before a request is sent. They fail if the deadline of the call expires or
 * its signal is aborted first. If they fail, nothing has been sent.
 */
import type { GrpcConnection } from './connection.ts'
import { GrpcError } from './errors.ts'

/** Waits for a free stream of the connection, and reserves it. */
export async function acquire(
  connection: GrpcConnection,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isTaken = false
  const leave = connection.waitForStream(() => {
    isTaken = true
    resolve()
  })
  try {
    await within(promise, timeoutMs, signal)
  } catch (error) {
    if (isTaken) connection.release()
    else leave()
    throw error
  }
}

/**
 * Settles with the result of the promise. Rejects if the timeout expires or the signal is aborted
 * first.
 */
export function within<T>(
  promise: Promise<T>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      promise.catch(() => undefined)
      return reject(cancelled(signal))
    }
    const onAbort = (): void => settle(() => reject(cancelled(signal)))
    const timer = setTimeout(
      () => {
        settle(() => reject(new GrpcError('DeadlineExceeded', 'no connection within the deadline')))
      },
      Math.max(0, timeoutMs),
    )
    const settle = (act: () => void): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      act()
    }
    signal?.addEventListener('abort', onAbort)
    promise.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    )
  })
}

export function cancelled(signal: AbortSignal | undefined): GrpcError {
  return new GrpcError('Cancelled', 'the caller cancelled', { cause: signal?.reason })
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

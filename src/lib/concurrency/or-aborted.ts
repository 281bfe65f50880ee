/**
 * Waits for the promise, but rejects as soon as the signal is aborted. The error is then the result
 * of `why`, or by default the reason of the signal, and a later result of the promise is ignored.
 */
export async function orAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  why: () => unknown = () => signal?.reason,
): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(why())
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted === true) onAbort()
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

/**
 * Waits for the promise. Rejects as soon as the signal is aborted, with the result of `why`, by
 * default the signal's reason. The outcome of the promise is then ignored.
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

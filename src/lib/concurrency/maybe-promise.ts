/**
 * A value, or a promise of a value. Each `await` passes through the microtask queue, so awaiting an
 * available value costs more than most steps of a request. Functions that rarely wait therefore
 * return a MaybePromise.
 */
import { assert } from '../errors.ts'

export type MaybePromise<T> = T | Promise<T>

/** Calls `step` with the value. The call is synchronous unless the value is a promise. */
export const thenMaybe = <T, R>(
  value: MaybePromise<T>,
  step: (value: T) => MaybePromise<R>,
): MaybePromise<R> => (value instanceof Promise ? value.then(step) : step(value))

/**
 * Work that may have to wait several times, written as a generator in which `yield*
 * awaitMaybe(value)` replaces `await value`.
 */
export type MaybeAsync<T> = Generator<Promise<void>, T, void>

/** Returns the value. Yields only if the value is a promise. Throws if the promise is rejected. */
export function* awaitMaybe<T>(value: MaybePromise<T>): MaybeAsync<T> {
  if (!(value instanceof Promise)) return value
  const settled: { result: { readonly value: T } | undefined } = { result: undefined }
  yield value.then((result) => {
    settled.result = { value: result }
  })
  assert(settled.result !== undefined, 'the promise is fulfilled')
  return settled.result.value
}

/** Runs the work. Returns a promise only if the work has to wait. */
export function runMaybeAsync<T>(work: MaybeAsync<T>): MaybePromise<T> {
  const first = work.next()
  return first.done === true ? first.value : continueAsync(work, first.value)
}

async function continueAsync<T>(work: MaybeAsync<T>, first: Promise<void>): Promise<T> {
  let waiting = first
  for (;;) {
    const next = await waiting.then(
      () => work.next(),
      (error: unknown) => work.throw(error),
    )
    if (next.done === true) return next.value
    waiting = next.value
  }
}

/**
 * Work that waits only where something takes time. An async function returns to the event loop at each `await`, even for a value that is
 * there: dozens of these cost a request more than the work between them. Such work is written as a generator instead, and is over at once
 * unless a promise comes up.
 */
import { assert } from './assert.ts'

export type Waits<T> = Generator<Promise<void>, T, void>

/** `const value = yield* wait(later)`, as `await` in an async function; a rejection is thrown. */
export function* wait<T>(value: T | Promise<T>): Waits<T> {
  if (!(value instanceof Promise)) return value
  const settled: { result: { readonly value: T } | undefined } = { result: undefined }
  yield value.then((result) => {
    settled.result = { value: result }
  })
  assert(settled.result !== undefined, 'the promise is fulfilled')
  return settled.result.value
}

/** A promise only if the work has to wait. */
export function nowOrLater<T>(work: Waits<T>): T | Promise<T> {
  const first = work.next()
  return first.done === true ? first.value : later(work, first.value)
}

async function later<T>(work: Waits<T>, first: Promise<void>): Promise<T> {
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

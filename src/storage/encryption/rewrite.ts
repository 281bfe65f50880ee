/**
 * Rewrites every value that is not encrypted as the configuration requires, by means of updates
 * that change nothing else. Each write compares the revision, so servers can continue to run. The
 * rewrite can be stopped and started again, because values that are already encrypted as required
 * are skipped.
 */
import { StorageError } from '../errors.ts'
import type { Key } from '../engine.ts'
import { rangeOf } from '../keys.ts'
import type { Store, StoredValue } from '../store.ts'

/** Maximum number of concurrent writes. */
const WRITES_AT_ONCE = 32

export type RewriteOptions = {
  /** The prefix of all keys. */
  readonly root: Key
  /** Returns the time to live for a write of this key, or undefined if the key does not expire. */
  readonly ttlSecondsOf: (key: Key) => number | undefined
  readonly onProgress?: (done: RewriteResult) => void
  readonly signal?: AbortSignal
}

export type RewriteResult = {
  readonly keys: number
  readonly rewritten: number
  /** Keys of values that cannot be read, with the error messages. */
  readonly unreadable: readonly { readonly key: Key; readonly why: string }[]
}

export async function rewriteStale(store: Store, options: RewriteOptions): Promise<RewriteResult> {
  const { root, onProgress, signal } = options
  const range = rangeOf(root)
  const unreadable: { key: Key; why: string }[] = []
  let [keys, rewritten] = [0, 0]
  // Pages do not have to be consistent, because other writers also encrypt as configured.
  for await (const page of store.walk(range, {
    setsAsideUnreadable: true,
    isEachLatest: true,
    signal,
  })) {
    keys += page.values.length + page.unreadable.length
    for (const { key, error } of page.unreadable) unreadable.push({ key, why: error.message })
    const stale = page.values.filter((value) => value.stale)
    for (let from = 0; from < stale.length; from += WRITES_AT_ONCE) {
      const some = stale.slice(from, from + WRITES_AT_ONCE)
      const outcomes = await Promise.all(some.map((value) => rewrite(store, value, options)))
      rewritten += outcomes.filter(Boolean).length
      onProgress?.({ keys, rewritten, unreadable })
    }
    onProgress?.({ keys, rewritten, unreadable })
  }
  return { keys, rewritten, unreadable }
}

/** Rewrites one value. Returns false if the value was written or deleted in the meantime. */
async function rewrite(
  store: Store,
  { key }: StoredValue,
  { ttlSecondsOf, signal }: RewriteOptions,
): Promise<boolean> {
  const ttlSeconds = ttlSecondsOf(key)
  try {
    const { outcome } = await store.update(
      key,
      { decode: () => undefined, ttlSeconds, signal },
      () => 'unchanged',
    )
    return outcome === 'put'
  } catch (error) {
    // The value has become unreadable. The next run reports it.
    if (error instanceof StorageError && error.code === 'corrupt') return false
    throw error
  }
}

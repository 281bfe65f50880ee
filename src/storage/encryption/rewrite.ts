/**
 * Writes every value again that is not encrypted as the configuration says, as an update without a
 * change would. Each write compares the revision, so servers may go on meanwhile, and it may be
 * stopped and begun again: what is done is not stale any more.
 */
import { StorageError } from '../errors.ts'
import type { Key } from '../engine.ts'
import { rangeOf } from '../keys.ts'
import type { Store, StoredValue } from '../store.ts'

/** Values that are written at the same time. */
const WRITES_AT_ONCE = 32

export type RewriteOptions = {
  /** What all keys begin with. */
  readonly root: Key
  /** How long a value of this key lives, which a write begins anew; undefined: for good. */
  readonly ttlSecondsOf: (key: Key) => number | undefined
  readonly onProgress?: (done: RewriteResult) => void
  readonly signal?: AbortSignal
}

export type RewriteResult = {
  readonly keys: number
  readonly rewritten: number
  /** Keys of values that cannot be read. */
  readonly unreadable: readonly { readonly key: Key; readonly why: string }[]
}

export async function rewriteStale(store: Store, options: RewriteOptions): Promise<RewriteResult> {
  const { root, onProgress, signal } = options
  const range = rangeOf(root)
  const unreadable: { key: Key; why: string }[] = []
  let [keys, rewritten] = [0, 0]
  // What is written meanwhile is encrypted by who writes it.
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

/** False: somebody else has written or deleted it meanwhile. */
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
    // It has become unreadable, which the next run tells.
    if (error instanceof StorageError && error.code === 'corrupt') return false
    throw error
  }
}

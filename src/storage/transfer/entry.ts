/** What moves between stores: the keys of a cluster at one revision. */
import { createHash } from 'node:crypto'
import type { Key, Revision } from '../engine.ts'
import { toBytes } from '../keys.ts'

export type Entry = {
  readonly key: Key
  readonly value: Uint8Array
  /** Of its last change; a store whose counter is its own gives another one. */
  readonly revision: Revision
  readonly created: Revision
  /** 0n: none. */
  readonly lease: bigint
}

export type LeaseLeft = {
  readonly id: bigint
  readonly ttlSeconds: number
  readonly leftSeconds: number
}

/** A cluster at one revision. */
export interface Source extends AsyncDisposable {
  readonly revision: Revision
  /** In the order of keys; a page is some megabytes at the most. */
  pages(): AsyncIterable<readonly Entry[]>
  /** Leases that have ended meanwhile have no time left. */
  readLease(id: bigint): Promise<LeaseLeft>
}

export type Summary = { readonly keys: number; readonly sha256: string }

/**
 * Of keys and values, not of revisions and leases: it is the same in every store that has the same
 * objects.
 */
export class Digest {
  readonly #hash = createHash('sha256')
  #keys = 0

  add(key: Key, value: Uint8Array): void {
    const bytes = toBytes(key)
    const lengths = Buffer.allocUnsafe(8)
    lengths.writeUInt32BE(bytes.length, 0)
    lengths.writeUInt32BE(value.length, 4)
    this.#hash.update(lengths).update(bytes).update(value)
    this.#keys++
  }

  end(): Summary {
    return { keys: this.#keys, sha256: this.#hash.digest('hex') }
  }
}

export async function summarize(source: Source): Promise<Summary> {
  const digest = new Digest()
  for await (const page of source.pages()) for (const { key, value } of page) digest.add(key, value)
  return digest.end()
}

export function compareSummaries(found: Summary, expected: Summary): void {
  if (found.sha256 === expected.sha256 && found.keys === expected.keys) return
  throw new Error(
    `what was stored is not what was read: ${found.keys} keys with sha256 ${found.sha256}, not ${expected.keys} with ${expected.sha256}`,
  )
}

/** The data that is transferred between stores: the keys of a cluster at one revision. */
import { createHash } from 'node:crypto'
import type { Key, Revision } from '../engine.ts'
import { toBytes } from '../keys.ts'

export type Entry = {
  readonly key: Key
  readonly value: Uint8Array
  /** The revision of the last change. A store with its own revision counter assigns another one. */
  readonly revision: Revision
  readonly created: Revision
  /** The ID of the lease. 0n means that there is no lease. */
  readonly lease: bigint
}

export type LeaseLeft = {
  readonly id: bigint
  readonly ttlSeconds: number
  readonly leftSeconds: number
}

/** A source of keys: a cluster at one revision. */
export interface Source extends AsyncDisposable {
  readonly revision: Revision
  /** Yields entries in key order. A page has at most a few megabytes. */
  pages(): AsyncIterable<readonly Entry[]>
  /** Returns a lease. If the lease has expired in the meantime, its remaining time is 0. */
  readLease(id: bigint): Promise<LeaseLeft>
}

export type Summary = { readonly keys: number; readonly sha256: string }

/**
 * A hash of keys and values, but not of revisions and leases. All stores with the same objects have
 * the same hash.
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
    `the stored data differs from the export: ${found.keys} keys with sha256 ${found.sha256}, not ${expected.keys} with ${expected.sha256}`,
  )
}

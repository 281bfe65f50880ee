/** Converts rows of the SQLite tables to values. */
import type { Key, Revision } from '../engine.ts'
import { StorageError } from '../errors.ts'
import { fromBytes } from '../keys.ts'

export type StoredVersion = {
  readonly key: Key
  readonly revision: Revision
  readonly created: Revision
  readonly value: Uint8Array
}

/** A change of a key. `value` is undefined for a deletion. */
export type StoredEvent = {
  readonly key: Key
  readonly revision: Revision
  readonly created: Revision
  readonly value: Uint8Array | undefined
  readonly previous?: StoredVersion | undefined
}

export type SqlRow = Readonly<Record<string, unknown>>

export const nothing = new Uint8Array(0)

export function versionOf(row: SqlRow): StoredVersion {
  const { key, revision, created, value } = row
  return {
    key: toKey(bytesOf(key)),
    revision: Number(revision),
    created: Number(created),
    value: value === undefined ? nothing : bytesOf(value),
  }
}

export const keyOf = ({ key }: SqlRow): Key => toKey(bytesOf(key))

const toKey = (bytes: Uint8Array): Key =>
  fromBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))

export function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new StorageError('corrupt', 'the database has a value that is not bytes')
}

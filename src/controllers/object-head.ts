/**
 * The metadata that controllers need of any object: its uid, finalizers and owners, and whether it
 * is being deleted. It is read from the JSON of the object without decoding other fields.
 */
import { hash } from 'node:crypto'
import { parseText } from '../api/json-value.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type ObjectMeta,
  textOf,
  textsOf,
} from '../api/object.ts'
import type { Item } from '../storage/cache/item.ts'
import { endOfString, endOfValue } from '../objects/codec/json-bytes.ts'
import { QUOTE } from '../lib/bytes/ascii.ts'

/**
 * Minimum size of an object that may have too many owners to parse them within a time slice. The
 * metadata of such an object is cached with its item.
 */
const LONG_BYTES = 32 << 10
/** If there are at most this many owner references, they are parsed immediately. */
const FEW_OWNERS_MAX = 100

export type OwnerReference = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly blocks: boolean
  /** All fields of the owner reference, as stored in the object. */
  readonly fields: Fields
}

export type ObjectHead = {
  readonly uid: string
  /** Whether the object has a deletionTimestamp. */
  readonly isMarked: boolean
  readonly finalizers: readonly string[]
  readonly owners: readonly OwnerReference[]
  /**
   * A digest of the owner references. Objects with the same digest have the same references.
   * Undefined if the object has few owners.
   */
  readonly ownersDigest?: string | undefined
}

/** Returns the metadata of an object. Throws a StorageError if it cannot be decoded. */
export function headOf(item: Item): ObjectHead {
  // Use the decoded object if it is available, which is the case for a while after a write.
  const metadata = item.decoded?.metadata
  if (metadata !== undefined && !hasManyOwners(metadata)) return headFrom(metadata)
  if (item.length <= LONG_BYTES) return headFrom(metadata ?? metadataIn(item.listTail()))
  const known = longHeads.get(item)
  if (known !== undefined) return known
  const head = new LongHead(item)
  longHeads.set(item, head)
  return head
}

const longHeads = new WeakMap<Item, ObjectHead>()

/**
 * The metadata of a large object. It is retained longer than the bytes of the item, which the cache
 * may move, so it must not refer to these bytes.
 */
class LongHead implements ObjectHead {
  readonly #item: Item
  readonly uid: string
  readonly isMarked: boolean
  readonly finalizers: readonly string[]
  readonly ownersDigest: string | undefined = undefined
  /**
   * The parsed owner references. They are needed only briefly, and occupy more memory than the
   * object, so the reference is weak.
   */
  #owners: WeakRef<readonly OwnerReference[]> | undefined

  constructor(item: Item) {
    this.#item = item
    const fields: Record<string, Json> = {}
    const tail = item.listTail()
    for (const [field, from, to] of metadataMembers(tail)) {
      if (field === 'ownerReferences')
        this.ownersDigest = hash('sha256', tail.subarray(from, to), 'base64')
      else if (wanted.has(field)) fields[field] = parseText(tail.toString('utf8', from, to))
    }
    const { uid, isMarked, finalizers } = headFrom(fields)
    this.uid = uid
    this.isMarked = isMarked
    this.finalizers = finalizers
  }

  get owners(): readonly OwnerReference[] {
    if (this.ownersDigest === undefined) return []
    const known = this.#owners?.deref()
    if (known !== undefined) return known
    const owners = ownersFrom(ownersIn(this.#item.listTail()))
    this.#owners = new WeakRef(owners)
    return owners
  }
}

const hasManyOwners = ({ ownerReferences }: ObjectMeta): boolean =>
  Array.isArray(ownerReferences) && ownerReferences.length > FEW_OWNERS_MAX

export const headFrom = (metadata: ObjectMeta | Fields): ObjectHead => ({
  uid: textOf(metadata['uid']),
  isMarked: (metadata['deletionTimestamp'] ?? null) !== null,
  finalizers: textsOf(metadata['finalizers']),
  owners: ownersFrom(metadata['ownerReferences']),
})

const ownersFrom = (references: Json | undefined): readonly OwnerReference[] =>
  itemsOf(references).map((fields) => ({
    apiVersion: textOf(fields['apiVersion']),
    kind: textOf(fields['kind']),
    name: textOf(fields['name']),
    uid: textOf(fields['uid']),
    blocks: fields['blockOwnerDeletion'] === true,
    fields,
  }))

const wanted: ReadonlySet<string> = new Set([
  'uid',
  'deletionTimestamp',
  'finalizers',
  'ownerReferences',
])

/** Parses the metadata of an object. `tail` is the JSON of the object without its opening brace. */
function metadataIn(tail: Buffer): Fields {
  const fields: Record<string, Json> = {}
  for (const [field, from, to] of metadataMembers(tail)) {
    if (wanted.has(field)) fields[field] = parseText(tail.toString('utf8', from, to))
  }
  return fieldsOf(fields)
}

function ownersIn(tail: Buffer): Json | undefined {
  for (const [field, from, to] of metadataMembers(tail)) {
    if (field === 'ownerReferences') return parseText(tail.toString('utf8', from, to))
  }
  return undefined
}

const metadataStart = '"metadata":{'

/** Yields the members of the metadata. In most objects, the metadata is the first field. */
function* metadataMembers(tail: Buffer): Generator<readonly [string, number, number], void, void> {
  if (tail.toString('latin1', 0, metadataStart.length) === metadataStart)
    return yield* members(tail, metadataStart.length)
  for (const [name, start] of members(tail, 0))
    if (name === 'metadata') return yield* members(tail, start + 1)
}

/**
 * Yields the members of a JSON object: the name of each member, and the start and end of its value.
 * `start` is the position after the opening brace.
 */
function* members(
  json: Buffer,
  start: number,
): Generator<readonly [string, number, number], void, void> {
  for (let at = start; json[at] === QUOTE; ) {
    const nameEnd = endOfString(json, at + 1)
    const valueEnd = endOfValue(json, nameEnd + 1)
    yield [json.toString('latin1', at + 1, nameEnd - 1), nameEnd + 1, valueEnd]
    at = valueEnd + 1
  }
}

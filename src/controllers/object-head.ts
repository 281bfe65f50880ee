/**
 * What controllers ask of any object: its uid, whether it is being deleted, its finalizers and owners. Read from the JSON of its metadata
 * without decoding the rest.
 */
import { parseText } from '../api/json-value.ts'
import { type Fields, fieldsOf, itemsOf, type Json, type ObjectMeta, textOf, textsOf } from '../api/object.ts'
import type { Item } from '../cache/item.ts'
import { endOfString, endOfValue } from '../codec/json-bytes.ts'
import { QUOTE } from '../lib/ascii.ts'

export type OwnerReference = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly blocks: boolean
  /** As it is stored. */
  readonly fields: Fields
}

export type ObjectHead = {
  readonly uid: string
  /** Whether it has a deletionTimestamp. */
  readonly isMarked: boolean
  readonly finalizers: readonly string[]
  readonly owners: readonly OwnerReference[]
}

/** Fails with a StorageError for an object that cannot be decoded. */
export function headOf(item: Item): ObjectHead {
  // What was just written is still decoded.
  return headFrom(item.decoded?.metadata ?? metadataIn(item.listTail()))
}

export const headFrom = (metadata: ObjectMeta | Fields): ObjectHead => ({
  uid: textOf(metadata['uid']),
  isMarked: (metadata['deletionTimestamp'] ?? null) !== null,
  finalizers: textsOf(metadata['finalizers']),
  owners: itemsOf(metadata['ownerReferences']).map((fields) => ({
    apiVersion: textOf(fields['apiVersion']),
    kind: textOf(fields['kind']),
    name: textOf(fields['name']),
    uid: textOf(fields['uid']),
    blocks: fields['blockOwnerDeletion'] === true,
    fields,
  })),
})

const wanted: ReadonlySet<string> = new Set(['uid', 'deletionTimestamp', 'finalizers', 'ownerReferences'])

/** `tail`: an object after its opening brace. */
function metadataIn(tail: Buffer): Fields {
  const fields: Record<string, Json> = {}
  for (const [name, start] of members(tail, 0)) {
    if (name !== 'metadata') continue
    for (const [field, from, to] of members(tail, start + 1)) {
      if (wanted.has(field)) fields[field] = parseText(tail.toString('utf8', from, to))
    }
    break
  }
  return fieldsOf(fields)
}

/** The members of an object: name, start and end of the value. `start`: after the opening brace. */
function* members(json: Buffer, start: number): Generator<readonly [string, number, number], void, void> {
  for (let at = start; json[at] === QUOTE; ) {
    const nameEnd = endOfString(json, at + 1)
    const valueEnd = endOfValue(json, nameEnd + 1)
    yield [json.toString('latin1', at + 1, nameEnd - 1), nameEnd + 1, valueEnd]
    at = valueEnd + 1
  }
}

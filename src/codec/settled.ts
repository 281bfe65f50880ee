/**
 * Stored objects that need no decoding: JSON that a server such as this one wrote, in the version that is served and with all defaults. It is
 * what clients see but for its version. After a start that is nearly every object, and all are looked at by the first list.
 */
import { type Fields, isFields, type Json, type KubeObject } from '../api/object.ts'
import type { ObjectSchema } from '../schema/object-schema.ts'
import { endOfValue } from './json-bytes.ts'
import { type Wire, wireOfStored } from './object.ts'
import type { PrintedCheck } from './printed.ts'

/** `object` has all but the managedFields: for who needs to look at it once. */
export type Settled = { readonly wire: Wire; readonly object: KubeObject }

type Kind = {
  readonly kind: string
  readonly apiVersion: string
  readonly schema: ObjectSchema
}

/** Undefined: it must be decoded. */
export function settledWire(
  stored: Buffer,
  { kind, apiVersion, schema }: Kind,
  { check, revision }: { readonly check: PrintedCheck; readonly revision: number },
): Settled | undefined {
  if (schema.custom !== undefined || schema.stored !== undefined) return undefined
  const head = `{"kind":"${kind}","apiVersion":"${apiVersion}",`
  if (stored.toString('latin1', 0, head.length) !== head || !check.isPrinted(stored, schema.struct)) return undefined
  const read = withoutManagedFields(stored)
  if (!isFields(read) || !isFields(read['metadata'])) return undefined
  const { metadata } = read
  // The version goes between these two.
  if (metadata['resourceVersion'] !== undefined || metadata['uid'] === undefined) return undefined
  if (metadata['creationTimestamp'] === undefined) return undefined
  const object: KubeObject = { ...read, kind, apiVersion, metadata }
  const defaulted = schema.setDefaults(object)
  if (!isUnchanged(schema.completeStored?.(defaulted) ?? defaulted, object)) return undefined
  const numbered = { ...object, metadata: { ...metadata, resourceVersion: `${revision}` } }
  const wire = wireOfStored(stored, numbered, schema)
  return wire && { wire, object: numbered }
}

/** A third of an object, and nobody looks at it. It is the last field of the metadata: quotes inside strings are escaped, so this finds a key. */
function withoutManagedFields(json: Buffer): Json {
  const start = json.indexOf(',"managedFields":[')
  // All numbers have been found to be small.
  if (start === -1) return JSON.parse(json.toString('utf8'))
  const end = endOfValue(json, start + ',"managedFields":'.length)
  return JSON.parse(json.toString('utf8', 0, start) + json.toString('utf8', end))
}

/** To the letter: an empty struct is not the same as none. */
function isUnchanged(now: Json | undefined, before: Json | undefined): boolean {
  if (now === before) return true
  if (Array.isArray(now) && Array.isArray(before)) {
    return now.length === before.length && now.every((item: Json, at) => isUnchanged(item, before[at]))
  }
  return isFields(now) && isFields(before) && areUnchanged(now, before)
}

function areUnchanged(now: Fields, before: Fields): boolean {
  let others = 0
  for (const key of Object.keys(now)) {
    if (now[key] === undefined) others++
    else if (!isUnchanged(now[key], before[key])) return false
  }
  return Object.keys(now).length - others === Object.keys(before).length
}

/**
 * Recognizes stored objects that need not be decoded: their JSON was printed by Keelson, and has
 * the expected version and all defaults. The JSON for clients is the same, with resourceVersion
 * added. Nearly all stored objects are of this kind. The first list after a start reads all of
 * them.
 */
import { hasEscapedKey } from '../../api/json-value.ts'
import { type Fields, isFields, type Json, type KubeObject } from '../../api/object.ts'
import type { ObjectSchema } from '../schema/object-schema.ts'
import { endOfValue } from './json-bytes.ts'
import { type Wire, wireOfStored } from './object.ts'
import type { PrintedCheck } from './printed.ts'

/**
 * A stored object that need not be decoded. `wire` is its JSON for clients. `object` lacks
 * managedFields, and is for callers that read it only once.
 */
type CanonicalObject = { readonly wire: Wire; readonly object: KubeObject }

type Kind = {
  readonly kind: string
  readonly apiVersion: string
  readonly schema: ObjectSchema
}

/** Returns the JSON for clients of a stored object, or undefined if the object must be decoded. */
export function settledWire(
  stored: Buffer,
  { kind, apiVersion, schema }: Kind,
  { check, revision }: { readonly check: PrintedCheck; readonly revision: number },
): CanonicalObject | undefined {
  if (schema.custom !== undefined || schema.stored !== undefined) return undefined
  const head = `{"kind":"${kind}","apiVersion":"${apiVersion}",`
  if (stored.toString('latin1', 0, head.length) !== head || !check.isPrinted(stored, schema.struct))
    return undefined
  const object = readShown(stored)
  if (object === undefined) return undefined
  const { resourceVersion, uid, creationTimestamp } = object.metadata
  // resourceVersion is inserted after the uid and before another field. So a field such as
  // creationTimestamp must follow the uid.
  if (resourceVersion !== undefined || creationTimestamp === undefined) return undefined
  // The uid must not contain escape sequences, because its end is found by searching for a quote.
  if (typeof uid !== 'string' || /["\\]/.test(uid)) return undefined
  const defaulted = schema.setDefaults(object)
  if (!isUnchanged(schema.completeStored?.(defaulted) ?? defaulted, object)) return undefined
  const numbered = { ...object, metadata: { ...object.metadata, resourceVersion: `${revision}` } }
  const wire = wireOfStored(stored, numbered, schema)
  return wire && { wire, object: numbered }
}

/**
 * Parses JSON that was printed by Keelson, without its managedFields. The result is only for
 * callers that read it once. Numbers with more than 15 digits can be inexact.
 */
export function readShown(json: Buffer): KubeObject | undefined {
  const read = withoutManagedFields(json)
  if (!isFields(read)) return undefined
  const { kind, apiVersion, metadata } = read
  if (typeof kind !== 'string' || typeof apiVersion !== 'string' || !isFields(metadata))
    return undefined
  return { ...read, kind, apiVersion, metadata }
}

/**
 * Parses JSON without managedFields, which are about a third of an object and are not needed here.
 * They are the last field of the metadata. The search always finds the key and never a part of a
 * string, because quotes inside strings are escaped.
 */
function withoutManagedFields(json: Buffer): Json | undefined {
  const start = json.indexOf(',"managedFields":[')
  const end = start === -1 ? -1 : endOfValue(json, start + ',"managedFields":'.length)
  const text =
    start === -1
      ? json.toString('utf8')
      : json.toString('utf8', 0, start) + json.toString('utf8', end)
  try {
    return hasEscapedKey(text) ? undefined : JSON.parse(text)
  } catch {
    // The JSON is malformed. The decoder, which is used next, reports the error.
    return undefined
  }
}

/** Whether two values are exactly equal. An empty struct is not equal to an absent one. */
function isUnchanged(now: Json | undefined, before: Json | undefined): boolean {
  if (now === before) return true
  if (Array.isArray(now) && Array.isArray(before)) {
    return (
      now.length === before.length && now.every((item: Json, at) => isUnchanged(item, before[at]))
    )
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

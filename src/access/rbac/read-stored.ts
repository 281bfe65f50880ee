/**
 * Reads roles and bindings from their stored bytes. At startup, a server reads all of them before
 * it accepts requests. The decoder that other objects pass through would take three times as long.
 * It is used only for objects that this server would have stored in a different form, and rejects
 * malformed objects.
 */
import { parseText } from '../../api/json-value.ts'
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { contentOf } from '../../storage/cache/informer.ts'
import type { Item } from '../../storage/cache/item.ts'
import { endOfValue } from '../../objects/codec/json-bytes.ts'
import { COMMA } from '../../lib/bytes/ascii.ts'
import { isPlainMetadata, isText } from './plain-metadata.ts'
import { rbacGroup } from './role.ts'

/**
 * Creates a function that returns the fields after the metadata of a stored object. The function
 * throws a StorageError if the object is malformed.
 */
export function createReadContent(kind: string): (item: Item) => Fields {
  const head = `{"kind":"${kind}","apiVersion":"${rbacGroup}/v1","metadata":`
  return (item) => (item.isLarge ? undefined : storedContent(item.stored, head)) ?? contentOf(item)
}

function storedContent(stored: Buffer | undefined, head: string): Fields | undefined {
  if (stored === undefined || stored.toString('latin1', 0, head.length) !== head) return undefined
  const end = endOfValue(stored, head.length)
  // If the metadata cannot be decoded, clients cannot see the object, so it must not grant
  // permissions.
  if (stored[end] !== COMMA || !isPlainMetadata(stored.toString('utf8', head.length, end)))
    return undefined
  const content = parsed(`{${stored.toString('utf8', end + 1)}`)
  return isFields(content) && Object.entries(content).every(([name, value]) => isPlain(name, value))
    ? content
    : undefined
}

function parsed(text: string): Json | undefined {
  try {
    return parseText(text)
  } catch {
    // The text is not valid JSON. The caller then uses the decoder, which reports the error.
    return undefined
  }
}

function isPlain(name: string, value: Json | undefined): boolean {
  if (name === 'roleRef') return isFields(value) && Object.values(value).every(isText)
  if (!Array.isArray(value)) return false
  if (name === 'subjects')
    return value.every((one) => isFields(one) && Object.values(one).every(isText))
  if (name !== 'rules') return false
  return value.every(
    (rule) =>
      isFields(rule) &&
      Object.values(rule).every((list) => Array.isArray(list) && list.every(isText)),
  )
}

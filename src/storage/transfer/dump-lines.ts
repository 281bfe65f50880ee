/**
 * The file of an export: a JSON document a line. The first says what it is, then follow leases and
 * keys, a lease before the first key that has it, keys in their order; the last line has their
 * number and hash. docs/storage.md has the fields.
 */
import { isUtf8 } from 'node:buffer'
import type { Key, Revision } from '../engine.ts'
import { TTL_SECONDS_MAX } from '../etcd-rules.ts'
import { toBytes, toKey, toText } from '../keys.ts'
import type { Entry, LeaseLeft, Summary } from './entry.ts'

const FORMAT = 1

export type DumpHead = { readonly prefix: Key; readonly revision: Revision }

/** `lines`: the hash of all lines before this one. */
export type DumpEnd = Summary & { readonly lines: string }

export type DumpLine =
  | ({ readonly kind: 'head' } & DumpHead)
  | ({ readonly kind: 'lease' } & LeaseLeft)
  | ({ readonly kind: 'entry' } & Entry)
  | ({ readonly kind: 'end' } & DumpEnd)

export function printHead({ prefix, revision }: DumpHead, nowMs: number): string {
  const exported = new Date(nowMs).toISOString()
  return line({ keelson: 'store', format: FORMAT, prefix: toText(prefix), revision, exported })
}

export const printLease = ({ id, ttlSeconds, leftSeconds }: LeaseLeft): string =>
  line({ lease: String(id), ttl: ttlSeconds, left: leftSeconds })

export function printEntry({ key, value, revision, created, lease }: Entry): string {
  const text = toText(key)
  const named = toKey(text) === key ? { key: text } : { keyBase64: toBytes(key).toString('base64') }
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
  const content = isUtf8(bytes)
    ? { value: bytes.toString('utf8') }
    : { base64: bytes.toString('base64') }
  return line({
    ...named,
    revision,
    created,
    ...(lease !== 0n && { lease: String(lease) }),
    ...content,
  })
}

export const printEnd = (end: DumpEnd): string => line({ end })

const line = (document: object): string => `${JSON.stringify(document)}\n`

/** Fails with what is wrong with the line. */
export function readLine(text: string): DumpLine {
  const fields = parse(text)
  if ('keelson' in fields) return readHead(fields)
  if (fields['end'] !== undefined) return readEnd(fields['end'])
  if ('key' in fields || 'keyBase64' in fields) return readEntry(fields)
  if ('lease' in fields) {
    const { lease, ttl, left } = fields
    return {
      kind: 'lease',
      id: idOf(lease),
      ttlSeconds: ttlOf(ttl, 'ttl'),
      leftSeconds: ttlOf(left, 'left'),
    }
  }
  throw new Error('it is none of an export')
}

type Fields = Readonly<Record<string, unknown>>

function parse(text: string): Fields {
  const document = parseJson(text)
  if (!isFields(document)) throw new Error('it is no JSON object')
  return document
}

/** What the parser says has parts of the line, which may be a Secret. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('it is no JSON')
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function readHead({ keelson, format, prefix, revision }: Fields): DumpLine {
  if (keelson !== 'store') throw new Error('it is no export of a store')
  if (format !== FORMAT)
    throw new Error(`format ${String(format)} is not known here: use the Keelson that wrote it`)
  const folder = toKey(textOf(prefix, 'prefix'))
  // An import replaces what is below it.
  if (!folder.startsWith('/') || !folder.endsWith('/'))
    throw new Error('prefix is no folder of keys')
  return { kind: 'head', prefix: folder, revision: countOf(revision, 'revision') }
}

function readEnd(end: unknown): DumpLine {
  if (!isFields(end)) throw new Error('end is no object')
  const { keys, sha256, lines } = end
  return {
    kind: 'end',
    keys: countOf(keys, 'keys'),
    sha256: textOf(sha256, 'sha256'),
    lines: textOf(lines, 'lines'),
  }
}

function readEntry({ key, keyBase64, value, base64, revision, created, lease }: Fields): DumpLine {
  return {
    kind: 'entry',
    key:
      key === undefined
        ? Buffer.from(textOf(keyBase64, 'keyBase64'), 'base64').toString('latin1')
        : toKey(textOf(key, 'key')),
    value:
      value === undefined
        ? Buffer.from(textOf(base64, 'base64'), 'base64')
        : Buffer.from(textOf(value, 'value')),
    revision: countOf(revision, 'revision'),
    created: countOf(created, 'created'),
    lease: lease === undefined ? 0n : idOf(lease),
  }
}

function textOf(value: unknown, field: string): string {
  if (typeof value !== 'string') throw new Error(`${field} is no text`)
  return value
}

function countOf(value: unknown, field: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new Error(`${field} is no whole number`)
  return value
}

/** Seconds. When a longer one ends is no time that a store can hold. */
function ttlOf(value: unknown, field: string): number {
  const seconds = countOf(value, field)
  if (seconds > TTL_SECONDS_MAX) throw new Error(`${field} is more than etcd grants`)
  return seconds
}

function idOf(value: unknown): bigint {
  const text = textOf(value, 'lease')
  if (!/^\d{1,19}$/.test(text)) throw new Error('lease is no number')
  return BigInt(text)
}

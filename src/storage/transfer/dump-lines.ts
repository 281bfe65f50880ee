/**
 * The lines of an export file. Each line is a JSON document. The first line describes the export.
 * Leases and keys follow: a lease comes before the first key attached to it, and keys are sorted.
 * The last line contains the number of keys and the hashes. docs/storage.md describes the fields.
 */
import { isUtf8 } from 'node:buffer'
import type { Key, Revision } from '../engine.ts'
import { TTL_SECONDS_MAX } from '../etcd-rules.ts'
import { toBytes, toKey, toText } from '../keys.ts'
import type { Entry, LeaseLeft, Summary } from './entry.ts'

const FORMAT = 1

export type DumpHead = { readonly prefix: Key; readonly revision: Revision }

/** The last line. `lines` is the hash of all previous lines. */
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

/** Parses a line. If this fails, the error message explains why the line is invalid. */
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
  throw new Error('it is not a line of an export')
}

type Fields = Readonly<Record<string, unknown>>

function parse(text: string): Fields {
  const document = parseJson(text)
  if (!isFields(document)) throw new Error('it is not a JSON object')
  return document
}

/**
 * Parses JSON. The error of JSON.parse is discarded, because its message quotes the text, which may
 * be a Secret.
 */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function readHead({ keelson, format, prefix, revision }: Fields): DumpLine {
  if (keelson !== 'store') throw new Error('it is not an export of a store')
  if (format !== FORMAT)
    throw new Error(`format ${String(format)} is not supported: use the Keelson that wrote it`)
  const folder = toKey(textOf(prefix, 'prefix'))
  // The format of the prefix is checked because an import replaces everything below the prefix.
  if (!folder.startsWith('/') || !folder.endsWith('/'))
    throw new Error('prefix must begin and end with a slash')
  return { kind: 'head', prefix: folder, revision: countOf(revision, 'revision') }
}

function readEnd(end: unknown): DumpLine {
  if (!isFields(end)) throw new Error('end is not an object')
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
  if (typeof value !== 'string') throw new Error(`${field} is not a string`)
  return value
}

function countOf(value: unknown, field: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new Error(`${field} is not a whole number`)
  return value
}

/** Reads a time to live in seconds. Throws if it exceeds the maximum that etcd allows. */
function ttlOf(value: unknown, field: string): number {
  const seconds = countOf(value, field)
  if (seconds > TTL_SECONDS_MAX) throw new Error(`${field} is longer than any lease of etcd`)
  return seconds
}

function idOf(value: unknown): bigint {
  const text = textOf(value, 'lease')
  if (!/^\d{1,19}$/.test(text)) throw new Error('lease is not a number')
  return BigInt(text)
}

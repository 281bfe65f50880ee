/**
 * Objects to bytes and back, by the shape of their kind. Printing decides what an object is: fields in declared order,
 * map keys sorted, empty ones left out where Go leaves them out, unknown ones dropped.
 */
import { type Fields, fieldsOf, isFields, type Json, type KubeObject } from '../api/object.ts'
import type { Field, Shape, Struct } from '../api/shape.ts'
import { assert } from '../lib/assert.ts'
import { checkShape, prune } from './shape.ts'
import { compareKeys, parseJson, printOrdered, printString } from './json.ts'

/** An object as clients see it, with the places that differ by use. */
export type Wire = {
  /** JSON and a newline. */
  readonly bytes: Buffer
  /** The length of `{"kind":…,"apiVersion":…,`, which items of lists of built-in kinds do without. */
  readonly headBytes: number
  /** Where the first digit of metadata.resourceVersion stands: a DELETED event shows another version. */
  readonly versionAt: number
}

const versionKey = '"resourceVersion":"'

/** `object.metadata.resourceVersion` must be set. */
export function printWire(object: KubeObject, shape: Struct): Wire {
  const head = printHead(object)
  const bytes = Buffer.from(`${head}${printFields(object, shape.fields)}}\n`, 'utf8')
  const headBytes = Buffer.byteLength(head)
  // Quotes inside strings are escaped, so this finds a key; and no key comes earlier that could have this name.
  const keyAt = bytes.indexOf(versionKey, headBytes)
  assert(keyAt !== -1, 'an object on the wire has a resourceVersion')
  return { bytes, headBytes, versionAt: keyAt + versionKey.length }
}

/** The stored form is that of the wire without the resourceVersion: the database itself keeps that. */
export function encodeStored(object: KubeObject, shape: Struct): Buffer {
  const { resourceVersion: _, ...metadata } = object.metadata
  const stored = { ...object, metadata }
  return Buffer.from(`${printHead(stored)}${printFields(stored, shape.fields)}}\n`, 'utf8')
}

/** A stored value that this server cannot read. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
}

const protobufPrefix = Buffer.from('k8s\0', 'latin1')

/** Fails with an UnreadableError. The bytes are not kept. */
export function decodeStored(bytes: Buffer, shape: Struct, revision: number): KubeObject {
  if (bytes.subarray(0, protobufPrefix.length).equals(protobufPrefix)) {
    throw new UnreadableError('the value is stored as protobuf, which this version of Keelson does not read')
  }
  const value = parseStored(bytes)
  if (!isFields(value)) throw new UnreadableError('the value is no object')
  const fault = checkShape(value, shape)
  if (fault !== undefined) throw new UnreadableError(fault)
  const { kind, apiVersion } = value
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') {
    throw new UnreadableError('the value has no kind or no apiVersion')
  }
  const known = prune(value, shape)
  return { ...known, kind, apiVersion, metadata: { ...fieldsOf(known['metadata']), resourceVersion: `${revision}` } }
}

function parseStored(bytes: Buffer): Json {
  try {
    return parseJson(bytes)
  } catch (cause) {
    throw new UnreadableError('the value is no JSON', { cause })
  }
}

const printHead = ({ kind, apiVersion }: KubeObject): string =>
  `{"kind":${printString(kind)},"apiVersion":${printString(apiVersion)},`

/** The inside of a JSON object, without its braces. */
function printFields(value: Fields, fields: readonly Field[]): string {
  const parts: string[] = []
  for (const { name, shape, omit } of fields) {
    const given = value[name] ?? null
    if (given === null && omit !== 'never') {
      // A struct is written even when it is empty: Go's omitempty does not see it as a zero value.
      if (shape.type === 'struct' && omit === 'empty') parts.push(`"${name}":${zeroOf(shape)}`)
      continue
    }
    if (omit === 'empty' && isEmpty(given, shape)) continue
    parts.push(`"${name}":${print(given, shape)}`)
  }
  return parts.join(',')
}

function isEmpty(value: Json, shape: Shape): boolean {
  if (shape.type === 'map') return isFields(value) && Object.keys(value).length === 0
  if (Array.isArray(value)) return value.length === 0
  return value === '' || value === 0 || value === false
}

function print(value: Json, shape: Shape): string {
  if (value === null) return zeroOf(shape)
  switch (shape.type) {
    case 'string':
      return printString(asString(value))
    case 'bytes':
      return printString(asString(value).replace(/[\r\n]/g, ''))
    case 'time':
      return `"${printTime(asString(value))}"`
    case 'boolean':
    case 'int64':
      return printOrdered(value)
    case 'any':
      return printOrdered(value)
    case 'list':
      assert(Array.isArray(value), 'a list was checked to be one')
      return `[${value.map((item: Json) => print(item, shape.of)).join(',')}]`
    case 'map': {
      assert(isFields(value), 'a map was checked to be one')
      const keys = Object.keys(value).toSorted(compareKeys)
      return `{${keys.map((key) => `${printString(key)}:${print(value[key] ?? null, shape.of)}`).join(',')}}`
    }
    case 'struct':
      assert(isFields(value), 'a struct was checked to be one')
      return `{${printFields(value, shape.fields)}}`
  }
}

function zeroOf(shape: Shape): string {
  switch (shape.type) {
    case 'string':
      return '""'
    case 'boolean':
      return 'false'
    case 'int64':
      return '0'
    case 'struct':
      return `{${printFields({}, shape.fields)}}`
    case 'time':
    case 'bytes':
    case 'any':
    case 'list':
    case 'map':
      return 'null'
  }
}

function asString(value: Json): string {
  assert(typeof value === 'string', 'a string was checked to be one')
  return value
}

/** Seconds, UTC. */
function printTime(text: string): string {
  if (text.length === 20 && text.endsWith('Z')) return text
  return `${new Date(text).toISOString().slice(0, 19)}Z`
}

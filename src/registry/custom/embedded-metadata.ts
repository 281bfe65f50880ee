/**
 * Decodes the metadata of embedded resources in custom objects (x-kubernetes-embedded-resource).
 * The metadata is decoded by its built-in type, whatever the schema of the CRD says: unknown fields
 * are dropped, and fields of a wrong type are refused.
 */
import { type FieldFault, invalidShown } from '../../api/field-fault.ts'
import { goShown } from '../../api/go-value.ts'
import { JsonMap } from '../../api/json-map.ts'
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { defaultMinor } from '../../api/releases.ts'
import { BoundedTexts } from '../../lib/text/bounded-texts.ts'
import type { Field, ScalarType, Schema } from '../../objects/schema/schema.ts'
import type { Structural } from '../../objects/schema/structural/structural.ts'
import { UNKNOWN_CHARACTERS_MAX } from '../../objects/schema/structural/prune.ts'
import { mapItems } from '../../objects/schema/structural/value.ts'
import { faultsOfRelease } from '../release-faults.ts'
import { commonType } from '../types.ts'

export type CoercedMetadata = {
  readonly value: Json
  /**
   * Paths of dropped fields, sorted. The list is incomplete if the total length of the paths
   * exceeds a limit.
   */
  readonly unknown: readonly string[]
  /**
   * The first reason why metadata cannot be decoded, or undefined if all metadata can be decoded.
   */
  readonly refusal: string | undefined
}

/**
 * Treatment of a metadata field of a wrong type. Writes refuse the field. Reads drop it, because
 * an object that was stored with such a field must remain readable.
 */
export type MalformedHandling = 'refused' | 'dropped'

type CoerceOptions = { readonly malformed?: MalformedHandling; readonly release?: number }

/** Coerces the metadata of all embedded resources of a custom object to the type of metadata. */
export function coerceEmbedded(
  object: Fields,
  schema: Structural,
  { malformed = 'refused', release = defaultMinor }: CoerceOptions = {},
): CoercedMetadata {
  const found: MetadataCheckResult = { unknown: newUnknown(), refusals: [], malformed }
  const value = coerce(object, schema, { path: '', at: '', found, isObject: false })
  const [refusal] = faultsOfRelease(found.refusals.slice(0, 1), release)
  const text = refusal && `${refusal.path}: ${refusal.message}`
  return { value, unknown: found.unknown.all.toSorted(), refusal: text }
}

/**
 * Coerces the embedded metadata in a default, or returns why it cannot be decoded. With `isObject`,
 * the default is itself an embedded resource.
 */
export function coerceDefault(
  given: Json,
  schema: Structural,
  { path, isObject }: { readonly path: string; readonly isObject: boolean },
): { readonly value: Json } | { readonly fault: FieldFault } {
  const found: MetadataCheckResult = { unknown: newUnknown(), refusals: [], malformed: 'refused' }
  const value = coerce(given, schema, { path: '', at: path, found, isObject })
  const [fault] = found.refusals
  return fault === undefined ? { value } : { fault }
}

const newUnknown = (): BoundedTexts => new BoundedTexts(UNKNOWN_CHARACTERS_MAX)

type MetadataCheckResult = {
  readonly unknown: BoundedTexts
  readonly refusals: FieldFault[]
  readonly malformed: MalformedHandling
}
/**
 * Position in the object, in two notations. `at` is the path for errors, in which map keys are in
 * brackets. `path` is the path for unknown fields, without brackets.
 */
type MetadataContext = {
  readonly path: string
  readonly at: string
  readonly found: MetadataCheckResult
  readonly isObject: boolean
}

function coerce(
  value: Json,
  schema: Structural,
  { path, at, found, isObject }: MetadataContext,
): Json {
  if (!schema.holds.embedded && !isObject) return value
  if (Array.isArray(value)) {
    const { items } = schema
    if (items === undefined) return value
    return mapItems(value, (item, index) =>
      coerce(item, items, {
        path: `${path}[${index}]`,
        at: `${at}[${index}]`,
        found,
        isObject: items.isEmbedded,
      }),
    )
  }
  if (!isFields(value)) return value
  let changed: { [name: string]: Json } | undefined
  const start = isObject ? coerceObject(value, { path, at, found }) : value
  for (const name of Object.keys(start)) {
    const property = schema.properties?.get(name)
    const own = property ?? schema.additional
    if (typeof own !== 'object') continue
    const before = start[name] ?? null
    const inner = path === '' ? name : `${path}.${name}`
    const innerAt = property === undefined ? `${at}[${name}]` : at === '' ? name : `${at}.${name}`
    const after = coerce(before, own, { path: inner, at: innerAt, found, isObject: own.isEmbedded })
    if (after === before) continue
    changed ??= Object.assign(new JsonMap(), start)
    changed[name] = after
  }
  return changed ?? start
}

function coerceObject(
  object: Fields,
  { path, at, found }: Omit<MetadataContext, 'isObject'>,
): Fields {
  const { unknown, refusals, malformed } = found
  for (const name of ['apiVersion', 'kind']) {
    const text = object[name]
    if (text === undefined || typeof text === 'string') continue
    refusals.push(invalidShown(`${at}.${name}`, goShown(text), 'must be a string'))
  }
  const { metadata } = object
  if (metadata === undefined) return object
  if (metadata === null) return { ...object, metadata: {} }
  const reading = new MetadataReader(unknown)
  const read = isFields(metadata)
    ? reading.struct(metadata, {
        fields: commonType('meta/v1', 'ObjectMeta').byName,
        goName: 'ObjectMeta',
        path: `${path}.metadata`,
      })
    : reading.refuse(metadata, 'Go value of type v1.ObjectMeta')
  if (reading.fault === undefined) return read === metadata ? object : { ...object, metadata: read }
  if (malformed === 'dropped')
    return { ...object, metadata: isFields(metadata) ? wellFormed(metadata) : {} }
  refusals.push(invalidShown(`${at}.metadata`, goShown(metadata), reading.fault))
  return object
}

/** Decodes metadata field by field, as kube-apiserver does, and drops malformed fields. */
function wellFormed(metadata: Fields): Json {
  const kept = new JsonMap()
  const fields = commonType('meta/v1', 'ObjectMeta').byName
  for (const [name, value = null] of Object.entries(metadata)) {
    const reading = new MetadataReader(newUnknown())
    const read = reading.struct({ [name]: value }, { fields, goName: 'ObjectMeta', path: '' })
    if (reading.fault === undefined && isFields(read)) Object.assign(kept, read)
  }
  return kept
}

type StructContext = {
  readonly fields: ReadonlyMap<string, Field>
  readonly goName: string
  readonly path: string
}

type FieldPosition = { readonly goName: string; readonly path: string }

/**
 * Decodes the metadata of one object. Null and unknown fields are dropped. As in Go, a null in a
 * list or map becomes the zero value of its type.
 */
class MetadataReader {
  fault: string | undefined
  readonly #unknown: BoundedTexts

  constructor(unknown: BoundedTexts) {
    this.#unknown = unknown
  }

  refuse(value: Json, into: string): Json {
    this.fault ??= `json: cannot unmarshal ${jsonType(value)} into ${into}`
    return value
  }

  struct(given: Fields, { fields, goName, path }: StructContext): Json {
    const read = new JsonMap()
    let isSame = true
    for (const [name, value = null] of Object.entries(given)) {
      const field = fields.get(name)
      const place = { goName: `${goName}.${name}`, path: `${path}.${name}` }
      const kept =
        field === undefined || value === null ? undefined : this.#value(value, field.schema, place)
      if (field === undefined) this.#unknown.add(() => place.path)
      if (kept !== value) isSame = false
      if (kept !== undefined) read[name] = kept
    }
    return isSame ? given : read
  }

  #value(value: Json, schema: Schema, place: FieldPosition): Json {
    const refuse = (): Json =>
      this.refuse(value, `Go struct field ${place.goName} of type ${schema.goName}`)
    if (value === null && schema.type === 'struct') return {}
    if (value === null && schema.type === 'string') return ''
    if (schema.type === 'struct') {
      return isFields(value) ? this.struct(value, { fields: schema.byName, ...place }) : refuse()
    }
    if (schema.type === 'list')
      return Array.isArray(value) ? this.#items(value, schema.of, place) : refuse()
    if (schema.type === 'map') {
      if (!isFields(value)) return refuse()
      return this.#map(value, schema.of, place)
    }
    if (schema.type === 'any' || schema.type === 'raw') return value
    return typeof value === scalarTypes[schema.type] ? value : refuse()
  }

  #map(values: Fields, of: Schema, place: FieldPosition): Json {
    const read = new JsonMap()
    let isSame = true
    for (const [key, value = null] of Object.entries(values)) {
      const kept = this.#value(value, of, place)
      if (kept !== value) isSame = false
      read[key] = kept
    }
    return isSame ? values : read
  }

  #items(items: readonly Json[], of: Schema, place: FieldPosition): Json {
    return mapItems(items, (item, at) =>
      this.#value(item, of, { ...place, path: `${place.path}[${at}]` }),
    )
  }
}

const scalarTypes: { readonly [type in ScalarType]: string } = {
  string: 'string',
  bytes: 'string',
  time: 'string',
  microTime: 'string',
  quantity: 'string',
  intOrString: 'string',
  boolean: 'boolean',
  int32: 'number',
  int64: 'number',
  float64: 'number',
}

function jsonType(value: Json): string {
  if (value === null) return 'null'
  if (typeof value === 'object') return Array.isArray(value) ? 'array' : 'object'
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'number'
}

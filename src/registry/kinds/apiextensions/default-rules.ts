/**
 * Validates the defaults in a schema. They must match the schema and have no unknown fields.
 */
import { type FieldFault, invalidShown } from '../../../api/field-fault.ts'
import { goShown } from '../../../api/go-value.ts'
import { type Fields, fieldsOf, isFields, type Json } from '../../../api/object.ts'
import { type CelVersion, storedVersion } from '../../../objects/cel/kubernetes.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import type { Turns } from '../../../objects/cel/turns.ts'
import { addAll } from '../../../lib/scheduling/long-lists.ts'
import { prune, pruneObject } from '../../../objects/schema/structural/prune.ts'
import { readInTurns, readStructural } from '../../../objects/schema/structural/read-structural.ts'
import { compileRules } from '../../../objects/schema/structural/rules.ts'
import { checkDefault } from '../../../objects/schema/structural/run-rules.ts'
import type { Structural } from '../../../objects/schema/structural/structural.ts'
import { validateValues } from '../../../objects/schema/structural/validate.ts'
import { coerceDefault } from '../../custom/embedded-metadata.ts'
import { validateEmbedded } from './embedded-resources.ts'
import { subschemasOf } from './structural-rules.ts'

/**
 * Validates the defaults of a schema. `release` is the minor version of the Kubernetes release that
 * the server serves.
 */
export function* validateDefaults(
  schema: Fields,
  path: string,
  { release, slice }: { readonly release: number; readonly slice: Slice },
): Turns<FieldFault[]> {
  const faults: FieldFault[] = []
  if (!(yield* hasDefaults(schema, slice))) return faults
  const version = storedVersion(release)
  const root = { path, faults, schema, metadata: undefined, isRoot: true, version, slice }
  yield* visit(yield* readInTurns(schema, { isOfDefaults: true, slice }), root)
  return faults
}

/**
 * Whether a schema contains a default. Only schemas with defaults are parsed as structural schemas,
 * because parsing is slow.
 */
export function* hasDefaults(schema: Json | undefined, slice: Slice): Turns<boolean> {
  if (!isFields(schema)) return false
  if (schema['default'] !== undefined && schema['default'] !== null) return true
  if (slice.isOver()) yield undefined
  for (const part of subschemasOf(schema)) if (yield* hasDefaults(part, slice)) return true
  const properties = fieldsOf(schema['properties'])
  for (const name of Object.keys(properties))
    if (yield* hasDefaults(properties[name], slice)) return true
  return false
}

type DefaultContext = {
  readonly path: string
  readonly faults: FieldFault[]
  /** The schema as it was given, before parsing. */
  readonly schema: Json | undefined
  /**
   * Returns an object that contains the given value at this position in its metadata, so that the
   * value can be validated as metadata. Returns undefined if this position is not inside the
   * metadata of an object.
   */
  readonly metadata: ((value: Json) => Fields) | undefined
  readonly isRoot: boolean
  readonly version: CelVersion
  readonly slice: Slice
}

function* visit(schema: Structural, place: DefaultContext): Turns<void> {
  const { path, faults, version, slice } = place
  // As in kube-apiserver, defaults inside additionalProperties are not validated.
  const { default: value, items, properties, isEmbedded } = schema
  const metadata = isEmbedded ? undefined : place.metadata
  if (slice.isOver()) yield undefined
  if (value !== undefined)
    addAll(faults, yield* validateDefault(value, schema, { ...place, metadata }))
  const below = { faults, isRoot: false, version, slice }
  const given = fieldsOf(place.schema)
  if (items !== undefined) {
    yield* visit(items, {
      ...below,
      schema: given['items'],
      path: `${path}.items`,
      metadata: metadata && ((item) => metadata([item])),
    })
  }
  for (const [name, property] of properties ?? []) {
    const isMeta = isEmbedded && (name === 'metadata' || name === 'apiVersion' || name === 'kind')
    const outer =
      metadata ?? (isMeta ? (object: Json) => (isFields(object) ? object : {}) : undefined)
    yield* visit(property, {
      ...below,
      schema: fieldsOf(given['properties'])[name],
      path: `${path}.properties[${name}]`,
      metadata: outer && ((field) => outer({ [name]: field })),
    })
  }
}

function* validateDefault(
  value: Json,
  schema: Structural,
  place: DefaultContext,
): Turns<readonly FieldFault[]> {
  const { path, metadata, isRoot, slice } = place
  const prefix = `${path}.default`
  if (metadata !== undefined) {
    const object = { apiVersion: 'v1', kind: 'Any', ...metadata(value) }
    const [bad] = validateEmbedded(object, anything, '', true)
    if (bad !== undefined) {
      return [
        invalidShown(
          prefix,
          goShown(value),
          `must result in valid metadata: ${bad.path}: ${bad.message}`,
        ),
      ]
    }
    return yield* validateOwn(value, schema, place)
  }
  const isObject = isRoot || schema.isEmbedded
  const { unknown } =
    isObject && isFields(value) ? pruneObject(value, schema) : prune(value, schema)
  const unpruned =
    unknown.length > 0 ? [invalidShown(prefix, goShown(value), 'must not have unknown fields')] : []
  if (slice.isOver()) yield undefined
  const coerced = coerceDefault(value, schema, { path: prefix, isObject })
  if ('fault' in coerced) return [...unpruned, coerced.fault]
  const embedded = validateEmbedded(coerced.value, schema, prefix, isObject)
  return [
    ...unpruned,
    ...(embedded.length > 0 ? embedded : yield* validateOwn(coerced.value, schema, place)),
  ]
}

/** Validates a default: first with its schema, and then with its CEL rules. */
function* validateOwn(
  value: Json,
  schema: Structural,
  place: DefaultContext,
): Turns<readonly FieldFault[]> {
  const { isRoot, version, slice } = place
  const path = `${place.path}.default`
  if (slice.isOver()) yield undefined
  const faults = yield* validateValues(value, schema, { prefix: path, slice })
  if (slice.isOver()) yield undefined
  const rules =
    faults.length > 0
      ? undefined
      : yield* compileRules(fieldsOf(place.schema), { isRoot, version, slice })
  return rules === undefined ? faults : yield* checkDefault(value, rules, { path, slice })
}

const anything = readStructural({})

/**
 * Generates parts of objects from templates. A part contains some of the fields of an object, some
 * of the entries of a list map, or some of the values of a set.
 */
import { isRecord, type Json, type JsonObject } from '../../recorded/compat/json.ts'
import type { Choices } from './choices.ts'
import { child, textAt } from './json-positions.ts'

export type Shape =
  | { readonly shape: string }
  | { readonly value: readonly Json[] }
  | { readonly object: Shapes }
  | { readonly map: Shape }
  | { readonly list: Shape }
  | { readonly set: readonly Json[] }
  | { readonly keys: { readonly [key: string]: readonly Json[] }; readonly fields: Shapes }
export type Shapes = { readonly [name: string]: Shape }

export type AppliedKind = {
  readonly kind: string
  readonly root: string
  readonly plural: string
  readonly versions: readonly string[]
  /** Fields that a valid object must have. */
  readonly base: JsonObject | undefined
}

export function readKinds({ kinds, shapes }: JsonObject): {
  readonly kinds: AppliedKind[]
  readonly shapes: Shapes
} {
  if (!isRecord(kinds) || !isShapes(shapes))
    throw new Error('data/apply.json has no kinds or invalid shapes')
  return { kinds: Object.entries(kinds).map(([kind, of]) => readKind(kind, of)), shapes }
}

function readKind(kind: string, of: Json): AppliedKind {
  const versions = child(of, 'versions')
  if (!Array.isArray(versions)) throw new Error(`data/apply.json: ${kind} has no versions`)
  const base = child(of, 'base')
  return {
    kind,
    root: textAt(of, 'root'),
    plural: textAt(of, 'plural'),
    versions: versions.map(String),
    base: isRecord(base) ? base : undefined,
  }
}

const isShapes = (value: unknown): value is Shapes =>
  isRecord(value) && Object.values(value).every(isShape)

function isShape(value: unknown): value is Shape {
  if (!isRecord(value)) return false
  if ('object' in value) return isShapes(value['object'])
  if ('keys' in value) return isRecord(value['keys']) && isShapes(value['fields'])
  if ('map' in value || 'list' in value) return isShape(value['map'] ?? value['list'])
  return typeof value['shape'] === 'string' || Array.isArray(value['value'] ?? value['set'])
}

export type SampleOptions = { readonly shapes: Shapes; readonly keep: number }

export function sample(choices: Choices, shape: Shape, options: SampleOptions): Json {
  const { shapes, keep } = options
  if (choices.chance(0.015)) return null
  if ('shape' in shape) {
    const named = shapes[shape.shape]
    if (named === undefined) throw new Error(`data/apply.json has no shape ${shape.shape}`)
    return sample(choices, named, options)
  }
  if ('value' in shape) return structuredClone(choices.pick(shape.value))
  if ('object' in shape) return fieldsOf(choices, shape.object, options)
  if ('map' in shape) {
    const keys = choices.some(['a', 'b', 'c', 'cpu'], keep * 0.7)
    return Object.fromEntries(keys.map((key) => [key, sample(choices, shape.map, options)]))
  }
  if ('list' in shape) {
    const inner = { shapes, keep: Math.max(keep, 0.7) }
    return Array.from({ length: choices.int(3) }, () => sample(choices, shape.list, inner))
  }
  if ('set' in shape) {
    const repeated = choices.chance(0.03) ? [choices.pick(shape.set)] : []
    return [...choices.shuffle(choices.some(shape.set, 0.5)), ...repeated]
  }
  return keyedEntries(choices, shape, options)
}

function fieldsOf(choices: Choices, fields: Shapes, options: SampleOptions): JsonObject {
  const kept = Object.entries(fields).filter(() => choices.chance(options.keep))
  return Object.fromEntries(kept.map(([key, of]) => [key, sample(choices, of, options)]))
}

/**
 * Generates entries of a list map. Occasionally an entry has no key, or two entries have the same
 * key.
 */
function keyedEntries(
  choices: Choices,
  { keys, fields }: Extract<Shape, { readonly keys: unknown }>,
  options: SampleOptions,
): Json {
  const entries: JsonObject[] = []
  const isThere = (entry: JsonObject): boolean =>
    entries.some((other) => Object.keys(keys).every((key) => other[key] === entry[key]))
  for (let left = choices.int(4); left > 0; left--) {
    const kept = Object.entries(keys).filter((_, index) => choices.chance(index === 0 ? 0.98 : 0.7))
    const key = Object.fromEntries(kept.map(([name, values]) => [name, choices.pick(values)]))
    const entry = { ...key, ...fieldsOf(choices, fields, options) }
    if (choices.chance(0.05) || !isThere(entry)) entries.push(entry)
  }
  return entries
}

/**
 * Sample values for a schema. `minimal` contains only the required fields, `full` contains all
 * fields down to a certain depth. For most kinds, the schema is sufficient. given.ts contains the
 * values that only validation rules require.
 */
import type { Fields } from '../every-kind.ts'
import { isRecord } from '../../recorded/compat/json.ts'
import { fields } from './fetch.ts'
import { sampleText } from './sample-text.ts'

export type SampleForm = 'minimal' | 'full'

/**
 * Depth below which only required fields are set, because the largest kinds contain whole Pod
 * templates.
 */
const FULL_DEPTH_MAX = 6
/** Maximum depth of schemas that contain themselves, such as a schema of JSON schemas. */
const DEPTH_MAX = 40

export type Sample = { readonly value: unknown; readonly unknown: readonly string[] }

/** Returns a sample. `unknown` lists the fields for which no value was found. */
export function sampleOf(schema: Fields, form: SampleForm): Sample {
  const unknown: string[] = []
  return {
    value: new Sampler(form, unknown).value(schema, { path: '', depth: 0, index: 0 }),
    unknown,
  }
}

type SamplePoint = { readonly path: string; readonly depth: number; readonly index: number }

class Sampler {
  readonly #form: SampleForm
  readonly #unknown: string[]

  constructor(form: SampleForm, unknown: string[]) {
    this.#form = form
    this.#unknown = unknown
  }

  value(plain: Fields, place: SamplePoint): unknown {
    const schema = withFirstBranches(plain)
    const { enum: allowed } = schema
    if (schema['default'] !== undefined && place.index === 0) return schema['default']
    if (Array.isArray(allowed) && allowed.length > 0) {
      return allowed.filter((value) => value !== '')[place.index] ?? allowed[0]
    }
    if (schema['x-kubernetes-int-or-string'] === true) return this.#intOrString(schema, place)
    switch (schema['type']) {
      case 'object':
        return this.#object(schema, place)
      case 'array':
        return this.#array(schema, place)
      case 'boolean':
        return true
      case 'integer':
      case 'number':
        return sampleNumber(schema) + place.index
      case 'string':
        return this.#text(schema, place)
      default:
        return {}
    }
  }

  #intOrString(schema: Fields, place: SamplePoint): unknown {
    return typeof schema['pattern'] === 'string' ? this.#text(schema, place) : 1 + place.index
  }

  #text(schema: Fields, { path, index }: SamplePoint): string {
    const sample = sampleText(schema, index)
    if ('text' in sample) return sample.text
    this.#unknown.push(`${path}: ${sample.unknown}`)
    return ''
  }

  #object(schema: Fields, { path, depth, index }: SamplePoint): Fields {
    if (depth > DEPTH_MAX) return {}
    const isFull = this.#form === 'full' && depth < FULL_DEPTH_MAX
    const required = namesIn(schema['required'])
    const excluded = excludedBy(schema)
    const made: Record<string, unknown> = {}
    const least = Math.max(numberIn(schema, 'minProperties'), isFull ? 1 : 0)
    const properties = Object.entries(fields(schema['properties']))
    const optional = properties.filter(([name]) => !required.has(name) && !excluded.has(name))
    const wanted = new Set(
      optional
        .slice(0, isFull ? optional.length : Math.max(0, least - required.size))
        .map(([name]) => name),
    )
    for (const [name, property] of properties) {
      if (!required.has(name) && !wanted.has(name)) continue
      made[name] = this.value(fields(property), {
        path: `${path}.${name}`,
        depth: depth + 1,
        index,
      })
    }
    if (schema['x-kubernetes-embedded-resource'] === true) {
      Object.assign(made, { apiVersion: 'v1', kind: 'Sample', metadata: { name: 'sample' } })
    }
    const more = schema['additionalProperties']
    for (let at = 0; at < least && isRecord(more); at++) {
      const value = this.value(more, { path: `${path}[sample]`, depth: depth + 1, index })
      made[at === 0 ? 'sample' : `sample${at}`] = value
    }
    return made
  }

  #array(schema: Fields, { path, depth }: SamplePoint): unknown[] {
    const isFull = this.#form === 'full' && depth < FULL_DEPTH_MAX
    const length = Math.max(numberIn(schema, 'minItems'), isFull ? 1 : 0)
    const items = fields(schema['items'])
    return Array.from({ length }, (_, index) =>
      this.value(items, { path: `${path}[${index}]`, depth: depth + 1, index }),
    )
  }
}

function sampleNumber(schema: Fields): number {
  const least = schema['minimum']
  const most = schema['maximum']
  const step = numberIn(schema, 'multipleOf') || 1
  if (typeof least === 'number' && least > 1) return Math.ceil(least / step) * step
  if (typeof most === 'number' && most < 1) return most
  return step
}

const numberIn = (schema: Fields, key: string): number => {
  const value = schema[key]
  return typeof value === 'number' ? value : 0
}

const namesIn = (value: unknown): ReadonlySet<string> =>
  new Set(Array.isArray(value) ? value.map(String) : [])

/** Merges the schema with all branches of `allOf` and the first branches of `oneOf` and `anyOf`. */
function withFirstBranches(schema: Fields): Fields {
  const branches = [
    ...listIn(schema, 'allOf'),
    ...chosen(schema, 'oneOf'),
    ...chosen(schema, 'anyOf'),
  ]
  if (branches.length === 0) return schema
  const whole = branches.map(withFirstBranches)
  const merged: Record<string, unknown> = { ...schema }
  for (const branch of whole) {
    for (const [key, value] of Object.entries(branch)) {
      if (key === 'required') merged[key] = [...namesIn(merged[key]), ...namesIn(value)]
      else if (key === 'properties')
        merged[key] = mergedProperties(fields(merged[key]), fields(value))
      else if (!junctors.has(key)) merged[key] ??= value
    }
  }
  return merged
}

const junctors: ReadonlySet<string> = new Set(['allOf', 'oneOf', 'anyOf', 'not', 'type'])

const chosen = (schema: Fields, key: string): readonly Fields[] => listIn(schema, key).slice(0, 1)

function mergedProperties(one: Fields, other: Fields): Fields {
  const merged: Record<string, unknown> = { ...one }
  for (const [name, schema] of Object.entries(other))
    merged[name] = { ...fields(one[name]), ...fields(schema) }
  return merged
}

/**
 * Returns the names of fields that a sample must not contain. The schema forbids them, or only
 * branches of `oneOf` or `anyOf` other than the first one require them.
 */
function excludedBy(schema: Fields): ReadonlySet<string> {
  const names: string[] = []
  const visit = (branch: Fields): void => {
    names.push(...namesIn(branch['required']))
    for (const key of ['allOf', 'oneOf', 'anyOf']) listIn(branch, key).forEach(visit)
    visitNot(branch)
  }
  const visitNot = (branch: Fields): void => {
    if (isRecord(branch['not'])) visit(branch['not'])
  }
  for (const key of ['oneOf', 'anyOf']) listIn(schema, key).forEach(visit)
  for (const part of [schema, ...listIn(schema, 'allOf')]) visitNot(part)
  return new Set(names)
}

const listIn = (schema: Fields, key: string): readonly Fields[] => {
  const list = schema[key]
  return Array.isArray(list) ? list.map(fields) : []
}

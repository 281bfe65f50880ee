/** Changes objects at random, guided by their schema if there is one. */
import { isRecord, type Json, type JsonObject } from '../../recorded/compat/json.ts'
import type { Choices } from './choices.ts'
import { deleteAt, type Path, places, setAt, valueAt } from './json-positions.ts'
import type { Schemas } from './schemas.ts'
import type { Edit } from './step.ts'
import type { Values } from './values.ts'

/** Maximum number of positions to try, because not every change fits at every position. */
const TRIES_MAX = 5

export class Mutator {
  readonly #choices: Choices
  readonly #values: Values
  readonly #schemas: Schemas
  /** Schema of the object, if it is known. */
  readonly #root: JsonObject | undefined

  constructor(choices: Choices, values: Values, schemas: Schemas, root: JsonObject | undefined) {
    this.#choices = choices
    this.#values = values
    this.#schemas = schemas
    this.#root = root
  }

  /** Returns a copy with some random changes. */
  mutated(value: Json, count: number): Json {
    const copy = structuredClone(value)
    for (let left = count; left > 0; left--) {
      const edit = this.#edit(copy)
      if (edit?.[0] === 'set') setAt(copy, edit[1], edit[2])
      else if (edit !== undefined) deleteAt(copy, edit[1])
    }
    return copy
  }

  edits(value: Json, count: number): Edit[] {
    return Array.from({ length: count }, () => this.#edit(value)).filter(
      (edit) => edit !== undefined,
    )
  }

  #edit(value: Json): Edit | undefined {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const path = this.#place(value)
      const edit = path === undefined ? undefined : this.#editAt(value, path)
      if (edit !== undefined) return edit
    }
    return undefined
  }

  /** Returns the path of a random position, mostly outside of metadata. */
  #place(value: Json): Path | undefined {
    const all = [...places(value)].map(({ path }) => path).filter(isChanged)
    const outside = all.filter(([first]) => first !== 'metadata')
    const from = outside.length > 0 && this.#choices.chance(0.85) ? outside : all
    return from.length === 0 ? undefined : this.#choices.pick(from)
  }

  #editAt(value: Json, path: Path): Edit | undefined {
    const choices = this.#choices
    const here = valueAt(value, path)
    const schema = this.#schemas.at(this.#root, path)
    const name = path.findLast((key) => typeof key === 'string') ?? ''
    return choices.weigh<() => Edit | undefined>(
      [2, () => ['del', path]],
      [4, () => ['set', path, this.#schemas.make(choices, schema, { name, depth: 1 })]],
      [1, () => ['set', path, this.#values.any(choices)]],
      [3, () => this.#insertion(value, path)],
      [
        1,
        () => (Array.isArray(here) && here.length > 0 ? repeated(choices, here, path) : undefined),
      ],
      [
        0.3,
        () =>
          isRecord(here)
            ? ['set', [...path, choices.pick(odd)], this.#values.any(choices)]
            : undefined,
      ],
      [
        0.5,
        () => (typeof here === 'string' ? ['set', path, here + choices.pick(endings)] : undefined),
      ],
      [0.5, () => (typeof here === 'number' ? ['set', path, near(choices, here)] : undefined)],
    )()
  }

  /**
   * Returns an edit that adds a field that the schema defines and the object lacks. The edit adds
   * the field at the path or, if no field can be added there, to the nearest possible ancestor.
   */
  #insertion(value: Json, from: Path): Edit | undefined {
    const choices = this.#choices
    for (let path = from; path.length > 0; path = path.slice(0, -1)) {
      const here = valueAt(value, path)
      const schema = this.#schemas.at(this.#root, path)
      const items = schema?.['items']
      if (Array.isArray(here) && items !== undefined && choices.chance(0.5)) {
        const entry = this.#schemas.make(choices, items, { name: String(path.at(-1)), depth: 1 })
        return ['set', [...path, here.length], entry]
      }
      const properties = schema?.['properties']
      if (!isRecord(here) || !isRecord(properties)) continue
      const missing = Object.keys(properties).filter((key) => !(key in here))
      if (missing.length === 0) continue
      const key = choices.pick(missing)
      return [
        'set',
        [...path, key],
        this.#schemas.make(choices, properties[key], { name: key, depth: 2 }),
      ]
    }
    return undefined
  }
}

const odd = ['unknown', 'Spec', 'x-y', '', 'a.b', 'é']
const endings = ['-', 'x', '.', ' ', 'ü', '/', '0']

const isChanged = (path: Path): boolean =>
  path.length > 0 &&
  !(path.length === 1 && ['apiVersion', 'kind'].includes(String(path[0]))) &&
  path[1] !== 'managedFields'

const repeated = (choices: Choices, list: readonly Json[], path: Path): Edit => [
  'set',
  [...path, list.length],
  structuredClone(choices.pick(list)),
]

const near = (choices: Choices, value: number): Json =>
  choices.pick<Json>([-value, value + 1, value * 1000, value + 0.5, String(value)])

/**
 * Returns a subset of an object's fields, for merge patches and applies. Always includes the fields
 * that identify list entries.
 */
export function subset(choices: Choices, value: Json, keep: number): Json {
  if (Array.isArray(value))
    return choices
      .some(value, Math.max(keep, 0.6))
      .map((entry) => subset(choices, entry, Math.max(keep, 0.7)))
  if (!isRecord(value)) return value
  const kept = Object.entries(value).filter(([key]) => identifying.has(key) || choices.chance(keep))
  return Object.fromEntries(kept.map(([key, entry]) => [key, subset(choices, entry, keep)]))
}

const identifying = new Set(['name', 'key', 'containerPort'])

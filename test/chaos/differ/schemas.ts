/**
 * Reads the OpenAPI v3 documents that kube-apiserver publishes. Finds the fields of a kind and
 * generates values for them.
 */
import { isRecord, type Json, type JsonObject } from '../../recorded/compat/json.ts'
import type { Choices } from './choices.ts'
import { child, type Path, textAt, valueAt } from './json-positions.ts'
import type { Variables } from './step.ts'
import type { Target } from './target.ts'
import type { Values } from './values.ts'

/**
 * Probabilities that a field is set. There is one for required fields, one for fields near the
 * root, and one for more deeply nested fields.
 */
export type Density = { readonly required: number; readonly near: number; readonly far: number }
const sparse: Density = { required: 0.95, near: 0.25, far: 0.05 }
/** Probabilities for an object with nearly every field set. */
export const dense: Density = { required: 1, near: 0.9, far: 0.4 }

export async function loadSchemas(reference: Target, values: Values): Promise<Schemas> {
  const variables: Variables = { ns: 'default', answers: new Map() }
  const read = async (path: string): Promise<Json> =>
    (
      await reference.send(
        { id: 'schemas', method: 'GET', path, accept: 'application/json' },
        variables,
      )
    ).body
  const index = child(await read('/openapi/v3'), 'paths')
  const documents: Json[] = []
  for (const path of Object.keys(index ?? {})) {
    if (/^apis?\//.test(path) && !path.includes('example.com'))
      documents.push(await read(`/openapi/v3/${path}`))
  }
  return new Schemas(documents, values)
}

export class Schemas {
  readonly #values: Values
  readonly #byName = new Map<string, JsonObject>()
  readonly #byKind = new Map<string, JsonObject>()

  constructor(documents: readonly Json[], values: Values) {
    this.#values = values
    for (const document of documents) {
      const schemas = valueAt(document, ['components', 'schemas'])
      for (const [name, schema] of Object.entries(isRecord(schemas) ? schemas : {})) {
        if (!isRecord(schema)) continue
        this.#byName.set(name, schema)
        const kinds = schema['x-kubernetes-group-version-kind']
        for (const kind of Array.isArray(kinds) ? kinds : []) this.#byKind.set(keyOf(kind), schema)
      }
    }
  }

  /** Returns the schema of an object's kind. */
  of(object: Json): JsonObject | undefined {
    return this.#byKind.get(`${textAt(object, 'apiVersion')}/${textAt(object, 'kind')}`)
  }

  /** Returns the schema of the value at a path of an object. */
  at(root: JsonObject | undefined, path: Path): JsonObject | undefined {
    return path.reduce<JsonObject | undefined>(
      (here, key) => this.#resolve(below(here, key)),
      root === undefined ? undefined : this.#resolve(root),
    )
  }

  /**
   * Generates a value of the schema. The more deeply an object is nested, the fewer fields it has.
   */
  make(choices: Choices, given: Json | undefined, of: FieldRequest): Json {
    const { name, depth, density = sparse } = of
    const schema = this.#resolve(given)
    if (schema === undefined) return this.#values.any(choices)
    const next = (inner: Json | undefined, key = name): Json =>
      this.make(choices, inner, { name: key, depth: depth - 1, density })
    const { type, items, additionalProperties, properties, required } = schema
    if (type === 'array')
      return Array.from({ length: choices.weigh([1, 0], [5, 1], [2, 2]) }, () => next(items))
    if (additionalProperties)
      return Object.fromEntries(
        choices.some(mapKeys, 0.2).map((key) => [key, next(additionalProperties)]),
      )
    if (!isRecord(properties)) return this.#values.ofLeaf(choices, schema, name)
    const isRequired = (key: string): boolean => Array.isArray(required) && required.includes(key)
    const share = depth > 0 ? density.near : depth > DEPTH_MIN ? density.far : 0
    const kept = Object.entries(properties).filter(([key]) =>
      choices.chance(isRequired(key) ? density.required : share),
    )
    return Object.fromEntries(kept.map(([key, property]) => [key, next(property, key)]))
  }

  #resolve(schema: Json | undefined): JsonObject | undefined {
    const reference = textAt(schema, '$ref') || textAt(valueAt(schema, ['allOf', 0]), '$ref')
    if (reference !== '') return this.#byName.get(reference.replace('#/components/schemas/', ''))
    return isRecord(schema) ? schema : undefined
  }
}

export type FieldRequest = {
  readonly name: string
  readonly depth: number
  readonly density?: Density
}

/**
 * Maximum depth of generated values. Without this limit, recursive schemas would produce infinite
 * values.
 */
const DEPTH_MIN = -3
const mapKeys = ['a', 'b', 'cpu', 'memory', 'storage', 'app', 'example.com/x', 'pods']

const keyOf = (kind: Json): string => {
  const group = textAt(kind, 'group')
  return `${group === '' ? '' : `${group}/`}${textAt(kind, 'version')}/${textAt(kind, 'kind')}`
}

const below = (schema: JsonObject | undefined, key: string | number): Json | undefined =>
  typeof key === 'number'
    ? schema?.['items']
    : (valueAt(schema, ['properties', key]) ?? schema?.['additionalProperties'])

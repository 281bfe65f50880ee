/** Generates values of a structural schema. Some are invalid on purpose. */
import { isRecord, type Json, type JsonObject } from '../../recorded/compat/json.ts'
import type { Choices } from './choices.ts'
import { Lists } from './data.ts'
import { textAt } from './json-positions.ts'
import type { Values } from './values.ts'

export const words: Lists = new Lists('custom.json')

export type CustomValueOptions = {
  readonly values: Values
  readonly depth: number
  /** Probability that a value ignores its schema. */
  readonly wrong: number
}

export function customValue(
  choices: Choices,
  schema: Json | undefined,
  options: CustomValueOptions,
): Json {
  const { values, wrong } = options
  if (!isRecord(schema) || choices.chance(wrong)) return values.any(choices)
  const { type, format, enum: allowed } = schema
  if (schema['nullable'] === true && choices.chance(0.25)) return null
  if (schema['x-kubernetes-int-or-string']) return choices.pick<Json>([1, '1', '50%', 20, 'x', 1.5])
  if (Array.isArray(allowed) && allowed.length > 0 && choices.chance(0.8))
    return choices.pick(allowed)
  const inner = { ...options, depth: options.depth - 1 }
  if (type === 'array')
    return Array.from({ length: choices.int(4) }, () =>
      customValue(choices, schema['items'], inner),
    )
  if (type === 'object') return customObject(choices, schema, options)
  if (type === 'string' && format !== undefined) return choices.pick(words.of('formatted'))
  return structuredClone(choices.pick(scalars[textAt(schema, 'type')] ?? anything))
}

const anything: readonly Json[] = [{}, { a: 1 }, 'x', 5, null, [1]]
const scalars: { readonly [type: string]: readonly Json[] } = {
  string: ['a', 'b', 'abc', '', 'ü', 'abcdefghijklm', '12', 'x'],
  integer: [0, 1, 2, 3, 6, -1, 50, 4294967296],
  number: [0, 0.3, 1.5, 2, -1, 1e21, 0.07],
  boolean: [true, false],
}

function customObject(choices: Choices, schema: JsonObject, options: CustomValueOptions): Json {
  const { additionalProperties, properties, required } = schema
  const inner = { ...options, depth: options.depth - 1 }
  if (schema['x-kubernetes-embedded-resource'])
    return structuredClone(choices.pick(words.of('embedded')))
  if (isRecord(additionalProperties)) {
    const keys = choices.some(['a', 'b', 'k', ''], 0.4)
    return Object.fromEntries(
      keys.map((key) => [key, customValue(choices, additionalProperties, inner)]),
    )
  }
  const chance = (key: string): number => {
    if (Array.isArray(required) && required.includes(key)) return 0.97
    return options.depth > 0 ? 0.7 : 0.3
  }
  const kept = Object.entries(isRecord(properties) ? properties : {}).filter(([key]) =>
    choices.chance(chance(key)),
  )
  const object: JsonObject = Object.fromEntries(
    kept.map(([key, of]) => [key, customValue(choices, of, inner)]),
  )
  const unknown = schema['x-kubernetes-preserve-unknown-fields'] ? 0.5 : 0.03
  return choices.chance(unknown) ? { ...object, unknown: options.values.any(choices) } : object
}

/**
 * Generates objects of built-in kinds with random changes, and then writes to these objects
 * (object-writer.ts).
 */
import { isRecord, type Json, type JsonObject } from '../../../recorded/compat/json.ts'
import type { Choices } from '../choices.ts'
import { Mutator, subset } from '../mutate.ts'
import { places, setAt } from '../json-positions.ts'
import { dense } from '../schemas.ts'
import type { KindSeeds } from '../seeds.ts'
import type { Answer, Case, Step } from '../step.ts'
import type { Values } from '../values.ts'
import type { Input } from './input.ts'
import { ObjectWriter } from './object-writer.ts'

/** Kinds and objects that would affect other cases. They are therefore only sent as dry runs. */
const inForceKinds =
  /webhookconfigurations|admissionpolic|flowschemas|prioritylevelconfigurations|servicecidrs|ipaddresses|mutatingadmission/
const inForceObjects = /globalDefault":true|is-default-class/
const FULL_DEPTH = 5

export function* objectsCase(choices: Choices, input: Input): Case {
  const seeds = choices.pick(input.seeds)
  const { path } = seeds
  const name = path.includes('/namespaces/$ns/') ? choices.weigh([20, 'x'], [1, 'a.b']) : '$ns-x'
  const seed = choices.pick(seeds.objects)
  const root = input.schemas.of(seed)
  const mutator = new Mutator(choices, input.values, input.schemas, root)
  const changed = mutator.mutated(
    enriched(choices, input, seed),
    choices.weigh([2, 0], [5, 1], [3, 2], [0.7, 4]),
  )
  const body = named(choices, isRecord(changed) ? changed : {}, name)
  const isDry = inForceKinds.test(path) || isInForce(body)
  const writer = new ObjectWriter(choices, input, { seeds, mutator, name, isDry, body })
  const first = writer.create(
    choices.chance(0.07) ? { raw: withRepeatedKey(choices, input.values, body) } : { body },
  )
  writer.see(first, yield first)
  for (const other of isDry ? [] : [seed, choices.pick(seeds.objects)]) {
    // The writes below need a stored object. If the changed seed object was rejected, store the
    // unchanged one. If that is also rejected, store another seed object of the same kind.
    if (writer.exists || isInForce(other)) continue
    const step = writer.createPlain(other)
    writer.see(step, yield step)
  }
  if (!writer.exists && choices.chance(0.7)) return
  for (let left = choices.between(2, 8); left > 0; left--) {
    const step: Step = writer.next()
    const answer: Answer = yield step
    writer.see(step, answer)
  }
  yield writer.read()
}

const isInForce = (body: Json): boolean => inForceObjects.test(JSON.stringify(body))

/**
 * Returns a copy of the seed object, which is usually unchanged. Sometimes one part of it is set to
 * a random value of its schema. Sometimes the result is instead a random object of the schema, with
 * some of its fields.
 */
function enriched(
  choices: Choices,
  { schemas }: Input,
  seed: KindSeeds['objects'][number],
): JsonObject {
  const { apiVersion = '', kind = '' } = seed
  const schema = schemas.of(seed)
  if (schema === undefined || choices.chance(0.65)) return structuredClone(seed)
  const full = schemas.make(choices, schema, { name: '', depth: FULL_DEPTH, density: dense })
  if (choices.chance(0.3)) {
    const part = subset(choices, full, choices.pick([1, 0.9, 0.6]))
    return { ...(isRecord(part) ? part : {}), apiVersion, kind }
  }
  const body = structuredClone(seed)
  const branches = [...places(full)].filter(
    ({ path }) => path.length >= 2 && path[0] !== 'metadata',
  )
  if (branches.length === 0) return body
  const { path, value } = choices.pick(branches)
  setAt(body, path, structuredClone(value))
  return body
}

/**
 * Returns the body without metadata that only a server sets, and usually with the name that the
 * case uses.
 */
function named(choices: Choices, body: JsonObject, name: string): JsonObject {
  if (choices.chance(0.05)) return body
  const given = isRecord(body['metadata']) ? body['metadata'] : {}
  const { namespace: _, resourceVersion: __, uid: ___, deletionTimestamp, ...metadata } = given
  if (deletionTimestamp !== undefined && choices.chance(0.1))
    metadata['deletionTimestamp'] = deletionTimestamp
  if (name !== 'x' || choices.chance(0.9)) metadata['name'] = name
  return { ...body, metadata }
}

/** Returns JSON text in which one key occurs twice. */
function withRepeatedKey(choices: Choices, values: Values, body: Json): string {
  const text = JSON.stringify(body)
  const keys = [...text.matchAll(/[{,]("[\w-]+":)("[^"\\]*"|\d+|true|false)/g)]
  if (keys.length === 0) return text
  const match = choices.pick(keys)
  const [whole, key = '', value = ''] = match
  const end = match.index + whole.length
  const second = choices.chance(0.5) ? value : JSON.stringify(values.any(choices))
  return `${text.slice(0, end)},${key}${second}${text.slice(end)}`
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/errors.ts'
import { isFields, type Json, type KubeObject } from '../api/object.ts'
import { decodeBody } from '../objects/codec/decode-body.ts'
import { parts } from '../lib/scheduling/parts.ts'
import { allSteps } from '../../test/support/harness/turns.ts'
import { mutated } from '../../test/chaos/properties/mutate.ts'
import { loadSeeds } from '../../test/chaos/properties/seeds.ts'
import { Random } from '../../test/chaos/simulation/random.ts'
import type { Resource } from './resource.ts'
import { validateCreate, validateUpdate } from './validate.ts'

/** Time slices that end after every step. */
const everyStep = { isOver: true, begin: () => undefined, stepsPerLook: 1 }

/** Repeats the items of lists three times, so that rules about duplicates report errors. */
function tripled(value: Json): Json {
  if (Array.isArray(value)) return [...value, ...value, ...value].map(tripled)
  if (!isFields(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, tripled(field ?? null)]),
  )
}

function decoded(given: unknown, resource: Resource): KubeObject | undefined {
  try {
    return decodeBody({ bytes: Buffer.from(JSON.stringify(given)) }, resource, 'Ignore').object
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/**
 * Maximum length in characters of tested objects. Testing larger objects would take too many steps.
 */
const SMALL = 6000
const seed = Number(process.env['KEELSON_SEED'] ?? 20261118)
const perKind = Number(process.env['KEELSON_RUNS'] ?? 2)

test('validating objects of every kind has the same result whether or not it is divided into parts', async () => {
  const random = new Random(seed)
  const counts = new Map<string, number>()
  let refused = 0
  for (const { resource, object } of (await loadSeeds()).toReversed()) {
    const given: Json = JSON.parse(JSON.stringify(object))
    const name = `${resource.group}/${resource.version} ${resource.kind}`
    const count = counts.get(name) ?? 0
    if (count >= perKind || JSON.stringify(given).length > SMALL) continue
    counts.set(name, count + 1)
    const before = decoded(given, resource)
    for (const changed of [
      given,
      tripled(given),
      mutated(tripled(given), random.between(1, 6), random),
    ]) {
      const after = decoded(changed, resource)
      if (before === undefined || after === undefined) continue
      const work = (): unknown => [
        validateCreate(after, resource),
        validateUpdate(after, before, { resource, rules: resource.rules }),
        resource.rules.warnings(after, undefined),
      ]
      const expected = work()
      if (validateCreate(after, resource).length > 0) refused++
      assert.deepEqual(
        allSteps(parts(work, everyStep)),
        expected,
        `${name}: ${JSON.stringify(changed).slice(0, 500)}`,
      )
    }
  }
  assert.ok(counts.size > 50 && refused > 50, `${counts.size} kinds, ${refused} refused`)
})

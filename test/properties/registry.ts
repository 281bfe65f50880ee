/**
 * What must hold for every kind, whatever a client sends: decoding refuses or understands it; defaults set once stay as they are;
 * validation never throws; and what is accepted when it is created is accepted, unchanged, when it is updated.
 */
import assert from 'node:assert/strict'
import type { KubeObject } from '../../src/api/object.ts'
import { decodeBody } from '../../src/codec/decode-body.ts'
import { ApiError } from '../../src/api/errors.ts'
import { anonymousUser } from '../../src/api/user.ts'
import { decodeStored, encodeStored } from '../../src/codec/object.ts'
import type { Resource, Writer } from '../../src/registry/resource.ts'
import { validateCreate, validateUpdate } from '../../src/registry/validate.ts'
import { Random } from '../simulation/random.ts'
import { mutated } from './mutate.ts'
import type { Seed } from './seeds.ts'

const CHANGES_MAX = 4

export type Counts = { readonly runs: number; decoded: number; accepted: number; readonly kinds: Set<string> }

const writer: Writer = {
  user: anonymousUser,
  now: () => '2026-03-01T10:00:00Z',
  warn: () => undefined,
  newId: () => 'u',
}

/** Fails with the object that breaks a rule, and the seed to find it again. */
export function checkRegistry(
  seeds: readonly Seed[],
  { runs, seed }: { readonly runs: number; readonly seed: number },
): Counts {
  const counts: Counts = { runs, decoded: 0, accepted: 0, kinds: new Set() }
  for (let run = 0; run < runs; run++) {
    const random = new Random(seed).fork(`${run}`)
    const { resource, object } = random.pick(seeds)
    const given = mutated(object, random.between(0, CHANGES_MAX), random)
    try {
      check(resource, JSON.stringify(given), counts)
    } catch (cause) {
      const what = `${resource.kind} of run ${run}, seed ${seed}: ${JSON.stringify(given)}`
      throw new Error(what, { cause })
    }
  }
  return counts
}

function check(resource: Resource, text: string, counts: Counts): void {
  const object = decoded(resource, text)
  if (object === undefined) return
  counts.decoded++
  assert.deepEqual(resource.shape.setDefaults(object), object, 'defaults set twice')
  const created = newObject(resource, object)
  const faults = validateCreate(created, resource)
  resource.warnings(created, undefined)
  if (faults.length > 0) return
  counts.accepted++
  counts.kinds.add(resource.kind)
  const current = decodeStored(encodeStored(created, resource.shape), resource.shape, 1)
  const updated = resource.prepareUpdate(current, current, writer)
  assert.deepEqual(validateUpdate(updated, current, { resource, rules: resource }), [], 'accepted on create')
  resource.warnings(updated, current)
  for (const rules of Object.values(resource.subresourceRules)) {
    const part = rules.prepareUpdate(current, current, writer)
    validateUpdate(part, current, { resource, rules })
    rules.warnings?.(part, current)
  }
}

/** Undefined: refused, as a client would be. */
function decoded(resource: Resource, text: string): KubeObject | undefined {
  try {
    const { object } = decodeBody({ bytes: Buffer.from(text) }, resource, 'Ignore')
    return resource.isNamespaced ? { ...object, metadata: { ...object.metadata, namespace: 'n' } } : object
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

function newObject(resource: Resource, object: KubeObject): KubeObject {
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, managedFields: ___, ...given } = object.metadata
  const metadata = { ...given, uid: 'u', creationTimestamp: '2026-03-01T10:00:00Z' }
  return resource.prepareCreate({ ...object, metadata }, writer)
}

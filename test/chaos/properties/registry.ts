/**
 * Checks properties that must hold for every kind, regardless of what a client sends:
 *
 * - Decoding either rejects an object or returns the decoded object.
 * - Setting defaults is idempotent, and validation never throws.
 * - An update accepts every object that a create accepts, without changing it.
 * - Encoding an object's JSON as protobuf has the same result as encoding the object.
 * - The response for a stored object does not depend on whether the object was decoded.
 * - Comparing only the changed parts of two objects finds all differences between them.
 */
import assert from 'node:assert/strict'
import type { KubeObject } from '../../../src/api/object.ts'
import { decodeBody } from '../../../src/objects/codec/decode-body.ts'
import { ApiError } from '../../../src/api/errors.ts'
import { compare } from '../../../src/objects/apply/compare.ts'
import { mergeTypeOfObjects } from '../../../src/objects/apply/object-merge-type.ts'
import { changedWires, givenWire, storedWire } from '../../../src/objects/apply/wire.ts'
import { anonymousUser } from '../../../src/api/user.ts'
import {
  decodeStored,
  encodeStored,
  printWire,
  UnreadableError,
} from '../../../src/objects/codec/object.ts'
import { PrintedCheck } from '../../../src/objects/codec/printed.ts'
import { readShown, settledWire } from '../../../src/objects/codec/settled.ts'
import { rowOf } from '../../../src/objects/codec/table.ts'
import { encodeItem } from '../../../src/objects/codec/protobuf/envelope.ts'
import { Transcoder } from '../../../src/objects/codec/protobuf/transcode.ts'
import { apiVersionOf, type Resource, type Writer } from '../../../src/registry/resource.ts'
import { validateCreate, validateUpdate } from '../../../src/registry/validate.ts'
import { Random } from '../simulation/random.ts'
import { mutated } from './mutate.ts'
import type { Seed } from './seeds.ts'

const CHANGES_MAX = 4

const transcoder = new Transcoder()
const printedCheck = new PrintedCheck()

export type Counts = {
  readonly runs: number
  decoded: number
  accepted: number
  readonly kinds: Set<string>
}

const writer: Writer = {
  user: anonymousUser,
  now: () => '2026-03-01T10:00:00Z',
  warn: () => undefined,
  newId: () => 'u',
}

/**
 * Checks random objects. If an object violates a property, throws an error with the object and the
 * seed that reproduces it.
 */
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
      check(resource, JSON.stringify(given), { counts, random })
    } catch (cause) {
      const what = `${resource.kind} of run ${run}, seed ${seed}: ${JSON.stringify(given)}`
      throw new Error(what, { cause })
    }
  }
  return counts
}

function check(
  resource: Resource,
  text: string,
  { counts, random }: { readonly counts: Counts; readonly random: Random },
): void {
  const object = decoded(resource, text)
  if (object === undefined) return
  counts.decoded++
  assert.deepEqual(resource.shape.setDefaults(object), object, 'defaults set twice')
  const created = newObject(resource, object)
  const faults = validateCreate(created, resource)
  resource.rules.warnings(created, undefined)
  if (faults.length > 0) return
  counts.accepted++
  counts.kinds.add(resource.kind)
  const current = decodeStored(encodeStored(created, resource.shape), resource.shape, 1)
  checkProtobuf(resource, current)
  checkRow(resource, current)
  checkSettled(resource, current, random)
  checkChanges(
    resource,
    current,
    decoded(resource, JSON.stringify(mutated(JSON.parse(text), 2, random))),
  )
  const updated = resource.rules.prepareUpdate(current, current, writer)
  assert.deepEqual(
    validateUpdate(updated, current, { resource, rules: resource.rules }),
    [],
    'accepted on create',
  )
  resource.rules.warnings(updated, current)
  for (const rules of Object.values(resource.rules.subresources)) {
    const part = rules.prepareUpdate(current, current, writer)
    validateUpdate(part, current, { resource, rules })
    rules.warnings?.(part, current)
  }
}

/**
 * Checks that comparing only the changed parts of two objects finds all differences between them.
 * Compares an object with another object, and with a copy of itself into which one part of the
 * other object was copied.
 */
function checkChanges(
  { shape: { struct } }: Resource,
  before: KubeObject,
  other: KubeObject | undefined,
): void {
  if (other === undefined) return
  const type = mergeTypeOfObjects(struct)
  const { metadata, spec = null, status = null } = other
  for (const after of [
    other,
    { ...before, metadata },
    { ...before, spec },
    { ...before, status },
  ]) {
    const whole = compare(storedWire(before, struct), givenWire(after, struct, before), type)
    const changed = changedWires(before, after, struct)
    assert.deepEqual(compare(changed.before, changed.after, type), whole, 'differences')
  }
}

function checkRow({ shape, table }: Resource, object: KubeObject): void {
  const shown = readShown(printWire(object, shape).bytes)
  // `readShown` returns undefined for objects with escape sequences in their keys, which it does
  // not support. The server decodes these objects instead.
  if (shown === undefined) return
  assert.deepEqual(rowOf(shown, table, 'null'), rowOf(object, table, 'null'), 'row of its JSON')
}

function checkProtobuf({ shape }: Resource, object: KubeObject): void {
  const made = transcoder.message(printWire(object, shape).bytes, 0, shape.struct)
  if (made === undefined) return
  assert.equal(
    made.toString('latin1'),
    encodeItem(object, shape.struct).toString('latin1'),
    'protobuf of its JSON',
  )
}

/**
 * Checks that the response for stored bytes is the same with and without decoding them. The bytes
 * are those that Keelson stores for the object, and a changed version that another program might
 * store.
 */
function checkSettled(resource: Resource, object: KubeObject, random: Random): void {
  const { shape } = resource
  const stored = encodeStored(object, shape)
  const changed = JSON.stringify(
    mutated(JSON.parse(stored.toString()), random.between(1, 2), random),
  )
  for (const bytes of [stored, Buffer.from(`${changed}\n`)]) {
    const kind = { kind: resource.kind, apiVersion: apiVersionOf(resource), schema: shape }
    const settled = settledWire(bytes, kind, { check: printedCheck, revision: 7 })
    if (settled === undefined) continue
    const read = readable(() => decodeStored(bytes, shape, 7))
    assert.ok(read !== undefined, `shown, but not readable: ${bytes.toString()}`)
    assert.equal(
      settled.wire.bytes.toString(),
      printWire(read, shape).bytes.toString(),
      'shown without decoding',
    )
    assert.equal(settled.wire.versionAt, printWire(read, shape).versionAt)
    for (const [field, fieldOf] of Object.entries(resource.selection.fields)) {
      assert.equal(fieldOf(settled.object), fieldOf(read), field)
    }
  }
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof UnreadableError) return undefined
    throw error
  }
}

/**
 * Decodes an object. Returns undefined if a client's request with this object would be rejected.
 */
function decoded(resource: Resource, text: string): KubeObject | undefined {
  try {
    const { object } = decodeBody({ bytes: Buffer.from(text) }, resource, 'Ignore')
    return resource.isNamespaced
      ? { ...object, metadata: { ...object.metadata, namespace: 'n' } }
      : object
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

function newObject(resource: Resource, object: KubeObject): KubeObject {
  const {
    deletionTimestamp: _,
    deletionGracePeriodSeconds: __,
    managedFields: ___,
    ...given
  } = object.metadata
  const metadata = { ...given, uid: 'u', creationTimestamp: '2026-03-01T10:00:00Z' }
  return resource.rules.prepareCreate({ ...object, metadata }, writer)
}

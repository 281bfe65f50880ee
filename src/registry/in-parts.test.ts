import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../apply/compare.ts'
import { printFieldsV1, parseFieldsV1 } from '../apply/fields-v1.ts'
import { mergeTypeOfObjects } from '../apply/object-merge-type.ts'
import { addedSet, appliedSet } from '../apply/owned.ts'
import { validateApplied, validateTyped } from '../apply/validate.ts'
import { isEqual as isEqualValue, isSurelyOther } from '../apply/value.ts'
import { givenWire, storedWire } from '../apply/wire.ts'
import { ApiError } from '../api/errors.ts'
import { type Fields, isFields, type Json, type KubeObject } from '../api/object.ts'
import { decodeBody } from '../codec/decode-body.ts'
import { printOrdered, printSorted } from '../codec/json.ts'
import { decodeStored, encodeStored, printObject } from '../codec/object.ts'
import { parts } from '../lib/parts.ts'
import { restoreStruct } from '../patch/restore.ts'
import { isEqual } from '../schema/equal.ts'
import { loadSeeds } from '../../test/properties/seeds.ts'
import { allSteps } from '../../test/harness/turns.ts'
import type { Resource } from './resource.ts'
import { validateCreate } from './validate.ts'

/** Pauses as often as it can. */
const inManyParts = <T>(work: () => T): T => allSteps(parts(work, { isOver: true, begin: () => undefined }))

function outcome(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error instanceof ApiError ? error.message : error
  }
}

function decodedOf(bytes: Buffer, resource: Resource): KubeObject | undefined {
  try {
    return decodeBody({ bytes }, resource, 'Ignore').object
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** Each list of the spec has its items many times, so that there is something to pause in. */
function enlarged(value: Json): Json {
  if (Array.isArray(value)) return value.length === 0 ? value : repeated(value)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, enlarged(field ?? null)]))
}

const repeated = (items: readonly Json[]): Json =>
  Array.from({ length: 40 }, (_, at) => items[at % items.length] ?? null)

/** In characters. Of a larger object the copies would be too large for a test. */
const SMALL = 4000

function withLongLists(object: Fields): Json {
  const { spec } = object
  return spec === undefined ? enlarged(object) : { ...object, spec: enlarged(spec) }
}

const seeds = await loadSeeds()
const chosen = seeds.filter((_, at) => at % 9 === 0).slice(0, 120)

test('work on objects of every kind has the same result in parts', () => {
  for (const { resource, object } of chosen) {
    const given: Json = JSON.parse(JSON.stringify(object))
    const isSmall = JSON.stringify(given).length < SMALL
    const bytes = Buffer.from(JSON.stringify(isSmall && isFields(given) ? withLongLists(given) : given))
    const { shape } = resource
    const { struct } = shape
    const same = (what: string, work: () => unknown): void =>
      assert.deepEqual(
        outcome(() => inManyParts(work)),
        outcome(work),
        `${what} of ${resource.kind}`,
      )
    same('decode', () => decodeBody({ bytes }, resource, 'Warn'))
    const whole = decodedOf(bytes, resource)
    if (whole === undefined) continue
    const other: KubeObject = { ...whole, metadata: { ...whole.metadata, labels: { a: 'b' } } }
    const type = mergeTypeOfObjects(struct)
    const [before, after] = [storedWire(whole, struct), givenWire(other, struct)]
    same('wire', () => [storedWire(whole, struct), givenWire(other, struct)])
    same('compare', () => compare({}, after, type))
    same('compare with itself', () => compare(structuredClone(before), after, type))
    same('sets', () => [addedSet(after, type), appliedSet(after, type)])
    const fields = printFieldsV1(addedSet(after, type))
    same('fields', () => parseFieldsV1(`${fields} `))
    same('validate', () => [validateApplied(after, type), validateTyped(after, type)])
    same('equality', () => [
      isEqualValue(whole, structuredClone(whole)),
      isSurelyOther(whole, other),
      isEqual(struct, whole, structuredClone(other)),
    ])
    same('print', () => [printObject(whole, shape), printSorted(whole), printOrdered(whole)])
    same('encode', () => encodeStored(whole, shape))
    same('decode what is stored', () => decodeStored(encodeStored(whole, shape), shape, 7))
    same('encode as protobuf', () => encodeStored(whole, { ...shape, storedAs: 'protobuf' }))
    same('faults', () => validateCreate(whole, resource))
    same('warnings', () => resource.warnings(whole, undefined))
    same('restore', () => restoreStruct(after, struct))
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../objects/apply/compare.ts'
import { printFieldsV1, parseFieldsV1 } from '../objects/apply/fields-v1.ts'
import { mergeTypeOfObjects } from '../objects/apply/object-merge-type.ts'
import { addedSet, appliedSet } from '../objects/apply/owned.ts'
import { validateApplied, validateTyped } from '../objects/apply/validate.ts'
import { isEqual as isEqualValue, isSurelyOther } from '../objects/apply/value.ts'
import { givenWire, storedWire } from '../objects/apply/wire.ts'
import { ApiError } from '../api/errors.ts'
import { type Fields, isFields, type Json, type KubeObject } from '../api/object.ts'
import { decodeBody } from '../objects/codec/decode-body.ts'
import { printOrdered, printSorted } from '../objects/codec/json.ts'
import type { ReadLimits } from '../objects/codec/protobuf/reader.ts'
import { decodeStored, encodeStored, printObject } from '../objects/codec/object.ts'
import { decodeObject, encodeObject, openEnvelope } from '../objects/codec/protobuf/envelope.ts'
import { inParts, parts } from '../lib/scheduling/parts.ts'
import { Slices } from '../lib/scheduling/slices.ts'
import { restoreStruct } from '../objects/patch/restore.ts'
import { isEqual } from '../objects/schema/equal.ts'
import { setDefaults } from '../objects/schema/structural/defaults.ts'
import { readStructural } from '../objects/schema/structural/read-structural.ts'
import { builtIn } from '../../test/support/harness/memory-control-plane.ts'
import { loadSeeds } from '../../test/chaos/properties/seeds.ts'
import { allSteps, bestLongestTurnMs } from '../../test/support/harness/turns.ts'
import { customResources } from './custom/custom-resource.ts'
import { readCrd } from './custom/crd.ts'
import type { Resource } from './resource.ts'
import { validateCreate } from './validate.ts'

/** Runs the work in parts that are as short as possible. */
const inManyParts = <T>(work: () => T): T =>
  allSteps(parts(work, { isOver: true, begin: () => undefined }))

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

/** Repeats the items of each list, so that work on the object can be interrupted in many places. */
function enlarged(value: Json): Json {
  if (Array.isArray(value)) return value.length === 0 ? value : repeated(value)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, enlarged(field ?? null)]),
  )
}

const repeated = (items: readonly Json[]): Json =>
  Array.from({ length: 20 }, (_, at) => items[at % items.length] ?? null)

/**
 * Maximum length in characters of the objects that are enlarged. Enlarging longer objects would
 * make the test too slow.
 */
const SMALL = 4000

function withLongLists(object: Fields): Json {
  const { spec } = object
  return spec === undefined ? enlarged(object) : { ...object, spec: enlarged(spec) }
}

const crds = builtIn('customresourcedefinitions', 'apiextensions.k8s.io')
const configMaps = builtIn('configmaps')

/** Time slices that end after every step. */
const everyStep = { isOver: true, begin: () => undefined, stepsPerLook: 1 }

function sameInParts(work: () => unknown): unknown {
  const expected = outcome(work)
  assert.deepEqual(
    outcome(() => allSteps(parts(work, everyStep))),
    expected,
  )
  return expected
}

const long = 'x'.repeat(1 << 20)
const texts = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `"f${at}"`)

test('a value of the wrong type is reported even if decoding is interrupted inside a schema', () => {
  const inner = '{"enum":[1,2,3],"required":["a","b","c"]}'
  const schema = `{"schema":{"openAPIV3Schema":{"items":${inner},"additionalProperties":${inner}}}}`
  const bytes = Buffer.from(`{"spec":{"versions":[{"served":"wrong"},${schema}]}}`)
  const refused = sameInParts(() => decodeBody({ bytes }, crds, 'Warn'))
  assert.match(String(refused), /cannot unmarshal string .* of type bool/)
})

test('an unknown field is reported once, however often decoding is interrupted', () => {
  const lists = `"metadata":{"finalizers":[${texts(40).join()}]}`
  const bytes = Buffer.from(`{"${long}":1,${lists},"last":1}`)
  const { warnings } = decodeBody({ bytes }, configMaps, 'Warn')
  assert.equal(warnings.length, 2)
  sameInParts(() => decodeBody({ bytes }, configMaps, 'Warn'))
  const containers = [{ [long]: 1, env: texts(40).map((name) => ({ name })) }, { last: 1 }]
  const tree: Json = { spec: { containers } }
  const { strictFaults } = restoreStruct(tree, builtIn('pods').shape.struct)
  assert.equal(strictFaults.length, 2)
  sameInParts(() => restoreStruct(tree, builtIn('pods').shape.struct))
})

test('unknown fields whose paths are printed alike are reported in the same way if decoding is interrupted', () => {
  const tree: Json = {
    'spec.a': 1,
    spec: { a: 1, containers: texts(40).map((name) => ({ name })) },
  }
  sameInParts(() => restoreStruct(tree, builtIn('pods').shape.struct))
})

test('the size of a default value counts once toward the size limit, however often setting the default is interrupted', () => {
  const schema = readStructural({
    type: 'object',
    properties: {
      large: { type: 'string', default: long },
      late: { type: 'string', default: 'late' },
      items: {
        type: 'array',
        items: { type: 'object', properties: { d: { type: 'string', default: 'D' } } },
      },
    },
  })
  const given: Json = { items: texts(60).map(() => ({})) }
  sameInParts(() => setDefaults(given, schema))
})

const limits = (entriesMax: number): ReadLimits => ({
  entriesMax,
  takeItem: () => undefined,
  holdFields: () => Infinity,
})

test('an entry of a protobuf map counts once toward the limit, however often the decoding of its value is interrupted', () => {
  const { struct } = crds.shape
  const properties = Object.fromEntries(
    texts(20).map((name) => [name, { required: ['a', 'b', 'c'] }]),
  )
  const versions = [{ name: 'v1', schema: { openAPIV3Schema: { properties } } }]
  const object: KubeObject = { apiVersion: 'v1', kind: 'A', metadata: {}, spec: { versions } }
  const envelope = openEnvelope(encodeObject(object, struct))
  sameInParts(() => decodeObject(envelope, struct, limits(20)))
  assert.throws(() => decodeObject(envelope, struct, limits(19)), { name: 'TooManyEntriesError' })
})

const many = (value: string): string =>
  Array.from({ length: 60_000 }, (_, at) => `"k${at}":${value}`).join()

test('decoding an object with many top-level fields does not block the event loop', async () => {
  const [open] = customResources(readCrd(openDefinition))
  assert.ok(open)
  const head = '"metadata":{"name":"w"}'
  const cases: readonly (readonly [string, Resource, string])[] = [
    [
      'fields without a schema',
      open,
      `{"apiVersion":"example.com/v1","kind":"Wheel",${head},${many('[{},{}]')}}`,
    ],
    ['unknown fields', configMaps, `{${head},${many('{}')},"data":{${many('"v"')}}}`],
    [
      'repeated fields',
      configMaps,
      `{${head},${many('{}').replaceAll(/"k\d+"/g, '"data"')},"data":{${many('"v"')}}}`,
    ],
  ]
  for (const [what, resource, text] of cases) {
    const bytes = Buffer.from(text)
    const ms = await bestLongestTurnMs(async () => {
      const slices = new Slices(undefined, { isExpensive: true })
      await inParts(() => decodeBody({ bytes }, resource, 'Warn'), slices)
    })
    assert.ok(ms < 50, `${what}: ${ms} ms`)
  }
})

const defaulted = readStructural({
  type: 'object',
  additionalProperties: { type: 'object', properties: { d: { type: 'string', default: 'D' } } },
})
const reviews = builtIn('tokenreviews', 'authentication.k8s.io').shape.struct
const review: KubeObject = {
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  metadata: {},
  status: { user: { extra: { k: Array.from({ length: 600_000 }, () => 'v') } } },
}

const longWorks: { readonly [about: string]: () => () => unknown } = {
  'defaults in the values of a map': () => {
    const given = JSON.parse(`{${many('{}')}}`)
    return () => setDefaults(given, defaulted)
  },
  'a list in a map in protobuf': () => {
    const envelope = openEnvelope(encodeObject(review, reviews))
    return () => decodeObject(envelope, reviews, limits(Infinity))
  },
  'equal maps': () => {
    const [one, other] = [JSON.parse(`{${many('"v"')}}`), JSON.parse(`{${many('"v"')}}`)]
    return () => isEqualValue(one, other)
  },
  'owned items of a list': () => {
    const children = Array.from(
      { length: 60_000 },
      (_, at) => `"k:{\\"containerPort\\":${at},\\"protocol\\":\\"TCP\\"}":{}`,
    )
    const set = parseFieldsV1(`{${children.join()}}`)
    assert.ok(set)
    return () => printFieldsV1(set)
  },
}

for (const [about, prepare] of Object.entries(longWorks)) {
  test(`long work on an object (${about}) does not block the event loop`, async () => {
    const work = prepare()
    const ms = await bestLongestTurnMs(async () => {
      await inParts(work, new Slices(undefined, { isExpensive: true }))
    })
    assert.ok(ms < 50, `${ms} ms`)
  })
}

const names = { plural: 'wheels', singular: 'wheel', kind: 'Wheel', listKind: 'WheelList' }
const openSchema = {
  openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
}
const openDefinition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'wheels.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names,
    versions: [{ name: 'v1', served: true, storage: true, schema: openSchema }],
  },
  status: { acceptedNames: names },
}

const seeds = await loadSeeds()
const chosen = seeds.filter((_, at) => at % 9 === 0).slice(0, 120)

test('work on objects of every kind has the same result whether or not it is divided into parts', () => {
  for (const { resource, object } of chosen) {
    const given: Json = JSON.parse(JSON.stringify(object))
    const isSmall = JSON.stringify(given).length < SMALL
    const bytes = Buffer.from(
      JSON.stringify(isSmall && isFields(given) ? withLongLists(given) : given),
    )
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
    same('warnings', () => resource.rules.warnings(whole, undefined))
    same('restore', () => restoreStruct(after, struct))
  }
})

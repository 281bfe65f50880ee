/**
 * Decodes and encodes recorded objects (test/recorded/golden). Some objects were stored by
 * kube-apiserver, and others have every field set.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  readFilled,
  readStored,
  type StoredRow as GoldenRow,
} from '../../test/recorded/golden/read.ts'
import type { KubeObject } from '../api/object.ts'
import { decodeStruct } from '../objects/codec/decode.ts'
import { decodeStored, encodeStored, printWire, UnreadableError } from '../objects/codec/object.ts'
import { printStruct } from '../objects/codec/print.ts'
import { PrintedCheck } from '../objects/codec/printed.ts'
import { readShown, settledWire } from '../objects/codec/settled.ts'
import { rowOf } from '../objects/codec/table.ts'
import {
  decodeObject,
  encodeItem,
  encodeObject,
  openEnvelope,
} from '../objects/codec/protobuf/envelope.ts'
import { Transcoder } from '../objects/codec/protobuf/transcode.ts'
import type { Struct } from '../objects/schema/schema.ts'
import { builtInResources } from './built-in.ts'
import { apiVersionOf, type Resource } from './resource.ts'
import { findType } from './types.ts'

/**
 * Feature gates of the kube-apiserver that stored the recorded objects. MaxUnavailableStatefulSet,
 * which sets a default, was off.
 */
const isOn = (gate: string): boolean => gate !== 'MaxUnavailableStatefulSet'
/** Options that serve every version, including those that are off by default. */
const all = { isServed: () => true, gates: { release: 33, isOn } } as const
const resources = builtInResources(all)

/**
 * Objects that kube-apiserver itself would store differently on the next write, because one of
 * their defaults is set only by reads.
 */
const rewritten = new Set(['/registry/persistentvolumeclaims/golden/shop'])

type StoredRow = GoldenRow & { readonly resource: Resource }

/** Yields the recorded objects whose kind this server supports. */
function* storedRows(): Generator<StoredRow> {
  for (const row of readStored()) {
    const { apiVersion, kind } = row.object
    const resource = resources.find((one) => apiVersionOf(one) === apiVersion && one.kind === kind)
    if (resource !== undefined) yield { ...row, resource }
  }
}

test('a stored object that is read and stored again has the same bytes', () => {
  const check = new PrintedCheck()
  let seen = 0
  let undecoded = 0
  for (const { key, json, object, resource, revision } of storedRows()) {
    seen++
    const read = decodeStored(Buffer.from(json), resource.shape, revision)
    if (!rewritten.has(key)) assert.equal(encodeStored(read, resource.shape).toString(), json, key)
    const wire = printWire(read, resource.shape).bytes
    assert.deepEqual(JSON.parse(wire.toString()), object, key)
    const kind = { kind: resource.kind, apiVersion: apiVersionOf(resource), schema: resource.shape }
    const settled = settledWire(Buffer.from(json), kind, { check, revision })
    if (settled !== undefined) undecoded++
    assert.equal(
      (settled?.wire.bytes ?? wire).toString(),
      wire.toString(),
      `${key} without decoding`,
    )
    const shown = readShown(wire)
    assert.ok(shown !== undefined)
    assert.deepEqual(
      rowOf(shown, resource.table, 'null'),
      rowOf(read, resource.table, 'null'),
      `${key} as a row`,
    )
    // The cache retains only the bytes that clients receive, and decodes them again.
    assert.deepEqual(decodeStored(wire, resource.shape, revision), read, key)
  }
  assert.ok(seen >= 64, `${seen} objects`)
  assert.ok(undecoded > 40, `${undecoded} of them are shown without decoding`)
})

test('every stored kind has a recorded object in test/recorded/golden', () => {
  const kinds = new Set(
    [...storedRows()].map(({ resource }) => `${apiVersionOf(resource)} ${resource.kind}`),
  )
  for (const resource of resources) {
    const id = `${apiVersionOf(resource)} ${resource.kind}`
    if (resource.isStored) assert.ok(kinds.has(id), id)
  }
})

test('objects stored as protobuf can be read, and their protobuf responses equal those of kube-apiserver', () => {
  let seen = 0
  for (const { key, protobuf, object, resource, revision, sha256 } of storedRows()) {
    if (protobuf === undefined) continue
    seen++
    const read = decodeStored(Buffer.from(protobuf, 'base64'), resource.shape, revision)
    assert.deepEqual(JSON.parse(printWire(read, resource.shape).bytes.toString()), object, key)
    const shown = encodeObject(
      { ...read, kind: resource.kind, apiVersion: apiVersionOf(resource) },
      resource.shape.struct,
    )
    if (!withEmptyBytes.test(key))
      assert.equal(createHash('sha256').update(shown).digest('hex'), sha256, key)
  }
  assert.ok(seen >= 62, `${seen} objects`)
})

/** Returns the packages that can contain the kinds of a group. */
function packagesOf(group: string): readonly string[] {
  if (group === 'core') return ['core', 'meta']
  return [group === 'internal.apiserver.k8s.io' ? 'apiserverinternal' : (group.split('.')[0] ?? '')]
}

/** Returns the type of a kind named as in `apps/v1 Deployment`. */
function structOf(id: string): Struct {
  const [apiVersion = '', kind = ''] = id.split(' ')
  const [group = '', version = ''] = apiVersion.includes('/')
    ? apiVersion.split('/')
    : ['core', apiVersion]
  const [struct] = packagesOf(group).flatMap((one) => findType(`${one}/${version}`, kind, 33) ?? [])
  return struct ?? assert.fail(`${id} has no type`)
}

const filled = readFilled()

test('an object with every field set is unchanged after it is decoded and encoded', () => {
  for (const { id, json, protobuf } of filled) {
    const [apiVersion = '', kind = ''] = id.split(' ')
    const struct = structOf(id)
    const text = JSON.stringify(json)
    const { value, fault, strictFaults } = decodeStruct(text, struct)
    assert.deepEqual([fault, strictFaults], [undefined, []], id)
    assert.equal(printStruct(value, struct), text, id)
    // A WatchEvent has neither `kind` nor `apiVersion`, so both are empty in the protobuf envelope.
    const named = 'kind' in value ? { kind, apiVersion } : { kind: '', apiVersion: '' }
    assert.ok(encodeObject({ ...value, ...named }, struct).equals(protobuf), `${id} as protobuf`)
    assert.equal(
      printStruct(decodeObject(openEnvelope(protobuf), struct), struct),
      printStruct(value, struct),
      id,
    )
  }
  assert.ok(filled.length > 180, `${filled.length} kinds`)
})

/**
 * Kinds that cannot be converted without decoding, because they contain values of any type, lists
 * in maps, or nulls in maps. Clients do not list thousands of such objects.
 */
const decodedKinds =
  /APIResourceList|CustomResourceDefinition|Review|CertificateSigningRequest|PodDisruptionBudget/

test('JSON is converted to protobuf without decoding the object', () => {
  const transcoder = new Transcoder()
  let seen = 0
  for (const { id, json } of filled) {
    const struct = structOf(id)
    const { value } = decodeStruct(JSON.stringify(json), struct)
    const made = transcoder.message(Buffer.from(printStruct(value, struct)), 0, struct)
    if (made === undefined) {
      assert.match(id, decodedKinds, `${id} is not expected`)
      continue
    }
    seen++
    assert.equal(made.toString('latin1'), encodeItem(value, struct).toString('latin1'), id)
    const empty = transcoder.message(Buffer.from(printStruct({}, struct)), 0, struct)
    assert.equal(
      empty?.toString('latin1'),
      encodeItem({}, struct).toString('latin1'),
      `${id} without its fields`,
    )
  }
  assert.ok(seen > 150, `${seen} objects`)
})

test('an object stored in an old version can be read', () => {
  const resource = resources.find((one) => one.kind === 'Role')
  assert.ok(resource !== undefined)
  const read = (version: string): KubeObject => {
    const stored = filled.find(({ id }) => id === `rbac.authorization.k8s.io/${version} Role`)
    assert.ok(stored !== undefined, version)
    return decodeStored(stored.protobuf, resource.shape, 7)
  }
  assert.deepEqual(read('v1beta1'), read('v1'))
  assert.deepEqual(read('v1alpha1'), read('v1'))
  assert.throws(() => decodeStored(Buffer.from(unknownVersion), resource.shape, 7), UnreadableError)
})

const unknownVersion = '{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v9","metadata":{}}'

/**
 * Objects for which kube-apiserver distinguishes empty bytes from absent bytes. JSON cannot express
 * this difference.
 */
const withEmptyBytes = /webhookconfigurations/

test("an object encoded as protobuf has the same bytes as in kube-apiserver's storage", () => {
  const asProtobuf = builtInResources({ ...all, storedAs: 'protobuf' })
  let seen = 0
  for (const { key, protobuf, resource, revision } of storedRows()) {
    const { shape } = asProtobuf.find((one) => isSameKind(one, resource)) ?? resource
    if (protobuf === undefined || rewritten.has(key) || withEmptyBytes.test(key)) continue
    seen++
    const stored = Buffer.from(protobuf, 'base64')
    const again = encodeStored(decodeStored(stored, shape, revision), shape)
    assert.equal(again.toString('latin1'), stored.toString('latin1'), key)
  }
  assert.ok(seen >= 59, `${seen} objects`)
})

const isSameKind = (one: Resource, other: Resource): boolean =>
  one.kind === other.kind && apiVersionOf(one) === apiVersionOf(other)

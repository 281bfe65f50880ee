/**
 * Objects that kube-apiserver wrote, read and written again. The files lie outside of the repository (../shared); without
 * them there is nothing to judge by.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fieldsOf, type Json, type KubeObject } from '../api/object.ts'
import { decodeStruct } from '../codec/decode.ts'
import { parseJson } from '../codec/json.ts'
import { decodeStored, encodeStored, printWire, UnreadableError } from '../codec/object.ts'
import { printStruct } from '../codec/print.ts'
import { PrintedCheck } from '../codec/printed.ts'
import { settledWire } from '../codec/settled.ts'
import { decodeObject, encodeItem, encodeObject, isProtobuf, openEnvelope } from '../codec/protobuf/envelope.ts'
import { Transcoder } from '../codec/protobuf/transcode.ts'
import { builtInResources } from './built-in.ts'
import { apiVersionOf, type Resource } from './resource.ts'
import { findType } from './types.ts'

const shared = join(import.meta.dirname, '..', '..', '..', 'shared')
const storedFile = join(shared, 'golden-storage', 'values-json.jsonl')
const protobufFile = join(shared, 'golden-storage', 'values.jsonl')
const goldenFolder = join(shared, 'golden')
const skip = existsSync(storedFile) && existsSync(goldenFolder) ? false : 'there is no ../shared'

const resources = builtInResources()

/** Upstream itself would write it differently the next time: it sets a default only when it reads. */
const rewritten = new Set(['/registry/persistentvolumeclaims/golden/x'])

type StoredRow = {
  readonly key: string
  readonly stored: Buffer
  readonly object: unknown
  readonly resource: Resource
  readonly revision: number
}

/** Those of a kind that we have, and that the API shows. */
function* storedRows(file: string): Generator<StoredRow> {
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const row = fieldsOf(parseJson(Buffer.from(line)))
    const object = fieldsOf(row['object'])
    const resource = resources.find((one) => apiVersionOf(one) === object['apiVersion'] && one.kind === object['kind'])
    if (resource === undefined || row['get'] === null) continue
    const stored = Buffer.from(textOf(row['value']), 'base64')
    const revision = Number(fieldsOf(object['metadata'])['resourceVersion'])
    yield { key: textOf(row['key']), stored, object: JSON.parse(line).object, resource, revision }
  }
}

test('stored objects are read, and stored again as they were', { skip }, () => {
  const check = new PrintedCheck()
  let seen = 0
  let undecoded = 0
  for (const { key, stored, object, resource, revision } of storedRows(storedFile)) {
    seen++
    const read = decodeStored(stored, resource.shape, revision)
    if (!rewritten.has(key)) assert.equal(encodeStored(read, resource.shape).toString(), stored.toString(), key)
    const wire = printWire(read, resource.shape).bytes
    assert.deepEqual(JSON.parse(wire.toString()), object, key)
    const kind = { kind: resource.kind, apiVersion: apiVersionOf(resource), schema: resource.shape }
    const settled = settledWire(stored, kind, { check, revision })
    if (settled !== undefined) undecoded++
    assert.equal((settled?.wire.bytes ?? wire).toString(), wire.toString(), `${key} without decoding`)
    // The cache keeps only what clients see, and reads that.
    assert.deepEqual(decodeStored(wire, resource.shape, revision), read, key)
  }
  assert.ok(seen > 80, `${seen} objects`)
  assert.ok(undecoded > 50, `${undecoded} of them are shown without decoding`)
})

test('objects stored as protobuf are read', { skip }, () => {
  let seen = 0
  for (const { key, stored, object, resource, revision } of storedRows(protobufFile)) {
    if (!isProtobuf(stored)) continue
    seen++
    const read = decodeStored(stored, resource.shape, revision)
    assert.deepEqual(JSON.parse(printWire(read, resource.shape).bytes.toString()), object, key)
  }
  assert.ok(seen > 80, `${seen} objects`)
})

/** The packages in which the kinds of a group may be. */
function packagesOf(group: string): readonly string[] {
  if (group === 'core') return ['core', 'meta']
  return [group === 'internal.apiserver.k8s.io' ? 'apiserverinternal' : (group.split('.')[0] ?? '')]
}

test('an object with every field set is written as it was read', { skip }, () => {
  let seen = 0
  for (const file of readdirSync(goldenFolder)) {
    const [, group = '', version = '', kind = ''] = /^(.+)\.(v[^.]+)\.([A-Za-z]+)\.json$/.exec(file) ?? []
    if (kind === '') continue
    seen++
    const [struct] = packagesOf(group).flatMap((one) => findType(`${one}/${version}`, kind) ?? [])
    assert.ok(struct !== undefined, `${file} has a type`)
    const text = readFileSync(join(goldenFolder, file), 'utf8')
    const { value, fault, strictFaults } = decodeStruct(text, struct)
    assert.deepEqual([fault, strictFaults], [undefined, []], file)
    assert.equal(printStruct(value, struct), JSON.stringify(JSON.parse(text)), file)
    const protobuf = readFileSync(join(goldenFolder, file.replace(/json$/, 'pb')))
    const object = { ...value, kind: textOf(value['kind']), apiVersion: textOf(value['apiVersion']) }
    assert.ok(encodeObject(object, struct).equals(protobuf), `${file} as protobuf`)
    assert.equal(printStruct(decodeObject(openEnvelope(protobuf), struct), struct), printStruct(value, struct), file)
  }
  assert.equal(seen, 180)
})

/** What has values of any type, lists in maps, or a null in a map is decoded: nobody lists such by the thousand. */
const decodedKinds = /CustomResourceDefinition|Review|CertificateSigningRequest|PodDisruptionBudget/

test('JSON becomes protobuf without an object in between', { skip }, () => {
  const transcoder = new Transcoder()
  let seen = 0
  for (const file of readdirSync(goldenFolder)) {
    const [, group = '', version = '', kind = ''] = /^(.+)\.(v[^.]+)\.([A-Za-z]+)\.json$/.exec(file) ?? []
    const [struct] = packagesOf(group).flatMap((one) => findType(`${one}/${version}`, kind) ?? [])
    if (struct === undefined) continue
    const { value } = decodeStruct(readFileSync(join(goldenFolder, file), 'utf8'), struct)
    const made = transcoder.message(Buffer.from(printStruct(value, struct)), 0, struct)
    if (made === undefined) {
      assert.match(kind, decodedKinds, `${file} is not expected`)
      continue
    }
    seen++
    assert.equal(made.toString('latin1'), encodeItem(value, struct).toString('latin1'), file)
    const empty = transcoder.message(Buffer.from(printStruct({}, struct)), 0, struct)
    assert.equal(empty?.toString('latin1'), encodeItem({}, struct).toString('latin1'), `${file} without its fields`)
  }
  assert.ok(seen > 150, `${seen} objects`)
})

test('an object stored in an old version is read', { skip }, () => {
  const resource = resources.find((one) => one.kind === 'Role')
  assert.ok(resource !== undefined)
  const read = (version: string): KubeObject =>
    decodeStored(readFileSync(join(goldenFolder, `rbac.authorization.k8s.io.${version}.Role.pb`)), resource.shape, 7)
  assert.deepEqual(read('v1beta1'), read('v1'))
  assert.deepEqual(read('v1alpha1'), read('v1'))
  assert.throws(() => decodeStored(Buffer.from(unknownVersion), resource.shape, 7), UnreadableError)
})

const unknownVersion = '{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v9","metadata":{}}'

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** Upstream tells an empty list of bytes from none, which JSON does not. */
const withEmptyBytes = /webhookconfigurations/

test('what is stored as protobuf is what kube-apiserver stored', { skip }, () => {
  const asProtobuf = builtInResources({ storedAs: 'protobuf' })
  let seen = 0
  for (const { key, stored, resource, revision } of storedRows(protobufFile)) {
    const { shape } = asProtobuf.find((one) => isSameKind(one, resource)) ?? resource
    if (!isProtobuf(stored) || rewritten.has(key) || withEmptyBytes.test(key)) continue
    seen++
    const again = encodeStored(decodeStored(stored, shape, revision), shape)
    assert.equal(again.toString('latin1'), stored.toString('latin1'), key)
  }
  assert.ok(seen > 70, `${seen} objects`)
})

const isSameKind = (one: Resource, other: Resource): boolean =>
  one.kind === other.kind && apiVersionOf(one) === apiVersionOf(other)

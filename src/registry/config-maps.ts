import { type FieldFault, forbiddenField, invalidValue, tooLong } from '../api/field-fault.ts'
import { checkConfigKey, checkDnsSubdomain } from '../api/names.ts'
import type { Json, KubeObject } from '../api/object.ts'
import { markWhileFinalized } from './deletion.ts'
import type { Resource } from './resource.ts'
import { boolean, bytesMap, field, metadata, optional, stringMap, struct } from '../api/shape.ts'

/** All values of one ConfigMap together. */
const VALUES_BYTES_MAX = 1024 * 1024

export const configMaps: Resource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  listKind: 'ConfigMapList',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  isNamespaced: true,
  isCustom: false,
  verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
  shape: struct('ConfigMap', [
    metadata,
    optional('immutable', boolean),
    field('data', stringMap),
    field('binaryData', bytesMap),
  ]),
  selectableFields: {},
  allowsUnconditionalUpdate: true,
  returnsDeleted: false,
  checkName: checkDnsSubdomain,
  prepareCreate: (object) => object,
  prepareUpdate: (object) => object,
  validate,
  validateUpdate,
  markDeleted: markWhileFinalized,
}

function validate(object: KubeObject): FieldFault[] {
  const data = entriesOf(object['data'])
  const binaryData = entriesOf(object['binaryData'])
  const binaryKeys = new Set(binaryData.map(([key]) => key))
  const faults: FieldFault[] = []
  for (const [key] of data) {
    for (const fault of checkConfigKey(key)) faults.push(invalidValue(`data[${key}]`, key, fault))
    if (binaryKeys.has(key)) faults.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'))
  }
  for (const [key] of binaryData) {
    for (const fault of checkConfigKey(key)) faults.push(invalidValue(`binaryData[${key}]`, key, fault))
  }
  let valuesBytes = 0
  for (const [, value] of data) valuesBytes += Buffer.byteLength(value)
  for (const [, value] of binaryData) valuesBytes += Buffer.byteLength(value, 'base64')
  // The field of this fault has no name in kube-apiserver either.
  if (valuesBytes > VALUES_BYTES_MAX) faults.push(tooLong('[]', VALUES_BYTES_MAX))
  return faults
}

function validateUpdate(object: KubeObject, current: KubeObject): FieldFault[] {
  const faults = validate(object)
  if (current['immutable'] !== true) return faults
  const frozen = 'field is immutable when `immutable` is set'
  if (object['immutable'] !== true) faults.push(forbiddenField('immutable', frozen))
  if (!areSame(object['data'], current['data'])) faults.push(forbiddenField('data', frozen))
  if (!areSame(object['binaryData'], current['binaryData'])) faults.push(forbiddenField('binaryData', frozen))
  return faults
}

/** The entries of a map of strings; a null value stands for an empty one. */
function entriesOf(map: Json | undefined): [string, string][] {
  if (typeof map !== 'object' || map === null) return []
  return Object.entries(map).map(([key, value]) => [key, typeof value === 'string' ? value : ''])
}

function areSame(one: Json | undefined, other: Json | undefined): boolean {
  const ones = entriesOf(one)
  const others = new Map(entriesOf(other))
  return ones.length === others.size && ones.every(([key, value]) => others.get(key) === value)
}

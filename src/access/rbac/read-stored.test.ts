import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../api/object.ts'
import { Item, type ItemHome } from '../../storage/cache/item.ts'
import { StorageError } from '../../storage/errors.ts'
import { createReadContent } from './read-stored.ts'

const decode = (): never => {
  throw new StorageError('corrupt', 'decoded')
}

/** Creates a cache item that is stored as these bytes. Decoding the item throws an error. */
function itemOf(stored: string): Item {
  const home: ItemHome = {
    codec: { decode, print: decode },
    put: () => undefined,
    view: (_item, start, end) => Buffer.from(stored).subarray(start, end),
    keep: () => undefined,
  }
  return new Item(home, { key: '/r', revision: 1, createRevision: 1 })
}

const time = '2026-01-31T12:00:00Z'
const metadata = {
  name: 'a',
  uid: 'u',
  creationTimestamp: time,
  labels: { a: 'b' },
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u', controller: true }],
  managedFields: [
    { manager: 'm', operation: 'Update', apiVersion: 'v1', time, fieldsV1: { 'f:"}]': {} } },
  ],
}
const stored = (
  kind: string,
  content: object,
  apiVersion = 'rbac.authorization.k8s.io/v1',
): string => `${JSON.stringify({ kind, apiVersion, metadata, ...content })}\n`

const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['"\\\u00e9'] }
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }
const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }]

const plain: readonly (readonly [string, Fields])[] = [
  ['Role', { rules: [rule, { verbs: ['*'], nonResourceURLs: ['/x'] }] }],
  ['ClusterRole', { rules: [] }],
  ['RoleBinding', { subjects, roleRef }],
  ['ClusterRoleBinding', { roleRef }],
]
for (const [kind, content] of plain) {
  test(`a ${kind} with ${JSON.stringify(content).slice(0, 40)} is read without being decoded`, () => {
    assert.deepEqual(createReadContent(kind)(itemOf(stored(kind, content))), content)
  })
}

const others: { readonly [what: string]: string } = {
  'of another kind': stored('RoleBinding', { roleRef }),
  'of another version': stored('Role', { rules: [rule] }, 'rbac.authorization.k8s.io/v1beta1'),
  'with nothing but metadata': stored('Role', {}),
  'whose rules are null': stored('Role', { rules: null }),
  'with an unknown field': stored('Role', { rules: [rule], more: [] }),
  'with a rule that is not an object': stored('Role', { rules: [rule, 'get'] }),
  'with verbs that are not a list': stored('Role', { rules: [{ ...rule, verbs: 'get' }] }),
  'with a verb that is not a string': stored('Role', { rules: [{ ...rule, verbs: [1] }] }),
  'that is truncated': stored('Role', { rules: [rule] }).slice(0, -10),
  'that is truncated in its metadata': stored('Role', { rules: [rule] }).slice(0, 80),
  'in another encoding': 'k8s\0binary',
  'that is empty': '',
}
for (const [what, bytes] of Object.entries(others)) {
  test(`a stored object ${what} is not read as a Role, but passed to the decoder`, () => {
    assert.throws(() => createReadContent('Role')(itemOf(bytes)), /decoded/)
  })
}

const badMetadata = [
  '5',
  'null',
  '"a"',
  '[]',
  '{"name":5}',
  '{"name":null}',
  '{"labels":7}',
  '{"labels":{"a":1}}',
  '{"annotations":[]}',
  '{"name":"a" "uid"}',
  '{"name":"a",}',
  '{"ownerReferences":{}}',
  '{"ownerReferences":[5]}',
  '{"ownerReferences":[{"controller":"yes"}]}',
  '{"creationTimestamp":"yesterday"}',
  '{"creationTimestamp":"2026-02-30T00:00:00Z"}',
  '{"managedFields":[{"fieldsV1":"x"}]}',
  '{"managedFields":[{"time":1}]}',
  '{"toString":"x"}',
  '{"__proto__":{"a":1}}',
  '{"unknown":{}}',
]
for (const bad of badMetadata) {
  test(`a ClusterRoleBinding with the metadata ${bad} is passed to the decoder`, () => {
    const bytes = stored('ClusterRoleBinding', { roleRef, subjects }).replace(
      JSON.stringify(metadata),
      () => bad,
    )
    assert.throws(() => createReadContent('ClusterRoleBinding')(itemOf(bytes)), /decoded/)
  })
}

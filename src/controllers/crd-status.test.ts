import assert from 'node:assert/strict'
import test from 'node:test'
import { fieldsOf, type Fields, itemsOf, type KubeObject, textOf } from '../api/object.ts'
import { NamesInUse } from './crd-names.ts'
import { nextStatus } from './crd-status.ts'

const crd = (more: Fields, schema: Fields = { type: 'object' }): KubeObject => ({
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    ...more,
  },
})

/** Updates the status like the controller, again and again until it no longer changes. */
function settled(object: KubeObject): KubeObject {
  const next = nextStatus(object, new NamesInUse(), '2026-01-01T00:00:00Z')
  return next === undefined ? object : settled(next)
}

const reported = (object: KubeObject): string[] =>
  itemsOf(fieldsOf(object['status'])['conditions'])
    .filter(({ type }) => type === 'NonStructuralSchema')
    .map(({ status, reason, message }) =>
      [status, reason, message].map((part) => textOf(part)).join(' '),
    )

test('a definition without a structural schema has the NonStructuralSchema condition', () => {
  const open = settled(crd({ preserveUnknownFields: true }))
  assert.deepEqual(reported(open), [
    'True Violations spec.preserveUnknownFields: Invalid value: true: must be false',
  ])
  const foo = { type: 'string', pattern: '+' }
  const unreadable = settled(crd({}, { type: 'object', properties: { foo } }))
  assert.match(
    reported(unreadable)[0] ?? '',
    /properties\[foo\]\.pattern: Invalid value: "\+": must be a valid regular expression/,
  )
  const untyped = settled(crd({}, { type: 'object', properties: { spec: {} } }))
  const path = 'spec.versions[0].schema.openAPIV3Schema.properties[spec].type'
  assert.deepEqual(reported(untyped), [
    `True Violations ${path}: Required value: must not be empty for specified object fields`,
  ])
})

test('a definition whose schema becomes structural loses the NonStructuralSchema condition', () => {
  const { status } = settled(crd({ preserveUnknownFields: true }))
  const mended = { ...crd({}), ...(status === undefined ? {} : { status }) }
  assert.deepEqual(reported(settled(mended)), [])
  assert.deepEqual(reported(settled(crd({}))), [])
})

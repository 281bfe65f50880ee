import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldSetOf } from './field-paths.ts'
import { identityOf, type Owner, type Owners } from './managers.ts'
import { ownersInObject, ownersInView, type ViewField } from './view-owners.ts'

const ownerOf = (apiVersion: string, subresource = ''): Owner => ({
  manager: 'm',
  operation: 'Update',
  apiVersion,
  subresource,
  time: undefined,
  fields: fieldSetOf(['spec.a']),
  entry: undefined,
})
const ownersOf = (...owners: readonly Owner[]): Owners =>
  new Map(owners.map((owner) => [identityOf(owner), owner]))

/** Only version v1 of the object has the field that the view represents. */
const field: ViewField = {
  inObject: (apiVersion) => (apiVersion === 'g/v1' ? fieldSetOf(['spec.a']) : undefined),
  inView: fieldSetOf(['spec.replicas']),
  objectVersion: 'g/v1',
  viewVersion: 'autoscaling/v1',
}

test('the managedFields of a view such as Scale contain only managers of API versions that have the view', () => {
  const shown = ownersInView(ownersOf(ownerOf('g/v1'), ownerOf('g/v2')), field)
  assert.deepEqual([...shown.values()], [{ ...ownerOf('autoscaling/v1'), fields: field.inView }])
})

test('a write through a view such as Scale keeps the managers of API versions that do not have the view', () => {
  const owners = ownersOf(ownerOf('g/v1'), ownerOf('g/v2'))
  assert.deepEqual([...ownersInObject(owners, new Map(), field).values()], [ownerOf('g/v2')])
})

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Fields } from '../../../api/object.ts'
import { validateSpec } from './definition-spec.ts'

const costly = { rule: 'self.all(x, self.all(y, x == y))' }
const list: Fields = { type: 'array', items: { type: 'string' }, 'x-kubernetes-validations': [costly] }

const specWith = (properties: Fields, more: Fields = {}): Fields => ({
  group: 'example.com',
  scope: 'Namespaced',
  names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
  versions: [
    { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } }, ...more },
  ],
})

const faultsOf = (spec: Fields, was?: Fields): string[] =>
  validateSpec(spec, was && { was, isEstablished: true }).map(({ message }) => message.slice(0, 40))

test('a schema over the limits is refused when it is new or changed', () => {
  const was = specWith({ list })
  assert.match(faultsOf(was)[0] ?? '', /estimated rule cost exceeds/)
  assert.match(faultsOf(specWith({ list, other: { type: 'string' } }), was)[0] ?? '', /estimated rule cost exceeds/)
})

test('one that was stored so stays as it is', () => {
  const was = specWith({ list })
  assert.deepEqual(faultsOf(was, was), [])
  assert.deepEqual(faultsOf(specWith({ list }, { deprecated: true }), was), [])
})

test('a status of its own is another reason to look', () => {
  const [first] = faultsOf(specWith({ list }, { subresources: { status: {} } }), specWith({ list }))
  assert.match(first ?? '', /estimated rule cost exceeds/)
})

const semver = (more: Fields): Fields =>
  specWith({ v: { type: 'string', maxLength: 9, ...more, 'x-kubernetes-validations': [{ rule: 'isSemver(self)' }] } })

test('a stored expression may use what new ones may not', () => {
  assert.match(faultsOf(semver({}))[0] ?? '', /^Invalid value: apiextensions/)
  assert.deepEqual(faultsOf(semver({ minLength: 1 }), semver({})), [])
})

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { asRecorded, type Json } from '../../recorded/compat/json.ts'
import {
  DESCRIPTIONS_ROW,
  isKnown,
  NOT_ENFORCED_ROW,
  knownDifferences,
  knownTexts,
  withoutKnown,
} from './known.ts'

const document = readFileSync(join(import.meta.dirname, '../../../docs/differences.md'), 'utf8')
const rows = document.split('\n').map((line) => line.split('|')[1]?.trim())

test('every known difference has a row in docs/differences.md', () => {
  for (const row of [
    DESCRIPTIONS_ROW,
    NOT_ENFORCED_ROW,
    ...[...knownTexts, ...knownDifferences].map((known) => known.row),
  ])
    assert.ok(rows.includes(row), row)
})

test('values and diffs in Go syntax are removed from error messages, but not from other fields', () => {
  const text = 'spec.x: Invalid value: core.Thing{A:1, B:[]string{"}"}}: must be y'
  assert.deepEqual(withoutKnown({ message: text, other: text }), {
    message: 'spec.x: Invalid value: <struct>: must be y',
    other: text,
  })
  const immutable = 'spec: Forbidden: spec is immutable after creation except resources.requests'
  assert.deepEqual(withoutKnown({ message: `${immutable}\n  core.Spec{\n- \tA: 1,\n}` }), {
    message: `${immutable}<diff>`,
  })
})

test('the comparison of responses ignores the descriptions of table columns', () => {
  const table = { columnDefinitions: [{ name: 'Name', description: 'words' }], description: 'kept' }
  assert.deepEqual(withoutKnown(table), {
    columnDefinitions: [{ name: 'Name' }],
    description: 'kept',
  })
})

const service = (nodePort: unknown, type = 'NodePort'): Json =>
  asRecorded({ status: 201, body: { type, nodePort } })

test('a known difference does not hide other differences in the same response', () => {
  const step = {
    id: 's',
    method: 'POST',
    path: '/api/v1/namespaces/$ns/services',
    query: { dryRun: 'All' },
  }
  assert.ok(isKnown({ step, want: service(32_769), got: service('<port>') }))
  assert.ok(!isKnown({ step, want: service(32_769), got: service('<port>', 'ClusterIP') }))
  assert.ok(
    !isKnown({ step: { ...step, query: {} }, want: service(32_769), got: service('<port>') }),
  )
})

const refusal = (...messages: readonly string[]): Json =>
  asRecorded({
    status: 422,
    body: { details: { causes: messages.map((message) => ({ field: 'spec.a', message })) } },
  })
const mac = 'Invalid value: "0": spec.a in body must be of type mac: "001122334455"'

test('a hardware address that only Keelson rejects is a known difference, but other reasons for the rejection are compared', () => {
  const step = { id: 's', method: 'POST', path: '/apis/g/v1/namespaces/$ns/widgets' }
  const accepted = asRecorded({ status: 201, body: {} })
  assert.ok(isKnown({ step, want: accepted, got: refusal(mac) }))
  assert.ok(isKnown({ step, want: refusal('Required value'), got: refusal('Required value', mac) }))
  assert.ok(!isKnown({ step, want: accepted, got: refusal('Required value', mac) }))
  assert.ok(!isKnown({ step, want: refusal('Required value'), got: refusal(mac) }))
  assert.ok(!isKnown({ step, want: asRecorded({ status: 404, body: {} }), got: refusal(mac) }))
})

const object = (spec: { readonly [field: string]: Json }, resourceVersion = 'rv#1'): Json =>
  asRecorded({
    status: 200,
    body: { metadata: { resourceVersion }, spec: { type: 'ExternalName', ...spec } },
  })

test('the known difference in the internalTrafficPolicy of an ExternalName Service does not hide other differences', () => {
  const step = { id: 's', method: 'PUT', path: '/api/v1/namespaces/$ns/services/x' }
  assert.ok(
    isKnown({ step, want: object({ internalTrafficPolicy: 'Local' }, 'rv#2'), got: object({}) }),
  )
  assert.ok(
    !isKnown({
      step,
      want: object({ internalTrafficPolicy: 'Local', ports: [] }),
      got: object({}),
    }),
  )
  assert.ok(!isKnown({ step, want: object({}, 'rv#2'), got: object({}) }))
})

test('the result of a strategic merge patch may differ only if the patch both sets a list and deletes items from this list', () => {
  const step = {
    id: 's',
    method: 'PATCH',
    path: '/x',
    type: 'application/strategic-merge-patch+json',
  }
  const [want, got] = [asRecorded({ status: 500 }), asRecorded({ status: 422 })]
  const both = { metadata: { finalizers: [], '$deleteFromPrimitiveList/finalizers': ['a'] } }
  assert.ok(isKnown({ step: { ...step, body: both }, want, got }))
  const one = { metadata: { labels: {}, '$deleteFromPrimitiveList/finalizers': ['a'] } }
  assert.ok(!isKnown({ step: { ...step, body: one }, want, got }))
})

const widget = (spec: Json, metadata: { readonly [field: string]: Json }): Json =>
  asRecorded({ status: 200, body: { metadata, spec } })

test('managedFields that kube-apiserver omits are a known difference only if the object has a list instead of a string', () => {
  const step = { id: 's', method: 'PUT', path: '/apis/$ns.example.com/v1/namespaces/$ns/widgets/x' }
  const owned = { managedFields: [{ manager: 'm' }] }
  assert.ok(isKnown({ step, want: widget({ a: [] }, {}), got: widget({ a: [] }, owned) }))
  assert.ok(!isKnown({ step, want: widget({ a: 'b' }, {}), got: widget({ a: 'b' }, owned) }))
  assert.ok(!isKnown({ step, want: widget({ a: [] }, {}), got: widget({ a: [], b: 1 }, owned) }))
})

const versioned = (resourceVersion: string, more: { readonly [field: string]: Json } = {}): Json =>
  asRecorded({
    status: 200,
    body: {
      metadata: { resourceVersion, managedFields: [{ fieldsV1: { 'f:status': {} } }] },
      ...more,
    },
  })

test('if a client applied null as the status, only the resourceVersion of the responses may differ', () => {
  const step = { id: 's', method: 'PATCH', path: '/apis/g/v1/namespaces/$ns/widgets/x' }
  assert.ok(isKnown({ step, want: versioned('rv#2'), got: versioned('rv#1') }))
  assert.ok(
    !isKnown({
      step,
      want: versioned('rv#2', { status: {} }),
      got: versioned('rv#1', { status: {} }),
    }),
  )
})

test('a known difference for a validation rule that adds quantities does not hide differences of other rules', () => {
  const step = { id: 's', method: 'POST', path: '/apis/g/v1/namespaces/$ns/widgets' }
  const rule = "quantity('2') == quantity('1').add(quantity('1'))"
  const failed = `'no such overload': call arguments did not match a supported operator for rule: ${rule}`
  assert.ok(isKnown({ step, want: refusal(failed, 'a'), got: refusal('a') }))
  assert.ok(isKnown({ step, want: refusal(failed), got: refusal(`failed rule: ${rule}`) }))
  assert.ok(!isKnown({ step, want: refusal(failed, 'a'), got: refusal('b') }))
  assert.ok(!isKnown({ step, want: refusal('a'), got: refusal() }))
})

const applied = (field: string, resourceVersion: string, labels: Json = {}): Json => {
  const managedFields = [
    { manager: 'm', operation: 'Apply', fieldsV1: { 'f:spec': { [`f:${field}`]: {} } } },
  ]
  return asRecorded({
    status: 200,
    body: { metadata: { labels, managedFields, resourceVersion }, spec: { a: 1 } },
  })
}

test('if fields of an applied object were pruned, only the resourceVersion and the generation may differ', () => {
  const step = {
    id: 's',
    method: 'PATCH',
    path: '/apis/$ns.example.com/v1/namespaces/$ns/widgets/x',
  }
  assert.ok(isKnown({ step, want: applied('b', 'rv#2'), got: applied('b', 'rv#1') }))
  assert.ok(!isKnown({ step, want: applied('a', 'rv#2'), got: applied('a', 'rv#1') }))
  assert.ok(!isKnown({ step, want: applied('b', 'rv#2', { l: 'm' }), got: applied('b', 'rv#1') }))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainWait, targetOfPath } from './explain-wait.ts'
import type { FieldChange } from './object-changes.ts'
import type { RecordedRequest } from './recorded-request.ts'
import type { TimelineEntry } from './timeline.ts'

const target = { resource: 'configmaps', group: '', namespace: 'default', name: 'x' }

const requestOf = (at: number, over: Partial<RecordedRequest>): RecordedRequest => ({
  ...target,
  time: new Date(Date.UTC(2026, 0, 2, 3, 4, 5, at)),
  verb: 'update',
  subresource: '',
  source: 'client',
  user: { name: 'alice', groups: [] },
  userAgent: 'shop/1.0',
  fieldManager: 'shop',
  ...over,
})

const updated = (
  at: number,
  changes: readonly FieldChange[],
  over: Partial<RecordedRequest> = {},
): TimelineEntry => ({
  ...requestOf(at, over),
  operation: 'update',
  resourceVersion: String(at),
  changes,
})

const refused = (
  at: number,
  [code, reason, message]: readonly [number, string, string],
  over: Partial<RecordedRequest> = {},
): TimelineEntry => ({ ...requestOf(at, over), operation: 'refused', code, reason, message })

const changed = (path: string, before: unknown, after: unknown) => ({ path, before, after })

const explain = (entries: readonly TimelineEntry[], path?: string): string[] =>
  explainWait(path === undefined ? [] : [targetOfPath(path) ?? assert.fail()], (filter) =>
    entries.filter(
      ({ resource }) => filter?.resource === undefined || filter.resource === resource,
    ),
  )

const path = '/api/v1/namespaces/default/configmaps/x'

test('the error of a wait lists the writes and refused requests of the awaited object, the oldest first', () => {
  const conflict = [409, 'Conflict', 'the object\nhas been modified'] as const
  const entries: TimelineEntry[] = [
    {
      ...requestOf(1, { verb: 'create', source: 'test' }),
      operation: 'create',
      resourceVersion: '1',
      changes: [],
    },
    updated(2, [changed('.data.a', '1', '2'), changed('.data.b', undefined, { c: [1n] })]),
    refused(3, conflict, { subresource: 'status' }),
    refused(4, conflict, { subresource: 'status' }),
    updated(
      5,
      ['a', 'b', 'c', 'd'].map((name) => changed(`.${name}`, 'v'.repeat(100), undefined)),
    ),
    updated(6, [], { name: 'other' }),
    refused(7, [403, 'Forbidden', ''], { verb: 'create', name: '', user: undefined }),
    {
      ...requestOf(8, { verb: '', source: 'server', user: undefined }),
      operation: 'delete',
      resourceVersion: '8',
      changes: [],
    },
  ]
  const long = `'${'v'.repeat(58)}…`
  assert.deepEqual(explain(entries, path), [
    'the last writes and refused requests of configmaps default/x:',
    '  03:04:05.001 alice create configmaps default/x',
    "  03:04:05.002 alice (shop) update configmaps default/x: .data.a '1' -> '2', .data.b none -> { c: [ 1n ] }",
    '  03:04:05.004 alice (shop) update configmaps/status default/x: refused with 409 Conflict, the object has been modified (2 times)',
    `  03:04:05.005 alice (shop) update configmaps default/x: .a ${long} -> none, .b ${long} -> none, .c ${long} -> none, and 1 more`,
    '  03:04:05.007 shop/1.0 create configmaps default: refused with 403 Forbidden',
    '  03:04:05.008 the server delete configmaps default/x',
  ])
})

test('the error of a wait lists only the last writes and refused requests', () => {
  const entries = Array.from({ length: 20 }, (_, at) => updated(at, [changed('.data.at', 0, at)]))
  const lines = explain(entries, path)
  assert.equal(lines.length, 11)
  assert.match(lines[1] ?? '', /0 -> 10$/)
  assert.match(lines[10] ?? '', /0 -> 19$/)
})

test('if there were no requests for the awaited object, the error of a wait lists the last requests for other objects', () => {
  const lease = updated(2, [], { resource: 'leases', group: 'coordination.k8s.io' })
  assert.deepEqual(explain([updated(1, []), lease], '/api/v1/nodes/n'), [
    'no writes or refused requests of nodes n; the last writes and refused requests of other objects:',
    '  03:04:05.001 alice (shop) update configmaps default/x: no changes',
  ])
  assert.deepEqual(explain([lease], '/api/v1/nodes/n'), [
    'no writes or refused requests of nodes n',
  ])
})

test('if it is unknown which objects a condition reads, the error of the wait lists the last requests for all objects', () => {
  assert.deepEqual(explain([updated(1, [])]), [
    'the last writes and refused requests:',
    '  03:04:05.001 alice (shop) update configmaps default/x: no changes',
  ])
  assert.deepEqual(explain([]), ['no writes or refused requests'])
})

test('targetOfPath converts the path of a request to the object or the list that the path names', () => {
  assert.deepEqual(targetOfPath(path), target)
  assert.deepEqual(targetOfPath('/api/v1/namespaces/default/configmaps?limit=1'), {
    ...target,
    name: '',
  })
  assert.deepEqual(targetOfPath('/api/v1/namespaces/a%62'), {
    resource: 'namespaces',
    group: '',
    namespace: '',
    name: 'ab',
  })
  for (const other of ['/readyz', '/api/v1/watch', '//', '/api/v1/nodes/%ff'])
    assert.equal(targetOfPath(other), undefined, other)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from './json.ts'
import { Normaliser, type NormaliserOptions } from './normalise.ts'

const normaliser = (options: Partial<NormaliserOptions> = {}): Normaliser =>
  new Normaliser({ namespace: 'oracle-1', hookUrl: 'https://127.0.0.1:1', ...options })

const uid = (digit: number): string => `00000000-0000-0000-0000-00000000000${digit}`

const cases: { name: string; value: Json; want: Json }[] = [
  {
    name: 'equal uids and resourceVersions get the same name, also in texts',
    value: [
      { metadata: { uid: uid(2), resourceVersion: '7' } },
      `uid ${uid(2)}, ${uid(1)}`,
      { resourceVersion: '7' },
    ],
    want: [
      { metadata: { resourceVersion: 'rv#1', uid: 'uid#1' } },
      'uid uid#1, uid#2',
      { resourceVersion: 'rv#1' },
    ],
  },
  {
    name: 'the resourceVersion of a list is hidden, but not those of its items',
    value: {
      metadata: { resourceVersion: '9', continue: 'x' },
      items: [{ metadata: { resourceVersion: '9' } }],
    },
    want: {
      items: [{ metadata: { resourceVersion: 'rv#1' } }],
      metadata: { continue: '<continue>', resourceVersion: '<rv>' },
    },
  },
  {
    name: 'the resourceVersion of a bookmark is hidden',
    value: [{ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } }],
    want: [{ object: { metadata: { resourceVersion: '<rv>' } }, type: 'BOOKMARK' }],
  },
  {
    name: 'times of a run are hidden, but not those of a scenario',
    value: [
      '2026-01-02T03:04:05Z',
      '2020-01-02T03:04:05.123456Z',
      '2026-01-02 03:04:05 +0000 UTC',
      'took 1.5s',
    ],
    want: ['<time>', '2020-01-02T03:04:05.123456Z', '<time>', 'took <duration>'],
  },
  {
    name: 'the namespace and webhook URLs are replaced in values and keys',
    value: {
      'oracle-1': 'oracle-1.example.com',
      'k:{"name":"oracle-1"}': 'https://127.0.0.1:1/oracle-1/h',
      'x-oracle-1': 1,
    },
    want: { 'k:{"name":"$ns"}': '$hooks/$ns/h', $ns: '$ns.example.com', 'x-oracle-1': 1 },
  },
  {
    name: 'generated addresses are replaced, but not None or an empty address',
    value: [
      { clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9'] },
      { clusterIP: 'None' },
      { clusterIP: '' },
    ],
    want: [{ clusterIP: 'ip#1', clusterIPs: ['ip#1'] }, { clusterIP: 'None' }, { clusterIP: '' }],
  },
]

for (const { name, value, want } of cases) {
  void test(name, () => {
    const got = normaliser().value(value)
    // Compare as text, because recordings also preserve the order of keys.
    assert.equal(JSON.stringify(got), JSON.stringify(want))
  })
}

void test('with the option listRv, the resourceVersion of a list is compared', () => {
  const withLists = normaliser()
  withLists.listRv = true
  assert.deepEqual(withLists.value({ metadata: { resourceVersion: '9' }, items: [] }), {
    items: [],
    metadata: { resourceVersion: 'rv#1' },
  })
})

const time = (at: string): Json => ({ metadata: { managedFields: [{ time: at }] } })

void test('with the option times, equal times of managedFields are replaced by the same placeholder', () => {
  const timed = normaliser({ times: true })
  assert.deepEqual(timed.value(time('2026-01-01T00:00:00Z')), time('time#1'))
  assert.deepEqual(timed.value(time('2026-01-01T00:00:01Z')), time('time#2'))
  assert.deepEqual(timed.value(time('2026-01-01T00:00:00Z')), time('time#1'))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { bytesOfRow, printRow, rowOf } from './table.ts'

const object: KubeObject = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } }

test('a cached table row contains timestamps instead of ages, and is printed with the current ages', () => {
  const row = rowOf(
    object,
    {
      columns: [],
      cells: () => [
        'a"<',
        3,
        true,
        null,
        { sinceMs: 60_000 },
        { parts: ['2 (', { sinceMs: 0 }, ' ago)'] },
      ],
    },
    'null',
  )
  const shown = (nowMs: number): unknown => JSON.parse(printRow(row, nowMs)).cells
  assert.deepEqual(shown(65_000), ['a"<', 3, true, null, '5s', '2 (65s ago)'])
  assert.deepEqual(shown(0), ['a"<', 3, true, null, '<invalid>', '2 (0s ago)'])
  assert.ok(bytesOfRow(row) > 40)
})

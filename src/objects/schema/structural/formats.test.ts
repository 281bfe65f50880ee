import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesFormat } from './formats.ts'

test('a MAC address must have separators between its digits, all of the same kind', () => {
  const good = [
    '00:00:5e:00:53:01',
    '00-00-5E-00-53-01',
    '0000.5e00.5301',
    '02:00:5e:10:00:00:00:01',
  ]
  const bad = [
    '00005e005301',
    '00:00-5e:00:53:01',
    '00:00:5e:00:53',
    '0000.5e00',
    '00:00:5e:00:53:01:02',
    '',
  ]
  for (const text of good) assert.ok(matchesFormat(text, 'mac'), text)
  for (const text of bad) assert.ok(!matchesFormat(text, 'mac'), text)
})

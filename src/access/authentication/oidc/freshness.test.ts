import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshMs } from './freshness.ts'

const now = Date.UTC(2026, 0, 1)

test('the time for which a response stays fresh is computed from its caching headers', () => {
  const cases: readonly [Parameters<typeof freshMs>[0], number][] = [
    [{}, 0],
    [{ 'cache-control': 'max-age=60' }, 60_000],
    [{ 'cache-control': 'public, Max-Age=60, must-revalidate' }, 60_000],
    [{ 'cache-control': 'max-age=60, s-maxage=5' }, 5_000],
    [{ 'cache-control': 'max-age=60, no-store' }, 0],
    [{ 'cache-control': 'no-cache' }, 0],
    [{ 'cache-control': 'max-age=-1' }, 0],
    [{ 'cache-control': 'max-age=x' }, 0],
    [{ expires: 'Thu, 01 Jan 2026 00:01:00 GMT' }, 60_000],
    [{ expires: 'Thu, 01 Jan 2026 00:01:00 GMT', date: 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
    [{ expires: '0' }, 0],
    [{ expires: 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  ]
  for (const [headers, ms] of cases)
    assert.equal(freshMs(headers, now), ms, JSON.stringify(headers))
})

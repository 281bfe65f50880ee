import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rangeOf } from './keys.ts'
import { planRanges, RANGES_MAX } from './ranges.ts'

const root = '/registry/'

test('without traffic, the event feed watches all resources with one key range', () => {
  assert.deepEqual(planRanges(root, new Map()), [{ from: '/registry/', to: '/registry0' }])
})

test('a resource with more than its share of the traffic gets its own key range in the event feed', () => {
  const traffic = new Map([
    ['/registry/configmaps/', 10],
    ['/registry/leases/', 10],
    ['/registry/pods/', 100_000],
    ['/registry/secrets/', 10],
  ])
  const ranges = planRanges(root, traffic)
  assert.ok(ranges.some((r) => r.from === '/registry/pods/' && r.to === '/registry/secrets/'))
})

test('the event feed has at most 16 key ranges, which cover every key once and never divide a resource', () => {
  const prefixes = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { maxLength: 60 })
  fc.assert(
    fc.property(prefixes, fc.infiniteStream(fc.nat(10_000)), (names, events) => {
      const traffic = new Map(names.map((name) => [`${root}${name}/`, events.next().value ?? 0]))
      const ranges = planRanges(root, traffic)
      assert.ok(ranges.length <= RANGES_MAX)
      assert.equal(ranges[0]?.from, root)
      assert.equal(ranges.at(-1)?.to, rangeOf(root).to)
      for (const [i, range] of ranges.entries()) {
        assert.ok(range.from < range.to)
        if (i > 0) assert.equal(range.from, ranges[i - 1]?.to)
        if (i > 0) assert.ok(traffic.has(range.from))
      }
    }),
  )
})

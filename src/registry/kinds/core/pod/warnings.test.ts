/** Tests that warnings about Pods with long lists are computed quickly. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestLongestTurnMs, cpuMsOf } from '../../../../../test/support/harness/turns.ts'
import { inParts } from '../../../../lib/scheduling/parts.ts'
import { Slices } from '../../../../lib/scheduling/slices.ts'
import { systemTime } from '../../../../lib/time/timers.ts'
import { overlapWarnings } from './overlap-warnings.ts'
import { portWarnings } from './port-warnings.ts'

const TURN_MS_MAX = 50
const WARNINGS_MAX = 4096

const many = <T>(item: (at: number) => T, count: number): T[] =>
  Array.from({ length: count }, (_, at) => item(at))

const cases: { readonly [about: string]: () => () => readonly string[] } = {
  'paths of a volume': () => {
    const items = many((at) => ({ key: 'k', path: `p${(at * 7919) % 80_000}` }), 80_000)
    return () => overlapWarnings({ name: 'v', configMap: { name: 'm', items } }, WARNINGS_MAX)
  },
  'ports of a container': () => {
    const ports = many((at) => ({ name: `p${at}`, containerPort: at, protocol: 'TCP' }), 80_000)
    return () => portWarnings({ containers: [{ name: 'c', ports }] }, 'spec')
  },
}

for (const [about, prepare] of Object.entries(cases)) {
  test(`comparing many ${about} does not block the event loop`, async () => {
    const work = prepare()
    const slices = new Slices(systemTime, { isExpensive: true })
    const ms = await bestLongestTurnMs(async () => {
      assert.deepEqual(await inParts(work, slices), [])
    })
    assert.ok(ms < TURN_MS_MAX, `${ms} ms`)
  })
}

test('many sources of a projected volume are quickly checked for overlapping paths', () => {
  const items = many((at) => ({ key: 'k', path: `p${at}` }), 3000)
  const sources = [
    { configMap: { name: 'm', items } },
    ...many(() => ({ secret: { name: 's' } }), 10_000),
  ]
  const ms = cpuMsOf(() => {
    const warnings = overlapWarnings({ name: 'v', projected: { sources } }, WARNINGS_MAX)
    assert.equal(warnings.length, WARNINGS_MAX)
  })
  assert.ok(ms < 500, `${ms} ms`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestLongestTurnMs } from '../../test/support/harness/turns.ts'
import { inParts } from '../lib/scheduling/parts.ts'
import { Slices } from '../lib/scheduling/slices.ts'
import { systemTime } from '../lib/time/timers.ts'
import { isSameList, printResourceList, readResourceList } from './resource-list.ts'

test('formatting and comparing long resource lists does not block the event loop', async () => {
  const texts = Object.fromEntries(
    Array.from({ length: 80_000 }, (_, at) => [`example.com/r${at}`, `${at}m`]),
  )
  const list = readResourceList(texts)
  const ms = await bestLongestTurnMs(async () => {
    const slices = new Slices(systemTime, { isExpensive: true })
    const printed = await inParts(() => printResourceList(list), slices)
    assert.equal(Object.keys(printed).length, 80_000)
    assert.equal(printed['example.com/r70001'], '70001m')
    assert.ok(await inParts(() => isSameList(list, readResourceList(texts)), slices))
  })
  assert.ok(ms < 50, `${ms} ms`)
})

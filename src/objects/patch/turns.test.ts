/** Tests that large patches, and errors that quote them, do not block the event loop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { inParts } from '../../lib/scheduling/parts.ts'
import { inSlices, Slices } from '../../lib/scheduling/slices.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { bestLongestTurnMs } from '../../../test/support/harness/turns.ts'
import { goPrint } from './go-print.ts'
import { applyPatch } from './patches.ts'

const TURN_MS_MAX = 50
const configMaps = builtInResources().find(({ plural }) => plural === 'configmaps')
assert(configMaps !== undefined)
const configMap: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: 'n' },
}

const expensive = (): Slices => new Slices(systemTime, { isExpensive: true })

test('quoting a large patch in an error does not block the event loop', async () => {
  const patch = { webhooks: Array.from({ length: 200_000 }, (_, at) => ({ versions: [`${at}`] })) }
  let quoted = ''
  const ms = await bestLongestTurnMs(
    async () => void (quoted = await inParts(() => goPrint(patch), expensive())),
  )
  assert.ok(quoted === goPrint(patch))
  assert.ok(ms < TURN_MS_MAX, `${ms} ms`)
})

test('reading a merge patch of deeply nested values does not block the event loop', async () => {
  const value = `${'{"a":'.repeat(400)}1${'}'.repeat(400)}`
  const text = `{"x":[${Array.from({ length: 1300 }, () => value).join(',')}]}`
  const ms = await bestLongestTurnMs(async () => {
    const slices = expensive()
    await assert.rejects(
      inSlices(
        applyPatch(configMap, { form: 'merge', text, isChecked: true, slices }, configMaps),
        slices,
      ),
    )
  })
  assert.ok(ms < TURN_MS_MAX, `${ms} ms`)
})

const deepLists: {
  readonly [size: string]: { readonly items: number; readonly slices?: () => Slices }
} = {
  small: { items: 30 },
  large: { items: 40, slices: expensive },
}
for (const [size, { items, slices: slicesOf }] of Object.entries(deepLists)) {
  test(`merging a ${size} patch of deep lists does not block the event loop`, async () => {
    const text = `{"x":${`[${'0,'.repeat(items)}`.repeat(900)}0${']'.repeat(900)}}`
    const ms = await bestLongestTurnMs(async () => {
      const slices = slicesOf?.()
      await assert.rejects(
        inSlices(
          applyPatch(configMap, { form: 'merge', text, isChecked: true, slices }, configMaps),
          slices,
        ),
      )
    })
    assert.ok(ms < TURN_MS_MAX, `${ms} ms`)
  })
}

test('merging a strategic merge patch of many fields does not block the event loop', async () => {
  const keys = Array.from({ length: 100_000 }, (_, at) => `k${at}`)
  const live = { ...configMap, data: { a: 'b' } }
  const text = JSON.stringify({ data: Object.fromEntries(keys.map((key) => [key, 'v'])) })
  const ms = await bestLongestTurnMs(async () => {
    const slices = expensive()
    await inSlices(
      applyPatch(live, { form: 'strategic', text, isChecked: true, slices }, configMaps),
      slices,
    )
  })
  assert.ok(ms < TURN_MS_MAX, `${ms} ms`)
})

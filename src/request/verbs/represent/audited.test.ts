import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtIn } from '../../../../test/support/harness/memory-control-plane.ts'
import type { AuditRecorder } from '../../../api/audited.ts'
import { noMemory } from '../../../api/errors.ts'
import { parts, repeat } from '../../../lib/scheduling/parts.ts'
import { atOnce } from '../../../lib/scheduling/slices.ts'
import { audited } from './audited.ts'
import type { Representation } from './representation.ts'

const LIST_BYTES = 4 << 20

function recording({ copies = 0, roomBytes = Infinity } = {}) {
  const recorded: (Buffer | undefined)[] = []
  const audit: AuditRecorder = {
    wantsRequest: true,
    wantsResponse: true,
    objectBytesMax: 16 << 20,
    copies,
    requestObject: () => undefined,
    requestPatch: () => undefined,
    responseObject: (json) => void recorded.push(json),
  }
  let isMade = false
  const object = Buffer.from('{}\n')
  const json: Representation = {
    headers: {},
    item: () => object,
    object: () => object,
    written: () => object,
    list: async () => ({
      length: LIST_BYTES,
      chunks: (function* () {
        isMade = true
        yield [Buffer.alloc(LIST_BYTES)]
      })(),
    }),
  }
  const held: number[] = []
  const hold = (bytes: number): void => {
    held.push(bytes)
    if (bytes > roomBytes) throw noMemory()
  }
  const auditing = { audit, hold }
  return {
    recorded,
    held,
    json,
    auditing,
    isMade: () => isMade,
    shown: audited(json, json, auditing),
  }
}

test("memory for the audit log's copy of a list is reserved before the list is copied", async () => {
  for (const [copies, bytes] of [
    [0, LIST_BYTES],
    [2, 3 * LIST_BYTES],
  ] as const) {
    const { recorded, held, shown } = recording({ copies })
    await shown.list([], {})
    assert.deepEqual(held, [bytes])
    assert.equal(recorded[0]?.length, LIST_BYTES)
  }
})

test('a list is rejected if there is not enough memory to record it in the audit log', async () => {
  const { recorded, isMade, shown } = recording({ roomBytes: LIST_BYTES - 1 })
  await assert.rejects(shown.list([], {}), { code: 429 })
  assert.deepEqual([recorded, isMade()], [[], false])
})

test('the audit log records an object once even if its response is serialized in slices', () => {
  const { recorded, held, json, auditing } = recording({ copies: 1 })
  let calls = 0
  const written: Representation['written'] = () => {
    calls++
    repeat(
      'test of a long print',
      () => ({ left: 5 }),
      (state) => --state.left > 0,
    )
    return Buffer.from('long')
  }
  const shown = audited({ ...json, written }, json, auditing)
  const object = { apiVersion: 'v1', kind: 'K', metadata: {} }
  const print = () => shown.written({ object, json: undefined }, builtIn('pods').shape)
  const slices = { isOver: true, begin: () => undefined, stepsPerLook: 1 }
  assert.deepEqual(atOnce(parts(print, slices)), Buffer.from('long'))
  assert.ok(calls > 1)
  assert.deepEqual([recorded.length, held.length], [1, 1])
})

import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { checkEffect, checkMatch } from './check-fault.ts'

function check(match: unknown, effect: unknown): void {
  checkMatch(match)
  checkEffect(effect, match)
}

suite('faults that are refused', () => {
  const all: readonly (readonly [unknown, unknown, RegExp])[] = [
    [null, { status: 500 }, /^match is no object$/],
    [[], { status: 500 }, /^match is no object$/],
    [{ colour: 'red' }, { status: 500 }, /^match: there is no "colour"$/],
    [{ verb: 'read' }, { status: 500 }, /^match\.verb: one of get, list, /],
    [{ verb: [] }, { status: 500 }, /^match\.verb: from 1 to 8 verbs$/],
    [{ verb: ['get', 1] }, { status: 500 }, /^match\.verb: one of/],
    [{ name: 1 }, { status: 500 }, /^match\.name is no text$/],
    [{ name: 'x'.repeat(1_001) }, { status: 500 }, /^match\.name is longer than 1000 characters$/],
    [{ resource: null }, { status: 500 }, /^match\.resource is no text$/],
    [{ after: '1' }, { status: 500 }, /^match\.after is no number$/],
    [{ times: -1 }, { status: 500 }, /^match\.times -1 is not between/],
    [{ times: 1.5 }, { status: 500 }, /^match\.times 1\.5 is no whole number$/],
    [{ after: Number.NaN }, { status: 500 }, /^match\.after NaN is not between/],
    [{ after: Infinity }, { status: 500 }, /^match\.after Infinity is not between/],
    [{}, undefined, /^effect: one of status, conflict,/],
    [{}, {}, /^effect: one of/],
    [{}, 'status', /^effect: one of/],
    [{}, { status: 500, delayMs: 1 }, /^effect: one of/],
    [{}, { status: 200 }, /^effect\.status 200 is not between 400 and 599$/],
    [{}, { status: '500' }, /^effect\.status is no number$/],
    [{}, { status: 500, colour: 'red' }, /^effect: there is no "colour"$/],
    [{}, { status: 500, message: {} }, /^effect\.message is no text$/],
    [
      {},
      { status: 500, retryAfterSeconds: Infinity },
      /^effect\.retryAfterSeconds Infinity is not between/,
    ],
    [{}, { conflict: false }, /^effect\.conflict: one of true$/],
    [{}, { delayMs: 3e9 }, /^effect\.delayMs 3000000000 is not between 0 and 2147483647$/],
    [{}, { delayMs: Number.NaN }, /^effect\.delayMs NaN is not between/],
    [{}, { dropConnection: 'now' }, /^effect\.dropConnection: one of true, before, after$/],
    [{}, { closeWatch: { afterEvents: '1' } }, /^effect\.closeWatch\.afterEvents is no number$/],
    [{}, { closeWatch: {} }, /^effect\.closeWatch: true, or/],
    [{}, { closeWatch: { after: 1 } }, /^effect\.closeWatch: true, or/],
    [{}, { staleRead: 1 }, /^effect\.staleRead: one of true$/],
    [
      { verb: 'list' },
      { conflict: true },
      /^effect: conflict is for update, patch, delete, not for list$/,
    ],
    [
      { verb: ['get', 'list'] },
      { closeWatch: true },
      /^effect: closeWatch is for watch, not for get, list$/,
    ],
    [
      { verb: 'create' },
      { staleRead: true },
      /^effect: staleRead is for get, list, not for create$/,
    ],
  ]
  for (const [match, effect, message] of all) {
    test(`${JSON.stringify(match)} ${JSON.stringify(effect)}`, () => {
      assert.throws(() => check(match, effect), { message })
    })
  }
})

test('faults that are taken', () => {
  check({}, { status: 503, message: 'later', reason: 'ServiceUnavailable', retryAfterSeconds: 1 })
  check({ verb: ['get', 'update'], name: undefined, after: 0, times: 1 }, { conflict: true })
  check({ verb: 'watch' }, { closeWatch: { afterEvents: 3 } })
  check({ verb: 'create', resource: 'pods/*' }, { dropConnection: 'after' })
  check({ namespace: '' }, { delayMs: 0.5 })
})

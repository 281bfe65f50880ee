import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { checkEffect, checkMatch } from './check-fault.ts'

function check(match: unknown, effect: unknown): void {
  checkMatch(match)
  checkEffect(effect, match)
}

suite('definitions of injected faults with invalid fields are rejected', () => {
  const all: readonly (readonly [unknown, unknown, RegExp])[] = [
    [null, { status: 500 }, /^match is not an object$/],
    [[], { status: 500 }, /^match is not an object$/],
    [{ colour: 'red' }, { status: 500 }, /^match: unknown field "colour"$/],
    [{ verb: 'read' }, { status: 500 }, /^match\.verb must be one of: get, list, /],
    [{ verb: [] }, { status: 500 }, /^match\.verb must have 1 to 8 verbs$/],
    [{ verb: ['get', 1] }, { status: 500 }, /^match\.verb must be one of/],
    [{ name: 1 }, { status: 500 }, /^match\.name is not a string$/],
    [{ name: 'x'.repeat(1_001) }, { status: 500 }, /^match\.name is longer than 1000 characters$/],
    [{ resource: null }, { status: 500 }, /^match\.resource is not a string$/],
    [{ after: '1' }, { status: 500 }, /^match\.after is not a number$/],
    [{ times: -1 }, { status: 500 }, /^match\.times -1 is not between/],
    [{ times: 1.5 }, { status: 500 }, /^match\.times 1\.5 is not a whole number$/],
    [{ after: Number.NaN }, { status: 500 }, /^match\.after NaN is not between/],
    [{ after: Infinity }, { status: 500 }, /^match\.after Infinity is not between/],
    [{}, undefined, /^effect must be exactly one of: status, conflict,/],
    [{}, {}, /^effect must be exactly one of/],
    [{}, 'status', /^effect must be exactly one of/],
    [{}, { status: 500, delayMs: 1 }, /^effect must be exactly one of/],
    [{}, { status: 200 }, /^effect\.status 200 is not between 400 and 599$/],
    [{}, { status: '500' }, /^effect\.status is not a number$/],
    [{}, { status: 500, colour: 'red' }, /^effect: unknown field "colour"$/],
    [{}, { status: 500, message: {} }, /^effect\.message is not a string$/],
    [
      {},
      { status: 500, retryAfterSeconds: Infinity },
      /^effect\.retryAfterSeconds Infinity is not between/,
    ],
    [{}, { conflict: false }, /^effect\.conflict must be one of: true$/],
    [{}, { delayMs: 3e9 }, /^effect\.delayMs 3000000000 is not between 0 and 2147483647$/],
    [{}, { delayMs: Number.NaN }, /^effect\.delayMs NaN is not between/],
    [{}, { dropConnection: 'now' }, /^effect\.dropConnection must be one of: true, before, after$/],
    [{}, { closeWatch: { afterEvents: '1' } }, /^effect\.closeWatch\.afterEvents is not a number$/],
    [{}, { closeWatch: {} }, /^effect\.closeWatch must be true, or/],
    [{}, { closeWatch: { after: 1 } }, /^effect\.closeWatch must be true, or/],
    [{}, { staleRead: 1 }, /^effect\.staleRead must be one of: true$/],
    [
      { verb: 'list' },
      { conflict: true },
      /^effect: conflict applies to update, patch, delete, not to list$/,
    ],
    [
      { verb: ['get', 'list'] },
      { closeWatch: true },
      /^effect: closeWatch applies to watch, not to get, list$/,
    ],
    [
      { verb: 'create' },
      { staleRead: true },
      /^effect: staleRead applies to get, list, not to create$/,
    ],
  ]
  for (const [match, effect, message] of all) {
    test(`the match ${JSON.stringify(match)} and the effect ${JSON.stringify(effect)} are rejected`, () => {
      assert.throws(() => check(match, effect), { message })
    })
  }
})

test('valid definitions of injected faults are accepted', () => {
  check({}, { status: 503, message: 'later', reason: 'ServiceUnavailable', retryAfterSeconds: 1 })
  check({ verb: ['get', 'update'], name: undefined, after: 0, times: 1 }, { conflict: true })
  check({ verb: 'watch' }, { closeWatch: { afterEvents: 3 } })
  check({ verb: 'create', resource: 'pods/*' }, { dropConnection: 'after' })
  check({ namespace: '' }, { delayMs: 0.5 })
})

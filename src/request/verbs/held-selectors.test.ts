import { doesNotThrow, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { HELD_CHARACTERS_MAX, HeldSelectors } from './held-selectors.ts'

const half = HELD_CHARACTERS_MAX / 2

test('the total length of long selectors that the open watches of one user have is limited', () => {
  const held = new HeldSelectors()
  held.hold('a', half)
  const release = held.hold('a', half)
  throws(() => held.hold('a', 2_000), { code: 429, message: /^the selectors of all your watches/ })
  doesNotThrow(() => held.hold('a', 100))
  doesNotThrow(() => held.hold('b', half))
  release()
  release()
  doesNotThrow(() => held.hold('a', half))
  throws(() => held.hold('a', 2_000), { code: 429 })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzzCodecs } from '../../../test/chaos/hostile/codecs.ts'

/** Some seconds of it; test/chaos/hostile/codecs.ts does more. */
const RUNS = 3_000

test('broken protobuf and CBOR of any kind is refused or decoded', () => {
  const { decoded, refused } = fuzzCodecs({ runs: RUNS, seed: 1 })
  assert.ok(decoded > RUNS / 50 && refused > RUNS / 2, `${decoded} decoded, ${refused} refused`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzzCodecs } from '../../../test/chaos/hostile/codecs.ts'

/** Number of runs, which take a few seconds. test/chaos/hostile/codecs.ts performs more runs. */
const RUNS = 3_000

test('malformed protobuf and CBOR is either decoded or rejected, and causes no other errors', () => {
  const { decoded, refused } = fuzzCodecs({ runs: RUNS, seed: 1 })
  assert.ok(decoded > RUNS / 50 && refused > RUNS / 2, `${decoded} decoded, ${refused} refused`)
})

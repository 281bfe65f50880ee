/** Tests a short rolling restart. test/chaos/soak/rolling.ts runs a long one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restartInTurn } from '../chaos/soak/rolling-restart.ts'

/**
 * Maximum duration of the test. It is long enough for three starts on a busy machine, and ends the
 * test if a request never gets a response.
 */
const TEST_MS_MAX = 600_000

test('when replicas are restarted in turn, no request and no event is lost', {
  timeout: TEST_MS_MAX,
}, async () => {
  const { faults, requests, events, resumes } = await restartInTurn({
    requestsPerSecond: 50,
    watchers: 40,
    watchGraceSeconds: 1,
    delaySeconds: 2,
    calmSeconds: 1,
  })
  assert.deepEqual(faults, [])
  assert.ok(requests > 100 && events > 0, `${requests} requests, ${events} events`)
  assert.ok(resumes >= 40, `every watcher was on a replica that was restarted: ${resumes} resumes`)
})

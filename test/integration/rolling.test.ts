/** A small rolling restart; test/soak/rolling.ts is the whole one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restartInTurn } from '../soak/rolling-restart.ts'

test('replicas are restarted in turn, and neither a request nor an event is lost', async () => {
  const { faults, requests, events, resumes } = await restartInTurn({
    requestsPerSecond: 50,
    watchers: 40,
    watchGraceSeconds: 1,
    delaySeconds: 2,
  })
  assert.deepEqual(faults, [])
  assert.ok(requests > 100 && events > 0, `${requests} requests, ${events} events`)
  assert.ok(resumes >= 40, `every watcher was on a replica that was restarted: ${resumes} resumes`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Profiles } from './profiler.ts'
import { Rest } from './rest.ts'

test('after a profile, the next profile must wait four times as long as the process was paused, and waits add up', () => {
  const rest = new Rest()
  assert.equal(rest.waitMs(0), 0)
  rest.record(100, 1_000)
  assert.equal(rest.waitMs(1_000), 400)
  rest.record(50, 1_100)
  assert.equal(rest.waitMs(1_100), 500)
  assert.equal(rest.waitMs(5_000), 0)
  rest.record(10, 5_000)
  assert.equal(rest.waitMs(5_000), 40)
})

test('if a client disconnects while a profile is recorded, other clients can record profiles', async () => {
  const profiles = new Profiles(() => undefined)
  const { signal } = new AbortController()
  await profiles.cpu({ seconds: 0.001, signal }, 'chrome')
  await assert.rejects(profiles.cpu({ seconds: 60, signal: AbortSignal.timeout(1) }, 'chrome'))
  assert.ok((await profiles.cpu({ seconds: 0.001, signal }, 'chrome')).length > 0)
})

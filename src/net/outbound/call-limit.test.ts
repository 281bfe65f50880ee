import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusyError, CallLimit } from './call-limit.ts'

const { signal } = new AbortController()
const limits = { callsMax: 1, waitingMax: 2 }

test('calls beyond the concurrency limit start in order, as soon as another call has ended', async () => {
  const limit = new CallLimit(limits)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const call = (name: string): Promise<void> =>
    limit.run(() => {
      begun.push(name)
      return new Promise((resolve) => ends.set(name, resolve))
    }, signal)
  const all = [call('a'), call('b'), call('c')]
  await assert.rejects(call('d'), BusyError, 'the queue is full')
  for (const [at, name] of ['a', 'b', 'c'].entries()) {
    assert.deepEqual(begun, ['a', 'b', 'c'].slice(0, at + 1))
    ends.get(name)?.()
    await all[at]
  }
  assert.equal(await limit.run(async () => 'free', signal), 'free')
})

test('a waiting call whose signal is aborted is not made, and does not delay the next call', async () => {
  const limit = new CallLimit(limits)
  const first = Promise.withResolvers<void>()
  const running = limit.run(() => first.promise, signal)
  const leaving = new AbortController()
  const left = limit.run(() => assert.fail('it was called'), leaving.signal)
  const patient = limit.run(async () => 'called', signal)
  leaving.abort()
  await assert.rejects(left, BusyError)
  first.resolve()
  await running
  assert.equal(await patient, 'called')
  await assert.rejects(
    limit.run(() => Promise.reject(new Error('refused')), signal),
    /refused/,
  )
  assert.equal(await limit.run(async () => 'free', signal), 'free')
})

test('a call that times out fails as busy only if it had to wait for other calls', async () => {
  const limit = new CallLimit(limits)
  const time = new AbortController()
  const aborted = (): Promise<void> =>
    new Promise((_, reject) =>
      time.signal.addEventListener('abort', () => reject(new Error('too late'))),
    )
  const first = limit.run(aborted, time.signal)
  const second = limit.run(aborted, time.signal)
  const [one, two] = [assert.rejects(first, /too late/), assert.rejects(second, BusyError)]
  time.abort()
  await Promise.all([one, two])
})

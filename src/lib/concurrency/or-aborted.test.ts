import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { orAborted } from './or-aborted.ts'

test('a promise that settles before an abort decides the result, and no listener remains on the signal', async () => {
  const { signal } = new AbortController()
  assert.equal(await orAborted(Promise.resolve(1), signal), 1)
  await assert.rejects(orAborted(Promise.reject(new Error('it failed')), signal), /it failed/)
  assert.equal(await orAborted(Promise.resolve(2), undefined), 2)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('an abort rejects immediately, with its reason or a given error, and a later rejection of the promise is ignored', async () => {
  const controller = new AbortController()
  const { promise, reject } = Promise.withResolvers<void>()
  const waiting = [
    orAborted(promise, controller.signal),
    orAborted(promise, controller.signal, () => new Error('gone')),
  ]
  controller.abort(new Error('stopped'))
  await assert.rejects(waiting[0] ?? assert.fail(), /stopped/)
  await assert.rejects(waiting[1] ?? assert.fail(), /gone/)
  await assert.rejects(orAborted(promise, controller.signal), /stopped/)
  reject(new Error('late'))
})

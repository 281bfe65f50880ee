import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageError } from '../errors.ts'
import type { ObjectStore } from '../store.ts'
import { type InformedResource, informedStore } from './informed-store.ts'

/** A store in which only `create` succeeds. Tests override the other methods that they need. */
const store: ObjectStore = {
  get: () => assert.fail(),
  create: async () => 7,
  update: () => assert.fail(),
  deleteUnreadable: () => assert.fail(),
}

function follow(revision: number): {
  readonly followed: InformedResource
  readonly told: string[]
  readonly arrive: () => void
} {
  const arrived = Promise.withResolvers<void>()
  const reported: string[] = []
  const wait = (what: string) => {
    reported.push(what)
    return arrived.promise
  }
  const informer = {
    revision,
    reach: (at: number) => wait(`reach ${at}`),
    latest: () => wait('latest'),
  }
  return { followed: informer, told: reported, arrive: arrived.resolve }
}

test('a write completes when the informer of the resource has received the change', async () => {
  const { followed: informer, told: reported, arrive } = follow(6)
  let isDone = false
  const created = informedStore(store, () => informer)
    .create('/r/a', Buffer.from(''))
    .then((revision) => {
      isDone = true
      return revision
    })
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual([isDone, reported], [false, ['reach 7']])
  arrive()
  assert.equal(await created, 7)
})

test('a write that returns no new revision waits until the informer has the latest state', async () => {
  const { followed: informer, told: reported, arrive } = follow(9)
  arrive()
  await informedStore(store, () => informer).create('/r/a', Buffer.from(''))
  assert.deepEqual(reported, ['latest'])
})

test('a create of an object that already exists waits until the informer has the latest state', async () => {
  const { followed: informer, told: reported, arrive } = follow(6)
  arrive()
  const failing: ObjectStore = {
    ...store,
    create: () => Promise.reject(new StorageError('exists', 'it exists')),
  }
  await assert.rejects(
    informedStore(failing, () => informer).create('/r/a', Buffer.from('')),
    /it exists/,
  )
  assert.deepEqual(reported, ['latest'])
})

test('a write does not wait if no informer follows the resource', async () => {
  assert.equal(await informedStore(store, () => undefined).create('/r/a', Buffer.from('')), 7)
})

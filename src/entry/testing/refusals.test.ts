import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes } from '../../../test/support/harness/held-bytes.ts'
import type { ResourceInfo } from '../../api/context.ts'
import { Refusals, REFUSALS_MAX, type RefusedContext } from './refusals.ts'

const info: ResourceInfo = {
  kind: 'resource',
  verb: 'create',
  group: '',
  version: 'v1',
  plural: 'configmaps',
  subresource: '',
  namespace: 'default',
  name: '',
  segments: [],
  isWatchPath: false,
}

const contextOf = (over: Partial<RefusedContext> = {}): RefusedContext => ({
  info,
  sender: {
    verb: info.verb,
    subresource: '',
    source: 'client',
    user: undefined,
    userAgent: '',
    fieldManager: '',
  },
  timeMs: 0,
  revision: 0,
  isAuthorized: true,
  ...over,
})

const statusOf = (message: string) =>
  ({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message }) as const

test('the oldest refused requests are dropped', () => {
  const refusals = new Refusals()
  for (let at = 0; at < REFUSALS_MAX + 5; at++)
    refusals.add(contextOf({ timeMs: at }), { status: 409 })
  const all = [...refusals.all()]
  assert.equal(all.length, REFUSALS_MAX)
  assert.equal(all[0]?.timeMs, 5)
})

test('the total size of recorded refused requests is limited', async () => {
  const refusals = new Refusals()
  const held = await heldBytes(async () => {
    for (let at = 0; at < 100; at++) {
      const message = Buffer.alloc(1 << 20, 'a').toString()
      refusals.add(contextOf({ timeMs: at }), { status: 422, shownStatus: statusOf(message) })
    }
  })
  assert.equal([...refusals.all()].at(-1)?.timeMs, 99)
  assert.ok(held < 16 << 20, `${held} bytes are held`)
})

test('a get that is answered with 404, and a refused list request of the test itself, are not recorded as refusals', () => {
  const refusals = new Refusals()
  const get = contextOf({ info: { ...info, verb: 'get', name: 'x' } })
  refusals.add(get, { status: 404 })
  const list = { ...info, verb: 'list' }
  refusals.add(contextOf({ info: list, sender: { ...get.sender, source: 'test' } }), {
    status: 403,
  })
  assert.deepEqual([...refusals.all()], [])
  refusals.add(get, { status: 403 })
  refusals.add(contextOf({ info: list }), { status: 404 })
  assert.deepEqual(
    [...refusals.all()].map(({ code }) => code),
    [403, 404],
  )
})

test('the message of a refused write to a Secret is left out, unless the user was not authorized', () => {
  const refusals = new Refusals()
  const secret = { ...info, plural: 'secrets' }
  const response = { status: 403, shownStatus: statusOf('a webhook quotes the data') }
  refusals.add(contextOf({ info: secret }), response)
  refusals.add(contextOf({ info: secret, isAuthorized: false }), response)
  assert.deepEqual(
    [...refusals.all()].map(({ message }) => message),
    ['', 'a webhook quotes the data'],
  )
})

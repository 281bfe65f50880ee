import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestInfo, ResourceInfo } from '../../api/context.ts'
import { TextError } from '../../api/errors.ts'
import { mastersGroup, type User } from '../../api/user.ts'
import { InFlight } from './in-flight.ts'

const bob: User = { name: 'bob', uid: '', groups: ['system:authenticated'] }
const admin: User = { name: 'admin', uid: '', groups: [mastersGroup] }

const pods = (verb: string, subresource = ''): ResourceInfo => ({
  kind: 'resource',
  verb,
  group: '',
  version: 'v1',
  plural: 'pods',
  subresource,
  namespace: 'default',
  name: 'x',
  segments: [],
  isWatchPath: false,
})
const path = (verb: string, of: string): RequestInfo => ({ kind: 'path', verb, path: of })

const isRefused = (inFlight: InFlight, info: RequestInfo, user = bob): boolean => {
  try {
    inFlight.enter(user, info)?.leave()
    return false
  } catch (error) {
    assert.ok(error instanceof TextError)
    assert.deepEqual(
      [error.code, error.message, error.retryAfterSeconds],
      [429, 'Too many requests, please try again later.\n', 1],
    )
    return true
  }
}

test('reads and writes have separate pools of slots, and a finished request releases its slot', () => {
  const inFlight = new InFlight({ readOnlyMax: 2, mutatingMax: 1 })
  const reads = [inFlight.enter(bob, pods('get')), inFlight.enter(bob, path('get', '/version'))]
  assert.ok(isRefused(inFlight, pods('list')))
  assert.ok(!isRefused(inFlight, pods('create')))
  const write = inFlight.enter(bob, pods('deletecollection'))
  assert.ok(isRefused(inFlight, pods('patch')))
  assert.ok(isRefused(inFlight, path('post', '/version')))
  for (const place of [...reads, write]) place?.leave()
  assert.ok(!isRefused(inFlight, pods('list')))
  assert.ok(!isRefused(inFlight, pods('patch')))
})

test('exempt requests are admitted even if no slot is free', () => {
  const inFlight = new InFlight({ readOnlyMax: 1, mutatingMax: 1 })
  const exempt: readonly [User, RequestInfo][] = [
    [admin, pods('get')],
    [admin, pods('create')],
    [bob, pods('watch')],
    [bob, pods('get', 'log')],
    [bob, pods('create', 'exec')],
    [bob, path('get', '/readyz')],
  ]
  for (const [user, info] of exempt) assert.equal(inFlight.enter(user, info), undefined)
  inFlight.enter(bob, pods('get'))
  inFlight.enter(bob, pods('create'))
  for (const [user, info] of exempt) assert.ok(!isRefused(inFlight, info, user), info.verb)
  assert.ok(isRefused(inFlight, pods('get')))
})

test('a limit of 0 means that the number of requests in flight is unlimited', () => {
  const inFlight = new InFlight({ readOnlyMax: 0, mutatingMax: 0 })
  for (let at = 0; at < 1000; at++) inFlight.enter(bob, pods('create'))
  assert.ok(!isRefused(inFlight, pods('create')))
})

test('long responses that one user has not read yet can occupy at most a quarter of the slots', () => {
  const inFlight = new InFlight({ readOnlyMax: 8, mutatingMax: 8 })
  const alice: User = { ...bob, name: 'alice' }
  const begun = Array.from({ length: 8 }, () => inFlight.enter(bob, pods('list')))
  assert.ok(isRefused(inFlight, pods('get'), alice))
  const kept = begun.map((place) => place?.keep('bob'))
  assert.ok(isRefused(inFlight, pods('get')))
  assert.ok(!isRefused(inFlight, pods('create')), 'writes have another pool')
  const others = Array.from({ length: 6 }, () => inFlight.enter(alice, pods('get')))
  assert.ok(isRefused(inFlight, pods('get'), alice))
  for (const place of [...others, ...kept]) place?.leave()
  assert.ok(!isRefused(inFlight, pods('get')))
  const all = Array.from({ length: 8 }, () => inFlight.enter(bob, pods('get')))
  assert.equal(all.length, 8, 'all slots are free again')
})

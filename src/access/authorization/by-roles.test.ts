import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsDuring } from '../../../test/support/harness/turns.ts'
import { noMemory } from '../../api/errors.ts'
import type { Fields } from '../../api/object.ts'
import { readRules } from '../rbac/read-objects.ts'
import { RoleIndex } from '../rbac/role-index.ts'
import type { Rights, RightsRequest } from './authorizer.ts'
import { createRoleAuthorizer } from './by-roles.ts'

const alice = { name: 'alice', uid: '', groups: [] }

/** Creates an index in which each of these roles is bound to alice. */
function indexOf(...roles: readonly (readonly Fields[])[]): RoleIndex {
  const index = new RoleIndex()
  const subjects = [{ kind: 'User', name: 'alice', namespace: '', matches: 'alice' }] as const
  for (const [at, rules] of roles.entries()) {
    const place = { namespace: '', name: `r${at}` }
    index.setRole(place, readRules(rules))
    index.setBinding(place, { roleKind: 'ClusterRole', roleName: `r${at}`, subjects })
  }
  return index
}

const rightsOf = async (
  index: RoleIndex,
  request: Partial<RightsRequest> = {},
): Promise<Rights> => {
  const { signal } = new AbortController()
  const waiting = { signal, reserve: () => undefined, ...request }
  return createRoleAuthorizer(index).rightsOf(alice, 'n', waiting)
}

const may = (resourceNames: readonly string[]): Fields => ({
  verbs: ['get'],
  apiGroups: [''],
  resources: ['pods'],
  resourceNames,
})
const names = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}`)

test("the list of a user's rights contains all rules of large roles, until it reaches the maximum number of entries", async () => {
  const roles = Array.from({ length: 6 }, () => [may(names(80_000, ''))])
  const all = await rightsOf(indexOf(...roles.slice(0, 4)))
  assert.deepEqual([all.resourceRules.length, all.incomplete], [4, false])
  assert.equal(all.evaluationError, undefined)
  const { resourceRules, incomplete, evaluationError } = await rightsOf(indexOf(...roles))
  assert.deepEqual([resourceRules.length, incomplete], [4, true])
  assert.equal(
    evaluationError,
    'the list of rules is incomplete: it has at most 400000 entries and 3145728 bytes',
  )
})

test("the list of a user's rights contains rules with long names, until it reaches the maximum number of bytes", async () => {
  const long = 'x'.repeat(1_000_000)
  const roles = Array.from({ length: 5 }, (_, at) => [may([`${long}${at}`])])
  const { resourceRules, incomplete, evaluationError } = await rightsOf(indexOf(...roles))
  assert.deepEqual([resourceRules.length, incomplete], [3, true])
  assert.match(evaluationError ?? '', /at most 400000 entries and 3145728 bytes/)
})

test('the rights of a user with large roles are collected in slices, between which other work can run', async () => {
  const rules = Array.from({ length: 60_000 }, (_, at) => may([`${at}`]))
  const index = indexOf(rules)
  const turns = await turnsDuring(async () => void (await rightsOf(index)))
  assert.ok(turns >= 5, `${turns} ticks`)
})

test('collecting the rights of a user with large roles reserves memory, and stops when the request ends', async () => {
  let reserved = 0
  const reserve = (bytes: number): void => void (reserved += bytes)
  await rightsOf(indexOf([may(['a'])]), { reserve })
  assert.equal(reserved, 0)
  const large = indexOf([may(names(80_000, ''))])
  await rightsOf(large, { reserve })
  assert.ok(reserved > 1_000_000, `${reserved} bytes`)
  await assert.rejects(rightsOf(large, { reserve: refuse }), noMemory())
  const reason = new Error('the client has disconnected')
  await assert.rejects(rightsOf(large, { signal: AbortSignal.abort(reason) }), reason)
})

test('the explanation of an authorization decision is aborted when the client that requested it disconnects', async () => {
  const { explain } = createRoleAuthorizer(indexOf([may(['a'])]))
  const asked = { kind: 'path', verb: 'get', path: '/x' } as const
  const reason = new Error('the client has disconnected')
  const signal = AbortSignal.abort(reason)
  await assert.rejects(async () => explain?.(alice, asked, { signal }), reason)
})

function refuse(): never {
  throw noMemory()
}

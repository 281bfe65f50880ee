/**
 * Tests that the index makes the same decisions as a naive implementation, which checks all
 * bindings and rules one by one. The indexed objects change in random order.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AccessAttributes } from '../../api/access.ts'
import { type Fields, fieldsOf, itemsOf, textOf, textsOf } from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import { authorizeByRoles, heldRules, ResolutionErrors } from './authorizer.ts'
import { keptBinding, keptRules } from './read-objects.ts'
import { RoleIndex } from './role-index.ts'
import { SharedLists } from '../../lib/collections/shared-lists.ts'

const namespaces = ['', 'n', 'm'] as const
const names = ['a', 'b', 'c'] as const
const listOf = (...values: readonly string[]) => fc.subarray([...values])

const resourceRule = fc.record({
  verbs: listOf('get', 'list', '*'),
  apiGroups: listOf('', 'apps', '*'),
  resources: listOf('pods', 'pods/log', '*/log', '*'),
  resourceNames: listOf('', 'x', 'y'),
})
const pathRule = fc.record({
  verbs: listOf('get', '*'),
  nonResourceURLs: listOf('/x', '/x/*', '*', '/y*'),
})
/** Rules that make a role long. The rules of a long role are looked up by resource. */
const filler = Array.from({ length: 30 }, (_, at) => ({
  verbs: ['v'],
  apiGroups: ['g'],
  resources: [`r${at}`],
}))
const rules = fc
  .tuple(fc.array(fc.oneof(resourceRule, pathRule), { maxLength: 4 }), fc.boolean())
  .map(([own, isLong]): Fields => ({ rules: isLong ? [...filler, ...own] : own }))

const subject = fc.record({
  kind: fc.constantFrom('User', 'Group', 'ServiceAccount', 'Thing'),
  name: fc.constantFrom('alice', 'dev', 'ops', 'sa'),
  namespace: fc.constantFrom('', 'n'),
})
const many = Array.from({ length: 20 }, (_, at) => ({ kind: 'Group', name: `g${at}` }))
const content = fc
  .record({
    roleRef: fc.record({
      kind: fc.constantFrom('Role', 'ClusterRole', 'Thing'),
      name: fc.constantFrom(...names),
    }),
    subjects: fc.array(subject, { maxLength: 3 }),
    isLong: fc.boolean(),
  })
  .map(
    ({ roleRef, subjects, isLong }): Fields => ({
      roleRef,
      subjects: isLong ? [...many, ...subjects] : subjects,
    }),
  )

const write = fc.record({
  what: fc.constantFrom('role', 'binding'),
  namespace: fc.constantFrom(...namespaces),
  name: fc.constantFrom(...names),
  rules: fc.option(rules, { nil: undefined }),
  content: fc.option(content, { nil: undefined }),
})

const user = fc.record({
  name: fc.constantFrom(
    'alice',
    'dev',
    'system:serviceaccount:n:sa',
    'system:serviceaccount:m:sa',
    '',
  ),
  uid: fc.constant(''),
  groups: fc
    .tuple(listOf('dev', 'ops', 'alice', 'g19'), fc.boolean())
    .map(([own, hasMany]) =>
      hasMany ? [...own, ...Array.from({ length: 20 }, (_, at) => `h${at}`)] : own,
    ),
})
const question: fc.Arbitrary<AccessAttributes> = fc.oneof(
  fc.record({
    kind: fc.constant('resource' as const),
    verb: fc.constantFrom('get', 'list', 'v'),
    group: fc.constantFrom('', 'apps', 'g'),
    version: fc.constant('v1'),
    plural: fc.constantFrom('pods', 'r7'),
    subresource: fc.constantFrom('', 'log'),
    namespace: fc.constantFrom(...namespaces),
    name: fc.constantFrom('', 'x', 'z'),
  }),
  fc.record({
    kind: fc.constant('path' as const),
    verb: fc.constantFrom('get', 'post'),
    path: fc.constantFrom('/x', '/x/', '/yy', '/'),
  }),
)

test('RoleIndex makes the same decisions as a naive scan of all bindings and rules', () => {
  fc.assert(
    fc.property(
      fc.array(write, { maxLength: 30 }),
      fc.array(fc.tuple(user, question), { minLength: 10 }),
      (writes, asked) => {
        const index = new RoleIndex()
        const shared = new SharedLists()
        const roles = new Map<string, Fields>()
        const bindings = new Map<string, Fields>()
        for (const one of writes) {
          const { namespace, name } = one
          const key = `${namespace}/${name}`
          const [map, object] = one.what === 'role' ? [roles, one.rules] : [bindings, one.content]
          if (object === undefined) map.delete(key)
          else map.set(key, object)
          if (one.what === 'role')
            index.setRole({ namespace, name }, object && keptRules(object, shared))
          else
            index.setBinding({ namespace, name }, object && keptBinding(object, namespace, shared))
        }
        for (const [who, what] of asked) {
          const expected = decideOneByOne({ roles, bindings }, who, what)
          const { verdict, reason } = authorizeByRoles(index, who, what)
          assert.equal(verdict, expected.isAllowed ? 'allow' : 'no-opinion')
          if (!expected.isAllowed) assert.deepEqual(errorsIn(reason), expected.errors)
          const namespace = what.kind === 'path' ? '' : what.namespace
          const errors = new ResolutionErrors()
          const held = [...heldRules(index, who, { namespace, each: 'binding', errors })]
          assert.equal(held.flat().length, expected.rules)
        }
      },
    ),
    { numRuns: 300 },
  )
})

test("the time of a decision is linear in the number of the user's groups", () => {
  const index = new RoleIndex()
  const shared = new SharedLists()
  const groups = Array.from({ length: 20_000 }, (_, at) => `g${at}`)
  const bind = (name: string, subjectNames: readonly string[]): void => {
    const subjects = subjectNames.map((one) => ({ kind: 'Group', name: one }))
    const binding = { roleRef: { kind: 'ClusterRole', name: 'r' }, subjects }
    index.setBinding({ namespace: '', name }, keptBinding(binding, '', shared))
  }
  // The user is in all of these groups, so all subjects of the first binding match. In the other
  // bindings, only the last of three subjects matches.
  bind('long', groups)
  for (let at = 0; at < 2_000; at++) bind(`short-${at}`, ['x', 'y', `g${at}`])
  const seen: string[] = []
  const repeated = Array.from({ length: 20_000 }, () => 'g1')
  const startCpu = process.threadCpuUsage()
  index.visit(
    { name: 'u', uid: '', groups: [...groups, ...groups, ...repeated] },
    '',
    (binding) => seen.push(binding.name) === 0,
  )
  const { user: userMicros } = process.threadCpuUsage(startCpu)
  assert.equal(seen.length, groups.length)
  assert.ok(userMicros < 300_000, `${userMicros} µs`)
})

test('a decision examines each role of a group once, however many bindings it has', () => {
  const index = new RoleIndex()
  const shared = new SharedLists()
  const bind = (name: string, role: string): void => {
    const subjects = [...many.slice(0, 10), { kind: 'Group', name: 'dev' }]
    const binding = { roleRef: { kind: 'Role', name: role }, subjects }
    index.setBinding({ namespace: 'n', name }, keptBinding(binding, 'n', shared))
  }
  for (let at = 0; at < 3_000; at++) bind(`b${at}`, `r${at % 3}`)
  const seen: string[] = []
  const visit = (): void => {
    index.visit({ name: 'u', uid: '', groups: ['dev'] }, 'n', (binding) => {
      seen.push(binding.name)
      return false
    })
  }
  visit()
  assert.deepEqual(seen.splice(0), ['b0', 'b1', 'b2'])
  index.setBinding({ namespace: 'n', name: 'b1' }, undefined)
  bind('b2', 'r0')
  visit()
  assert.deepEqual(seen, ['b0', 'b4', 'b5'])
})

type RoleObjects = {
  readonly roles: ReadonlyMap<string, Fields>
  readonly bindings: ReadonlyMap<string, Fields>
}

function decideOneByOne({ roles, bindings }: RoleObjects, who: User, what: AccessAttributes) {
  const asked = what.kind === 'path' ? '' : what.namespace
  const found: Fields[] = []
  const errors = new Set<string>()
  for (const [key, binding] of bindings) {
    const namespace = key.slice(0, key.indexOf('/'))
    if (namespace !== '' && namespace !== asked) continue
    if (!itemsOf(binding['subjects']).some((one) => isHim(one, who, namespace))) continue
    const { kind, name } = fieldsOf(binding['roleRef'])
    const place = kind === 'ClusterRole' ? '' : namespace
    const role =
      kind === 'Thing' || (kind === 'Role' && namespace === '')
        ? undefined
        : roles.get(`${place}/${textOf(name)}`)
    if (role !== undefined) found.push(...itemsOf(role['rules']))
    else if (kind === 'Thing') errors.add('unsupported role reference kind: "Thing"')
    else
      errors.add(
        `${textOf(kind).toLowerCase()}.rbac.authorization.k8s.io "${textOf(name)}" not found`,
      )
  }
  return { isAllowed: found.some((rule) => covers(rule, what)), errors, rules: found.length }
}

function isHim(
  { kind, name, namespace }: Fields,
  { name: userName, groups }: User,
  bound: string,
): boolean {
  if (kind === 'User') return name === userName
  if (kind === 'Group') return groups.includes(textOf(name))
  const place = textOf(namespace) || bound
  return (
    kind === 'ServiceAccount' &&
    place !== '' &&
    userName === `system:serviceaccount:${place}:${textOf(name)}`
  )
}

function covers(rule: Fields, what: AccessAttributes): boolean {
  const has = (field: string, value: string): boolean => textsOf(rule[field]).includes(value)
  if (!has('verbs', what.verb) && !has('verbs', '*')) return false
  if (what.kind === 'path') {
    return textsOf(rule['nonResourceURLs']).some((url) =>
      url.endsWith('*') ? what.path.startsWith(url.slice(0, -1)) : url === what.path,
    )
  }
  if (!has('apiGroups', what.group) && !has('apiGroups', '*')) return false
  const full = what.subresource === '' ? what.plural : `${what.plural}/${what.subresource}`
  const isOfAny = what.subresource !== '' && has('resources', `*/${what.subresource}`)
  if (!has('resources', full) && !has('resources', '*') && !isOfAny) return false
  return textsOf(rule['resourceNames']).length === 0 || has('resourceNames', what.name)
}

const errorsIn = (reason: string): Set<string> =>
  new Set(
    reason === ''
      ? []
      : reason
          .replace(/^RBAC: \[?/, '')
          .replace(/\]$/, '')
          .split(', '),
  )

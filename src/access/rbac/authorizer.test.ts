import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccessAttributes } from '../../api/access.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import { cpuMsOf } from '../../../test/support/harness/turns.ts'
import { authorizeByRoles, heldRules, ResolutionErrors } from './authorizer.ts'
import { keptBinding, keptRules } from './read-objects.ts'
import { RoleIndex } from './role-index.ts'
import { SharedLists } from '../../lib/collections/shared-lists.ts'

const shared = new SharedLists()
const apiVersion = 'rbac.authorization.k8s.io/v1'

function role(index: RoleIndex, place: string, ...rules: readonly Fields[]): void {
  const [namespace = '', name = ''] = place.split('/')
  const object: KubeObject = { apiVersion, kind: 'Role', metadata: { name, namespace }, rules }
  index.setRole({ namespace, name }, keptRules(object, shared))
}

function bind(
  index: RoleIndex,
  place: string,
  roleRef: string,
  ...subjects: readonly Fields[]
): void {
  const [namespace = '', name = ''] = place.split('/')
  const [kind = '', roleName = ''] = roleRef.split('/')
  const object: KubeObject = {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name, namespace },
    roleRef: { kind, name: roleName },
    subjects,
  }
  index.setBinding({ namespace, name }, keptBinding(object, namespace, shared))
}

const may = (verbs: string, resources: string, more: Fields = {}): Fields => ({
  verbs: verbs.split(','),
  resources: resources.split(','),
  apiGroups: [''],
  ...more,
})
const alice: User = { name: 'alice', uid: '', groups: ['dev', 'system:authenticated'] }
const person = (name = 'alice'): Fields => ({ kind: 'User', name })
const group = (name: string): Fields => ({ kind: 'Group', name })

type RequestedAccess = {
  readonly group?: string
  readonly name?: string
  readonly namespace?: string
}

function asks(
  verb: string,
  what: string,
  { group: apiGroup = '', name = '', namespace = 'n' }: RequestedAccess = {},
) {
  if (what.startsWith('/')) return { kind: 'path', verb, path: what } as const
  const [plural = '', subresource = ''] = what.split('/')
  const resource = { kind: 'resource', version: 'v1', plural, subresource } as const
  return { ...resource, verb, group: apiGroup, name, namespace } satisfies AccessAttributes
}

function verdictOf(rules: readonly Fields[], attributes: AccessAttributes): boolean {
  const index = new RoleIndex()
  role(index, '/r', ...rules)
  bind(index, '/b', 'ClusterRole/r', person())
  const short = authorizeByRoles(index, alice, attributes).verdict === 'allow'
  // Repeat the check with a role that has many rules, which are looked up by resource. The decision
  // must be the same.
  const others = Array.from({ length: 40 }, (_, at) => may('dance', `others${at}`))
  role(index, '/r', ...others, ...rules, ...others)
  assert.equal(authorizeByRoles(index, alice, attributes).verdict === 'allow', short)
  return short
}

const cases: readonly (readonly [
  string,
  Fields,
  readonly AccessAttributes[],
  readonly AccessAttributes[],
])[] = [
  [
    'a verb matches only itself',
    may('get', 'pods'),
    [asks('get', 'pods')],
    [asks('GET', 'pods'), asks('list', 'pods')],
  ],
  [
    'the verb * matches any verb',
    may('*', 'pods'),
    [asks('get', 'pods'), asks('', 'pods')],
    [asks('get', 'nodes')],
  ],
  [
    'a verb that ends with a star is not a pattern',
    may('get*', 'pods'),
    [asks('get*', 'pods')],
    [asks('get', 'pods')],
  ],
  [
    'a resource does not include its subresources',
    may('get', 'pods'),
    [asks('get', 'pods')],
    [asks('get', 'pods/log')],
  ],
  [
    'the resource * matches any resource and subresource',
    may('get', '*'),
    [asks('get', 'pods/log')],
    [asks('get', 'x', { group: 'apps' })],
  ],
  [
    'a subresource matches only itself',
    may('get', 'pods/log'),
    [asks('get', 'pods/log')],
    [asks('get', 'pods'), asks('get', 'x/log')],
  ],
  [
    '*/scale matches this subresource of any resource',
    may('get', '*/scale'),
    [asks('get', 'x/scale')],
    [asks('get', 'scale'), asks('get', 'x/status')],
  ],
  [
    'pods/* is not a pattern',
    may('get', 'pods/*'),
    [asks('get', 'pods/*')],
    [asks('get', 'pods/log')],
  ],
  ['*/* is not a pattern', may('get', '*/*'), [asks('get', 'x/*')], [asks('get', 'pods/log')]],
  [
    'the group * matches any group',
    may('get', 'pods', { apiGroups: ['*'] }),
    [asks('get', 'pods', { group: 'x' })],
    [],
  ],
  [
    'a group that begins with a star is not a pattern',
    may('get', 'pods', { apiGroups: ['*.x'] }),
    [],
    [asks('get', 'pods', { group: 'a.x' })],
  ],
  [
    'resource names match only requests for these names',
    may('get,create,list', 'pods', { resourceNames: ['a', '*'] }),
    [
      asks('get', 'pods', { name: 'a' }),
      asks('get', 'pods', { name: '*' }),
      asks('create', 'pods', { name: 'a' }),
    ],
    [asks('get', 'pods', { name: 'b' }), asks('create', 'pods'), asks('list', 'pods')],
  ],
  [
    'an empty resource name matches requests without a name',
    may('list', 'pods', { resourceNames: [''] }),
    [asks('list', 'pods')],
    [],
  ],
  [
    'paths do not grant resources',
    { verbs: ['*'], nonResourceURLs: ['*'] },
    [],
    [asks('get', 'pods')],
  ],
  [
    'resources do not grant paths',
    may('*', '*', { apiGroups: ['*'] }),
    [],
    [asks('get', '/metrics')],
  ],
  [
    'a path that ends with stars is a prefix',
    { verbs: ['get'], nonResourceURLs: ['/x/**', '/y', '/z/*/z'] },
    [asks('get', '/x/'), asks('get', '/x/a/b'), asks('get', '/y'), asks('get', '/z/*/z')],
    [asks('get', '/x'), asks('get', '/y/'), asks('get', '/z/a/z'), asks('post', '/y')],
  ],
  [
    'the path * matches any path',
    { verbs: ['*'], nonResourceURLs: ['*'] },
    [asks('post', '/'), asks('get', '/a')],
    [],
  ],
]
for (const [name, rule, covered, others] of cases) {
  test(`in the rules of a role, ${name}`, () => {
    for (const attributes of covered)
      assert.ok(verdictOf([rule], attributes), JSON.stringify(attributes))
    for (const attributes of others)
      assert.ok(!verdictOf([rule], attributes), JSON.stringify(attributes))
  })
}

test('a request is allowed only if a single rule covers the whole request', () => {
  assert.ok(!verdictOf([may('get', 'pods'), may('list', 'services')], asks('list', 'pods')))
})

test('the reason of a decision names the binding, the role and the first matching subject', () => {
  const index = new RoleIndex()
  role(index, '/view', may('get', 'pods'))
  role(index, 'n/edit', may('update', 'pods'))
  bind(index, '/b', 'ClusterRole/view', group('dev'), person())
  const account = {
    name: 'system:serviceaccount:n:sa',
    uid: '',
    groups: ['system:serviceaccounts'],
  }
  bind(index, 'n/b', 'Role/edit', { kind: 'ServiceAccount', name: 'sa' })
  assert.deepEqual(authorizeByRoles(index, alice, asks('get', 'pods')), {
    verdict: 'allow',
    reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "view" to Group "dev"',
  })
  assert.deepEqual(authorizeByRoles(index, account, asks('update', 'pods')), {
    verdict: 'allow',
    reason: 'RBAC: allowed by RoleBinding "b/n" of Role "edit" to ServiceAccount "sa/n"',
  })
  assert.equal(
    authorizeByRoles(index, account, asks('update', 'pods', { namespace: 'm' })).verdict,
    'no-opinion',
  )
})

test('a RoleBinding applies only to resources in its namespace, and not to paths', () => {
  const index = new RoleIndex()
  role(index, '/all', may('*', '*', { apiGroups: ['*'] }), { verbs: ['*'], nonResourceURLs: ['*'] })
  bind(index, 'n/b', 'ClusterRole/all', person())
  const verdict = (attributes: AccessAttributes): string =>
    authorizeByRoles(index, alice, attributes).verdict
  assert.equal(verdict(asks('get', 'pods')), 'allow')
  assert.equal(verdict(asks('get', 'pods', { namespace: 'm' })), 'no-opinion')
  assert.equal(verdict(asks('get', 'pods', { namespace: '' })), 'no-opinion')
  assert.equal(verdict(asks('get', '/metrics')), 'no-opinion')
})

test('users, groups and service accounts are matched by their full names', () => {
  const index = new RoleIndex()
  role(index, '/r', may('get', 'pods'))
  bind(
    index,
    '/b',
    'ClusterRole/r',
    person('x'),
    group('y'),
    { kind: 'ServiceAccount', name: 's' },
    person('*'),
  )
  const verdict = (name: string, groups: readonly string[] = []): string =>
    authorizeByRoles(index, { name, uid: '', groups }, asks('get', 'pods')).verdict
  assert.equal(verdict('x'), 'allow')
  assert.equal(verdict('z', ['a', 'y']), 'allow')
  for (const name of ['y', 'X', '', 's', 'system:serviceaccount::s', 'z'])
    assert.equal(verdict(name), 'no-opinion', name)
  assert.equal(
    verdict('z', ['x', '*']),
    'no-opinion',
    'a group with the name of a user does not match',
  )
})

test('in a binding with many subjects, the first matching subject is found', () => {
  const index = new RoleIndex()
  role(index, '/r', may('get', 'pods'))
  const many = Array.from({ length: 100 }, (_, at) =>
    at % 2 === 0 ? person(`u${at}`) : group(`u${at}`),
  )
  bind(index, '/b', 'ClusterRole/r', ...many)
  const ask = (name: string, groups: readonly string[]) =>
    authorizeByRoles(index, { name, uid: '', groups }, asks('get', 'pods'))
  assert.match(ask('u98', ['u97']).reason, /to Group "u97"$/)
  assert.match(ask('u96', ['u97']).reason, /to User "u96"$/)
  assert.equal(ask('u97', ['u98']).verdict, 'no-opinion')
})

test('the reason of a decision lists each missing role only once', () => {
  const index = new RoleIndex()
  bind(index, '/a', 'ClusterRole/gone', person(), group('dev'))
  assert.deepEqual(authorizeByRoles(index, alice, asks('get', 'pods')), {
    verdict: 'no-opinion',
    reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
  })
  bind(index, '/b', 'ClusterRole/gone', person())
  bind(index, 'n/c', 'Role/lost', person())
  bind(index, 'n/d', 'Thing/x', person())
  assert.equal(
    authorizeByRoles(index, alice, asks('get', 'pods')).reason,
    'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "lost" not found, ' +
      'unsupported role reference kind: "Thing"]',
  )
  role(index, '/gone', may('get', 'pods'))
  assert.equal(authorizeByRoles(index, alice, asks('get', 'pods')).verdict, 'allow')
})

test('RoleIndex takes changes and deletions of roles and bindings into account, and is empty after everything is deleted', () => {
  const index = new RoleIndex()
  const verdict = (): string => authorizeByRoles(index, alice, asks('get', 'pods')).verdict
  bind(index, 'n/b', 'Role/r', group('dev'), person())
  role(index, 'n/r', may('list', 'pods'))
  assert.equal(verdict(), 'no-opinion')
  role(index, 'n/r', may('get', 'pods'))
  assert.equal(verdict(), 'allow')
  index.setRole({ namespace: 'n', name: 'r' }, undefined)
  assert.equal(verdict(), 'no-opinion')
  // The binding changes while the role does not exist. When the role is created again, the index
  // reuses the same Role instance.
  bind(index, 'n/b', 'Role/r', person())
  role(index, 'n/r', may('get', 'pods'))
  assert.equal(verdict(), 'allow')
  bind(index, 'n/b', 'Role/r', person('bob'))
  assert.equal(verdict(), 'no-opinion')
  bind(index, 'n/c', 'Role/r', person())
  index.setBinding({ namespace: 'n', name: 'b' }, undefined)
  assert.equal(verdict(), 'allow')
  index.setBinding({ namespace: 'n', name: 'c' }, undefined)
  index.setRole({ namespace: 'n', name: 'r' }, undefined)
  assert.equal(verdict(), 'no-opinion')
  assert.deepEqual(index.size, { roles: 0, bindings: 0, namespaces: 0 })
})

test('heldRules returns the rules of a role either once or once per binding, and reports missing roles', () => {
  const index = new RoleIndex()
  role(index, '/r', may('get', 'pods'), may('list', 'pods'))
  bind(index, '/b', 'ClusterRole/r', group('dev'), person())
  bind(index, 'n/b', 'ClusterRole/r', person())
  bind(index, 'm/b', 'ClusterRole/r', person())
  bind(index, 'n/c', 'Role/none', person())
  const twice = { ...alice, groups: ['dev', 'dev', 'alice'] }
  const held = (each: 'binding' | 'role'): readonly [readonly string[], string] => {
    const errors = new ResolutionErrors()
    const rules = [...heldRules(index, twice, { namespace: 'n', each, errors })].flat()
    return [rules.map(({ verbs }) => [...verbs].join()), errors.text()]
  }
  assert.deepEqual(held('binding'), [
    ['get', 'list', 'get', 'list'],
    'role.rbac.authorization.k8s.io "none" not found',
  ])
  assert.deepEqual(held('role'), [
    ['get', 'list'],
    'roles.rbac.authorization.k8s.io "none" not found',
  ])
})

test('a role that many bindings reference is evaluated only once', () => {
  const index = new RoleIndex()
  role(
    index,
    '/long',
    ...Array.from({ length: 20_000 }, (_, at) => may('get', 'pods', { resourceNames: [`p${at}`] })),
  )
  for (let at = 0; at < 300; at++) bind(index, `/b${at}`, 'ClusterRole/long', person())
  const tookMs = cpuMsOf(() => {
    for (let round = 0; round < 10; round++) {
      assert.equal(
        authorizeByRoles(index, alice, asks('get', 'pods', { name: 'none' })).verdict,
        'no-opinion',
      )
    }
  })
  assert.ok(tookMs < 1000, `${tookMs} ms`)
})

test('the time of a decision does not depend on the number of names or verbs in a role', () => {
  const index = new RoleIndex()
  const names = Array.from({ length: 20_000 }, (_, at) => `p${at}`)
  role(index, '/names', ...names.map((name) => may('get', 'pods', { resourceNames: [name] })))
  role(index, '/verbs', may(names.join(), 'pods'))
  for (const name of ['names', 'verbs']) bind(index, `/${name}`, `ClusterRole/${name}`, person())
  const verdict = (verb: string, name: string): string =>
    authorizeByRoles(index, alice, asks(verb, 'pods', { name })).verdict
  assert.equal(verdict('get', 'p19999'), 'allow')
  assert.equal(verdict('p19999', ''), 'allow')
  const tookMs = cpuMsOf(() => {
    for (let at = 0; at < 2_000; at++) assert.equal(verdict('get', `other${at}`), 'no-opinion')
  })
  assert.ok(tookMs < 500, `${tookMs} ms`)
})

test('the reason of a decision lists at most a hundred missing roles', () => {
  const index = new RoleIndex()
  for (let at = 0; at < 150; at++) bind(index, `/b${at}`, `ClusterRole/gone${at}`, person())
  const { reason } = authorizeByRoles(index, alice, asks('get', 'pods'))
  assert.equal(reason.split('not found').length, 101)
  assert.match(reason, /, and 50 more\]$/)
})

test('a decision takes little time even if thousands of roles are missing', () => {
  const index = new RoleIndex()
  const long = 'x'.repeat(240)
  for (let at = 0; at < 10_000; at++) bind(index, `n/b${at}`, `Role/${long}${at}`, person())
  const tookMs = cpuMsOf(() => {
    for (let round = 0; round < 100; round++) authorizeByRoles(index, alice, asks('get', 'pods'))
  })
  assert.ok(tookMs < 400, `${tookMs} ms`)
})

test('a ClusterRoleBinding to a Role that is written directly to etcd does not grant the ClusterRole of the same name', () => {
  const index = new RoleIndex()
  role(index, '/r', may('get', 'pods'))
  bind(index, '/good', 'ClusterRole/r', person())
  bind(index, '/odd', 'Role/r', group('dev'))
  index.setBinding({ namespace: '', name: 'odd' }, undefined)
  assert.equal(authorizeByRoles(index, alice, asks('get', 'pods')).verdict, 'allow')
  index.setRole({ namespace: '', name: 'r' }, undefined)
  role(index, '/r', may('get', 'pods'))
  assert.equal(authorizeByRoles(index, alice, asks('get', 'pods')).verdict, 'allow')
})

test('RoleIndex.places does not list roles that are referenced by bindings but do not exist', () => {
  const index = new RoleIndex()
  bind(index, '/b', 'ClusterRole/missing', person())
  role(index, '/there')
  assert.deepEqual([...index.places('roles', true)], [{ namespace: '', name: 'there' }])
})

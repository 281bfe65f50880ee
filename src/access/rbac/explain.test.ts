import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccessAttributes } from '../../api/access.ts'
import { fieldsOf, itemsOf, textOf } from '../../api/object.ts'
import { explainByRoles } from './explain.ts'
import { RoleIndex } from './role-index.ts'

const alice = { name: 'alice', uid: '', groups: ['dev'] }
const asked = (more: object = {}): AccessAttributes => ({
  kind: 'resource',
  verb: 'get',
  group: '',
  version: 'v1',
  plural: 'pods',
  subresource: '',
  namespace: 'n',
  name: 'p',
  ...more,
})

const rule = (verbs: string, resources: string, more: object = {}) => ({
  verbs: verbs.split(','),
  apiGroups: [''],
  resources: resources.split(','),
  resourceNames: [],
  nonResourceURLs: [],
  ...more,
})

function grant(
  index: RoleIndex,
  namespace: string,
  name: string,
  ...rules: readonly ReturnType<typeof rule>[]
): void {
  index.setRole({ namespace, name }, rules)
  const subject = { kind: 'User', name: 'alice', namespace: '', matches: 'alice' } as const
  const roleKind = namespace === '' ? 'ClusterRole' : 'Role'
  index.setBinding(
    { namespace, name: `${name}-b` },
    { roleKind, roleName: name, subjects: [subject] },
  )
}

function explain(index: RoleIndex, attributes: AccessAttributes, user = alice) {
  const steps = explainByRoles(index, user, attributes)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

test('the explanation names the binding and the rule that allow the request', () => {
  const index = new RoleIndex()
  grant(index, 'n', 'r', rule('list', 'secrets'), rule('get,list', 'pods'))
  assert.deepEqual(explain(index, asked()), {
    grantedBy: {
      binding: { kind: 'RoleBinding', namespace: 'n', name: 'r-b' },
      role: { kind: 'Role', name: 'r' },
      subject: { kind: 'User', name: 'alice' },
      rule: { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
    },
  })
})

test('an explanation lists grants that differ from the request in one attribute, and begins with grants in other namespaces', () => {
  const index = new RoleIndex()
  grant(index, 'n', 'verbs', rule('list,watch', 'pods'))
  grant(index, 'm', 'elsewhere', rule('get', 'pods'))
  grant(index, 'n', 'names', rule('get', 'pods', { resourceNames: ['q'] }))
  grant(index, 'n', 'resources', rule('get', 'services'))
  grant(index, 'm', 'two-things', rule('list', 'pods'))
  grant(index, 'n', 'far', rule('get', 'deployments', { apiGroups: ['apps'] }))
  const nearest = itemsOf(explain(index, asked())['nearest'])
  assert.deepEqual(
    nearest.map(({ differs, role }) => [differs, textOf(fieldsOf(role)['name'])]),
    [
      ['namespace', 'elsewhere'],
      ['verb', 'verbs'],
      ['name', 'names'],
      ['resource', 'resources'],
    ],
  )
})

test('an explanation does not list the grants of other users', () => {
  const index = new RoleIndex()
  grant(index, 'm', 'r', rule('get', 'pods'))
  assert.deepEqual(explain(index, asked(), { ...alice, name: 'bob' }), { nearest: [] })
})

test('the explanation for a path lists grants for another verb or a sibling path', () => {
  const index = new RoleIndex()
  grant(index, '', 'a', rule('post', '', { resources: [], nonResourceURLs: ['/metrics'] }))
  grant(
    index,
    '',
    'b',
    rule('get', '', { resources: [], nonResourceURLs: ['/metrics/slis', '/version'] }),
  )
  const nearest = itemsOf(
    explain(index, { kind: 'path', verb: 'get', path: '/metrics' })['nearest'],
  )
  assert.deepEqual(
    nearest.map(({ differs }) => differs),
    ['verb', 'path'],
  )
})

test('an explanation lists bindings that reference missing roles', () => {
  const index = new RoleIndex()
  const subject = { kind: 'Group', name: 'dev', namespace: '', matches: 'dev' } as const
  index.setBinding(
    { namespace: 'n', name: 'b' },
    { roleKind: 'Role', roleName: 'gone', subjects: [subject] },
  )
  const [missing] = itemsOf(explain(index, asked())['missingRoles'])
  assert.deepEqual(missing?.['role'], { kind: 'Role', name: 'gone' })
})

test('the explanation has a bounded size if there are many bindings and long rules', () => {
  const index = new RoleIndex()
  const long = rule('get', 'pods', {
    resourceNames: Array.from({ length: 1_000 }, () => 'x'.repeat(10_000)),
  })
  for (let at = 0; at < 2_000; at++) grant(index, `n${at}`, 'r', long, rule('get', 'pods'))
  const explained = explain(index, asked())
  assert.equal(itemsOf(explained['nearest']).length, 10)
  assert.ok(JSON.stringify(explained).length < 100_000)
})

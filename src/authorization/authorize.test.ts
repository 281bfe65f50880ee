import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RoleIndex } from '../rbac/role-index.ts'
import type { AuthorizationMode } from '../api/access.ts'
import { createAuthorizer } from './authorize.ts'

const master = { name: 'm', uid: '', groups: ['system:masters', 'system:authenticated'] }
const other = { name: 'o', uid: '', groups: ['system:authenticated'] }
const node = { name: 'system:node:n', uid: '', groups: ['system:nodes'] }
const question = {
  kind: 'resource',
  verb: 'get',
  group: '',
  version: 'v1',
  plural: 'pods',
  subresource: '',
  namespace: 'n',
  name: 'p',
} as const

const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: [], nonResourceURLs: [] }

function indexFor(name: string): RoleIndex {
  const index = new RoleIndex()
  index.setRole({ namespace: '', name: 'r' }, [rule])
  const subject = { kind: 'User', name, namespace: '', matches: name } as const
  index.setBinding({ namespace: '', name: 'b' }, { roleKind: 'ClusterRole', roleName: 'r', subjects: [subject] })
  return index
}

/** Of the modes: whether a master, one with a role and one without may do it. */
const cases: readonly (readonly [readonly AuthorizationMode[], readonly boolean[]])[] = [
  [['RBAC'], [true, true, false]],
  [
    ['Node', 'RBAC'],
    [true, true, false],
  ],
  [['Node'], [true, false, false]],
  [['AlwaysAllow'], [true, true, true]],
  [['AlwaysDeny'], [true, false, false]],
  [
    ['AlwaysDeny', 'RBAC'],
    [true, true, false],
  ],
]
for (const [modes, expected] of cases) {
  test(`${modes.join()}: ${expected.join()}`, async () => {
    const withRole = createAuthorizer(modes, indexFor('o'))
    const without = createAuthorizer(modes, indexFor('somebody else'))
    const verdicts = [
      await without.authorize(master, question),
      await withRole.authorize(other, question),
      await without.authorize(other, question),
    ]
    assert.deepEqual(
      verdicts.map(({ verdict }) => verdict === 'allow'),
      expected,
    )
  })
}

test('reasons of all who had no opinion', async () => {
  const index = indexFor('x')
  index.setBinding(
    { namespace: '', name: 'b' },
    { roleKind: 'ClusterRole', roleName: 'none', subjects: [{ kind: 'User', name: 'o', namespace: '', matches: 'o' }] },
  )
  const { authorize } = createAuthorizer(['AlwaysDeny', 'RBAC'], index)
  assert.equal(
    (await authorize(other, question)).reason,
    'Everything is forbidden.\nRBAC: clusterrole.rbac.authorization.k8s.io "none" not found',
  )
})

test('the rights of a user, and those of a node that nobody can tell', () => {
  const { rightsOf } = createAuthorizer(['Node', 'RBAC'], indexFor('o'))
  assert.deepEqual(rightsOf(other, 'n'), {
    resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    nonResourceRules: [],
    incomplete: false,
  })
  assert.equal(rightsOf(node, 'n').incomplete, true)
  assert.match(rightsOf(node, 'n').evaluationError ?? '', /does not support user rule resolution/)
})

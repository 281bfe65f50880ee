import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccessAttributes } from '../../api/access.ts'
import type { AbacRule } from '../../config/files/abac.ts'
import { createAbacAuthorizer } from './abac.ts'

const rule = (fields: Partial<AbacRule>): AbacRule => ({
  user: '',
  group: '',
  isReadOnly: false,
  apiGroup: '',
  resource: '',
  namespace: '',
  nonResourcePath: '',
  ...fields,
})
const everything = { apiGroup: '*', resource: '*', namespace: '*', nonResourcePath: '*' }
const alice = { name: 'alice', uid: '', groups: ['dev', 'system:authenticated'] }

const onPods = (verb: string, more: object = {}): AccessAttributes => ({
  kind: 'resource',
  verb,
  group: '',
  version: 'v1',
  plural: 'pods',
  subresource: '',
  namespace: 'n',
  name: 'p',
  ...more,
})
const onPath = (path: string, verb = 'get'): AccessAttributes => ({ kind: 'path', verb, path })

const cases: readonly (readonly [string, Partial<AbacRule>, AccessAttributes, boolean])[] = [
  ['for the user', { ...everything, user: 'alice' }, onPods('delete'), true],
  ['for another user', { ...everything, user: 'bob' }, onPods('get'), false],
  ['for any user', { ...everything, user: '*' }, onPods('get'), true],
  ['for a group of the user', { ...everything, group: 'dev' }, onPods('get'), true],
  ['for another group', { ...everything, group: 'ops' }, onPods('get'), false],
  [
    'for the user but another group',
    { ...everything, user: 'alice', group: 'ops' },
    onPods('get'),
    false,
  ],
  [
    'for a group of the user but another user',
    { ...everything, user: 'bob', group: 'dev' },
    onPods('get'),
    false,
  ],
  [
    'for the user and its group',
    { ...everything, user: 'alice', group: 'dev' },
    onPods('get'),
    true,
  ],
  ['without a user or group', everything, onPods('get'), false],
  [
    'that is read-only, on a watch,',
    { ...everything, user: 'alice', isReadOnly: true },
    onPods('watch'),
    true,
  ],
  [
    'that is read-only, on a deletion,',
    { ...everything, user: 'alice', isReadOnly: true },
    onPods('deletecollection'),
    false,
  ],
  [
    'that is read-only, on a POST to a path,',
    { ...everything, user: 'alice', isReadOnly: true },
    onPath('/x', 'post'),
    false,
  ],
  [
    'for a resource, on its subresource,',
    { ...everything, user: 'alice', resource: 'pods' },
    onPods('create', { subresource: 'exec' }),
    true,
  ],
  [
    'for a subresource, on its resource,',
    { ...everything, user: 'alice', resource: 'pods/exec' },
    onPods('get'),
    false,
  ],
  [
    'for another resource',
    { ...everything, user: 'alice', resource: 'secrets' },
    onPods('get'),
    false,
  ],
  ['for another namespace', { ...everything, user: 'alice', namespace: 'm' }, onPods('get'), false],
  [
    'without a namespace, on a namespaced object,',
    { ...everything, user: 'alice', namespace: '' },
    onPods('get'),
    false,
  ],
  [
    'without a namespace, on all namespaces,',
    { ...everything, user: 'alice', namespace: '' },
    onPods('list', { namespace: '' }),
    true,
  ],
  [
    'for another API group',
    { ...everything, user: 'alice', apiGroup: 'apps' },
    onPods('get'),
    false,
  ],
  ['for the path', { user: 'alice', nonResourcePath: '/version' }, onPath('/version'), true],
  ['for another path', { user: 'alice', nonResourcePath: '/version' }, onPath('/version/'), false],
  [
    'for a path prefix, on a path below it,',
    { user: 'alice', nonResourcePath: '/logs/*' },
    onPath('/logs/a/b'),
    true,
  ],
  [
    'for a path prefix, on the path itself,',
    { user: 'alice', nonResourcePath: '/logs/*' },
    onPath('/logs'),
    false,
  ],
  [
    'for a path that ends with several stars',
    { user: 'alice', nonResourcePath: '/a**' },
    onPath('/abc'),
    true,
  ],
  [
    'without a path, on a path,',
    { user: 'alice', resource: '*', namespace: '*', apiGroup: '*' },
    onPath('/x'),
    false,
  ],
  ['for any path, on a resource,', { user: 'alice', nonResourcePath: '*' }, onPods('get'), false],
]
for (const [title, policy, attributes, isAllowed] of cases) {
  test(`a policy ${title} ${isAllowed ? 'allows' : 'does not allow'} the request`, async () => {
    const { verdict, reason } = await createAbacAuthorizer([rule(policy)]).authorize(
      alice,
      attributes,
    )
    assert.equal(verdict, isAllowed ? 'allow' : 'no-opinion')
    assert.equal(reason, isAllowed ? '' : 'No policy matched.')
  })
}

test('the rights of a user in a namespace are listed from the policies that apply to the user', () => {
  const { rightsOf } = createAbacAuthorizer([
    rule({ user: 'alice', resource: 'pods', namespace: 'n', isReadOnly: true }),
    rule({ user: 'alice', resource: 'secrets', namespace: 'm' }),
    rule({ user: 'bob', ...everything }),
    rule({ group: 'dev', apiGroup: '*', resource: '*', namespace: '*', nonResourcePath: '/x*' }),
    rule({ user: 'alice', nonResourcePath: '/elsewhere' }),
  ])
  assert.deepEqual(
    rightsOf(alice, 'n', { signal: new AbortController().signal, reserve: () => undefined }),
    {
      resourceRules: [
        { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] },
        { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      ],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/x*'] }],
      incomplete: false,
    },
  )
})

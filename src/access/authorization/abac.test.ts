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
  ['its user', { ...everything, user: 'alice' }, onPods('delete'), true],
  ['another user', { ...everything, user: 'bob' }, onPods('get'), false],
  ['any user', { ...everything, user: '*' }, onPods('get'), true],
  ['one of its groups', { ...everything, group: 'dev' }, onPods('get'), true],
  ['another group', { ...everything, group: 'ops' }, onPods('get'), false],
  ['the user, not the group', { ...everything, user: 'alice', group: 'ops' }, onPods('get'), false],
  ['the group, not the user', { ...everything, user: 'bob', group: 'dev' }, onPods('get'), false],
  ['both', { ...everything, user: 'alice', group: 'dev' }, onPods('get'), true],
  ['nobody', everything, onPods('get'), false],
  ['reading', { ...everything, user: 'alice', isReadOnly: true }, onPods('watch'), true],
  [
    'reading alone',
    { ...everything, user: 'alice', isReadOnly: true },
    onPods('deletecollection'),
    false,
  ],
  [
    'a path is read, too',
    { ...everything, user: 'alice', isReadOnly: true },
    onPath('/x', 'post'),
    false,
  ],
  [
    'a subresource',
    { ...everything, user: 'alice', resource: 'pods' },
    onPods('create', { subresource: 'exec' }),
    true,
  ],
  [
    'a resource with its subresource',
    { ...everything, user: 'alice', resource: 'pods/exec' },
    onPods('get'),
    false,
  ],
  ['another resource', { ...everything, user: 'alice', resource: 'secrets' }, onPods('get'), false],
  ['another namespace', { ...everything, user: 'alice', namespace: 'm' }, onPods('get'), false],
  [
    'no namespace, one asked',
    { ...everything, user: 'alice', namespace: '' },
    onPods('get'),
    false,
  ],
  [
    'no namespace, none asked',
    { ...everything, user: 'alice', namespace: '' },
    onPods('list', { namespace: '' }),
    true,
  ],
  [
    'another group of the API',
    { ...everything, user: 'alice', apiGroup: 'apps' },
    onPods('get'),
    false,
  ],
  ['a path', { user: 'alice', nonResourcePath: '/version' }, onPath('/version'), true],
  ['another path', { user: 'alice', nonResourcePath: '/version' }, onPath('/version/'), false],
  ['paths below', { user: 'alice', nonResourcePath: '/logs/*' }, onPath('/logs/a/b'), true],
  ['not the path itself', { user: 'alice', nonResourcePath: '/logs/*' }, onPath('/logs'), false],
  ['stars at the end', { user: 'alice', nonResourcePath: '/a**' }, onPath('/abc'), true],
  [
    'no path at all',
    { user: 'alice', resource: '*', namespace: '*', apiGroup: '*' },
    onPath('/x'),
    false,
  ],
  ['a path is no resource', { user: 'alice', nonResourcePath: '*' }, onPods('get'), false],
]
for (const [title, policy, attributes, isAllowed] of cases) {
  test(`${title}: ${isAllowed ? 'allowed' : 'not allowed'}`, async () => {
    const { verdict, reason } = await createAbacAuthorizer([rule(policy)]).authorize(
      alice,
      attributes,
    )
    assert.equal(verdict, isAllowed ? 'allow' : 'no-opinion')
    assert.equal(reason, isAllowed ? '' : 'No policy matched.')
  })
}

test('the rights of a user in a namespace', () => {
  const { rightsOf } = createAbacAuthorizer([
    rule({ user: 'alice', resource: 'pods', namespace: 'n', isReadOnly: true }),
    rule({ user: 'alice', resource: 'secrets', namespace: 'm' }),
    rule({ user: 'bob', ...everything }),
    rule({ group: 'dev', apiGroup: '*', resource: '*', namespace: '*', nonResourcePath: '/x*' }),
    rule({ user: 'alice', nonResourcePath: '/elsewhere' }),
  ])
  assert.deepEqual(rightsOf(alice, 'n'), {
    resourceRules: [
      { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    ],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/x*'] }],
    incomplete: false,
  })
})

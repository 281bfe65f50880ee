import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import type { ApiRequest } from '../../api/request.ts'
import { allowed, type Authorize, noOpinion } from '../../access/authorization/authorizer.ts'
import { asksToImpersonate, impersonate } from './impersonate.ts'

const forMasters: Authorize = ({ groups }) =>
  groups.includes('system:masters') ? allowed : noOpinion

const admin = { name: 'admin', uid: '1', groups: ['system:masters', 'system:authenticated'] }
const bob = { name: 'bob', uid: '2', groups: ['system:authenticated'] }

function become(
  headers: IncomingHttpHeaders,
  by = admin,
  authorize: Authorize = forMasters,
  release = 33,
) {
  const request: ApiRequest = {
    method: 'GET',
    path: '/version',
    query: new URLSearchParams('a=<b>'),
    headers,
    body: () => Promise.resolve(Buffer.alloc(0)),
    hasBody: false,
    pipeBody: () => Promise.resolve(),
    signal: new AbortController().signal,
    remoteAddress: '',
    peerCertificate: () => undefined,
  }
  return impersonate(request, by, { authorize, release })
}

const u = { 'impersonate-user': 'u' }
const auth = 'system:authenticated'
const cases: readonly [string, IncomingHttpHeaders, object][] = [
  ['a user', u, { name: 'u', uid: '', groups: [auth] }],
  [
    'groups from two headers',
    { ...u, 'impersonate-group': ['b', 'a'] },
    { name: 'u', uid: '', groups: ['b', 'a', auth] },
  ],
  [
    'a group with a comma',
    { ...u, 'impersonate-group': 'a,b' },
    { name: 'u', uid: '', groups: ['a,b', auth] },
  ],
  [
    'a group with a comma and a space',
    { ...u, 'impersonate-group': 'cn=a, o=b' },
    { name: 'u', uid: '', groups: ['cn=a, o=b', auth] },
  ],
  [
    'a user with a comma',
    { 'impersonate-user': 'Doe, John' },
    { name: 'Doe, John', uid: '', groups: [auth] },
  ],
  [
    'system:authenticated, which is not added twice,',
    { ...u, 'impersonate-group': auth },
    { name: 'u', uid: '', groups: [auth] },
  ],
  ['a uid', { ...u, 'impersonate-uid': 'x' }, { name: 'u', uid: 'x', groups: [auth] }],
  [
    'extra fields',
    { ...u, 'impersonate-extra-a%2fb': ['x', 'y'], 'impersonate-extra-a%zz': '' },
    { name: 'u', uid: '', groups: [auth], extra: { 'a/b': ['x', 'y'], 'a%zz': [''] } },
  ],
  [
    'a service account',
    { 'impersonate-user': 'system:serviceaccount:ns:sa' },
    {
      name: 'system:serviceaccount:ns:sa',
      uid: '',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', auth],
    },
  ],
  [
    'a user that only looks like a service account',
    { 'impersonate-user': 'system:serviceaccount:Bad_NS:sa' },
    { name: 'system:serviceaccount:Bad_NS:sa', uid: '', groups: [auth] },
  ],
  [
    'the anonymous user',
    { 'impersonate-user': 'system:anonymous' },
    { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'] },
  ],
  ['an empty user', { 'impersonate-user': '' }, admin],
  ['another header', { 'impersonate-foo': 'x' }, admin],
]
for (const [what, headers, wanted] of cases) {
  test(`impersonating ${what} results in the expected user`, async () => {
    assert.ok(asksToImpersonate(headers))
    assert.deepEqual(await become(headers), wanted)
  })
}

test('an extra field of an impersonated user can have any name', async () => {
  const { extra } = await become({
    ...u,
    'impersonate-extra-constructor': 'x',
    'impersonate-extra-__proto__': 'y',
  })
  assert.deepEqual(Object.entries(extra ?? {}), [
    ['constructor', ['x']],
    ['__proto__', ['y']],
  ])
})

test('a request without impersonation headers does not count as impersonation', () => {
  assert.ok(!asksToImpersonate({ authorization: 'x', 'x-remote-user': 'y' }))
})

test('impersonating groups, extra fields or a UID without a user name is an error', async () => {
  await assert.rejects(
    become({ 'impersonate-group': 'g', 'impersonate-extra-k': 'v', 'impersonate-uid': 'x' }),
    {
      code: 500,
      message:
        'Internal Server Error: "/version?a=&lt;b&gt;": requested [{Group  g    } {UserExtra  v  authentication.k8s.io/v1  k} {UID  x  authentication.k8s.io/v1  }] without impersonating a user\n',
    },
  )
})

test('since 1.35, impersonating without a user name gets a Status with code 400', async () => {
  await assert.rejects(become({ 'impersonate-group': 'g' }, admin, forMasters, 35), {
    name: 'ApiError',
    code: 400,
    reason: 'BadRequest',
    message: 'requested [{Group  g    }] without impersonating a user',
  })
})

test('each part of the impersonated identity requires a permission, and the first denied one is reported', async () => {
  const all = { ...u, 'impersonate-group': 'g', 'impersonate-extra-k': 'v', 'impersonate-uid': 'x' }
  const asked: string[] = []
  const onlyUsers: Authorize = (_, attributes) => {
    if (attributes.kind === 'resource')
      asked.push(`${attributes.plural}/${attributes.subresource} ${attributes.name}`)
    return { verdict: asked.length < 4 ? 'allow' : 'no-opinion', reason: '' }
  }
  await assert.rejects(become(all, bob, onlyUsers), {
    code: 403,
    message:
      'uids.authentication.k8s.io "x" is forbidden: User "bob" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
  })
  assert.deepEqual(asked, ['users/ u', 'groups/ g', 'userextras/k v', 'uids/ x'])
  await assert.rejects(become(u, bob), {
    message: /users "u" is forbidden: User "bob" cannot impersonate resource "users"/,
  })
})

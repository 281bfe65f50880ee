import { strictEqual } from 'node:assert'
import { describe, it } from 'node:test'
import type { RequestInfo } from '../../api/context.ts'
import type { User } from '../../api/user.ts'
import { readAuditPolicy } from '../../config/files/audit-policy.ts'
import { compilePolicy, type EvaluatePolicy } from './policy.ts'

function evaluator(policy: object): EvaluatePolicy {
  const text = JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', ...policy })
  const read = readAuditPolicy(Buffer.from(text), 'policy.yaml')
  if ('fault' in read) throw new Error(read.fault)
  return compilePolicy(read.value)
}

const alice: User = { name: 'alice', uid: '', groups: ['devs', 'system:authenticated'] }

const pods = (more: object = {}): RequestInfo => ({
  kind: 'resource',
  verb: 'get',
  group: '',
  version: 'v1',
  plural: 'pods',
  subresource: '',
  namespace: 'default',
  name: 'a',
  segments: [],
  isWatchPath: false,
  ...more,
})
const path = (of: string): RequestInfo => ({ kind: 'path', verb: 'get', path: of })

describe('the audit policy determines how requests are recorded', () => {
  const matches: readonly (readonly [
    what: string,
    rule: object,
    info: RequestInfo,
    isMatch: boolean,
    user?: User | null,
  ])[] = [
    ['no fields', {}, pods(), true],
    ['no fields, for a path,', {}, path('/healthz'), true],
    ['the user', { users: ['bob', 'alice'] }, pods(), true],
    ['other users', { users: ['bob'] }, pods(), false],
    ['users, if authentication failed,', { users: ['alice'] }, pods(), false, null],
    ['the group', { userGroups: ['devs'] }, pods(), true],
    ['other groups', { userGroups: ['ops'] }, pods(), false],
    [
      'groups, if authentication failed,',
      { userGroups: ['system:unauthenticated'] },
      pods(),
      false,
      null,
    ],
    ['the verb', { verbs: ['list', 'get'] }, pods(), true],
    ['other verbs', { verbs: ['list'] }, pods(), false],
    ['a wildcard as its verb', { verbs: ['*'] }, pods(), false],
    ['the namespace', { namespaces: ['default'] }, pods(), true],
    ['other namespaces', { namespaces: ['kube-system'] }, pods(), false],
    ['namespaces, for a path,', { namespaces: [''] }, path('/healthz'), false],
    [
      'the empty namespace, for a cluster-scoped resource,',
      { namespaces: [''] },
      pods({ namespace: '', plural: 'nodes' }),
      true,
    ],
    ['the API group', { resources: [{ group: '' }] }, pods(), true],
    ['another API group', { resources: [{ group: 'apps' }] }, pods(), false],
    ['the resource', { resources: [{ group: '', resources: ['pods'] }] }, pods(), true],
    [
      'the resource, for a subresource,',
      { resources: [{ group: '', resources: ['pods'] }] },
      pods({ subresource: 'log' }),
      false,
    ],
    [
      'the subresource',
      { resources: [{ group: '', resources: ['pods/log'] }] },
      pods({ subresource: 'log' }),
      true,
    ],
    [
      'all subresources',
      { resources: [{ group: '', resources: ['pods/*'] }] },
      pods({ subresource: 'log' }),
      true,
    ],
    [
      'all subresources, for the resource itself,',
      { resources: [{ group: '', resources: ['pods/*'] }] },
      pods(),
      true,
    ],
    [
      'the subresource of all resources',
      { resources: [{ group: '', resources: ['*/log'] }] },
      pods({ subresource: 'log' }),
      true,
    ],
    [
      'a subresource of all resources, for the resource itself,',
      { resources: [{ group: '', resources: ['*/log'] }] },
      pods(),
      false,
    ],
    [
      'all resources',
      { resources: [{ group: '', resources: ['*'] }] },
      pods({ subresource: 'log' }),
      true,
    ],
    [
      'the name',
      { resources: [{ group: '', resources: ['pods'], resourceNames: ['a'] }] },
      pods(),
      true,
    ],
    [
      'another name',
      { resources: [{ group: '', resources: ['*'], resourceNames: ['b'] }] },
      pods(),
      false,
    ],
    ['resources, for a path,', { resources: [{ group: '' }] }, path('/healthz'), false],
    ['paths, for a resource,', { nonResourceURLs: ['*'] }, pods(), false],
    ['all paths', { nonResourceURLs: ['*'] }, path('/healthz'), true],
    ['the path', { nonResourceURLs: ['/version', '/healthz'] }, path('/healthz'), true],
    ['the path above', { nonResourceURLs: ['/healthz'] }, path('/healthz/etcd'), false],
    [
      'the path above and a wildcard',
      { nonResourceURLs: ['/healthz*'] },
      path('/healthz/etcd'),
      true,
    ],
    ['the paths below', { nonResourceURLs: ['/healthz/*'] }, path('/healthz'), false],
  ]
  for (const [what, rule, info, isMatch, user = alice] of matches) {
    it(`a rule of an audit policy with ${what} ${isMatch ? 'matches' : 'does not match'}`, () => {
      const evaluate = evaluator({ rules: [{ level: 'Metadata', ...rule }] })
      strictEqual(evaluate(user ?? undefined, info).level, isMatch ? 'Metadata' : 'None')
    })
  }

  it('if several rules of an audit policy match, the first one is used', () => {
    const rules = [
      { level: 'None', users: ['alice'] },
      { level: 'RequestResponse', resources: [{ group: '', resources: ['secrets'] }] },
      { level: 'Request' },
    ]
    const evaluate = evaluator({ rules })
    strictEqual(evaluate(alice, pods({ plural: 'secrets' })).level, 'None')
    strictEqual(
      evaluate({ ...alice, name: 'bob' }, pods({ plural: 'secrets' })).level,
      'RequestResponse',
    )
    strictEqual(evaluate({ ...alice, name: 'bob' }, pods()).level, 'Request')
  })

  it('an audit policy and its matching rule can omit stages', () => {
    const rules = [{ level: 'Metadata', omitStages: ['ResponseStarted'] }]
    const { omitsStage } = evaluator({ rules, omitStages: ['RequestReceived'] })(alice, pods())
    strictEqual(omitsStage.RequestReceived, true)
    strictEqual(omitsStage.ResponseStarted, true)
    strictEqual(omitsStage.ResponseComplete, false)
    strictEqual(omitsStage.Panic, false)
  })

  it('the matching rule of an audit policy, or else the policy, specifies whether managedFields are omitted', () => {
    const rules = [
      { level: 'Request', users: ['alice'], omitManagedFields: false },
      { level: 'Request' },
    ]
    const evaluate = evaluator({ rules, omitManagedFields: true })
    strictEqual(evaluate(alice, pods()).omitsManagedFields, false)
    strictEqual(evaluate({ ...alice, name: 'bob' }, pods()).omitsManagedFields, true)
  })
})

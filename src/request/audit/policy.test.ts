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

describe('the audit policy', () => {
  const matches: readonly (readonly [
    what: string,
    rule: object,
    info: RequestInfo,
    isMatch: boolean,
    user?: User | null,
  ])[] = [
    ['a rule without fields matches', {}, pods(), true],
    ['a rule without fields matches paths', {}, path('/healthz'), true],
    ['users', { users: ['bob', 'alice'] }, pods(), true],
    ['other users', { users: ['bob'] }, pods(), false],
    ['users, when nobody is known', { users: ['alice'] }, pods(), false, null],
    ['groups', { userGroups: ['devs'] }, pods(), true],
    ['other groups', { userGroups: ['ops'] }, pods(), false],
    [
      'groups, when nobody is known',
      { userGroups: ['system:unauthenticated'] },
      pods(),
      false,
      null,
    ],
    ['verbs', { verbs: ['list', 'get'] }, pods(), true],
    ['other verbs', { verbs: ['list'] }, pods(), false],
    ['verbs have no wildcard', { verbs: ['*'] }, pods(), false],
    ['namespaces', { namespaces: ['default'] }, pods(), true],
    ['other namespaces', { namespaces: ['kube-system'] }, pods(), false],
    ['namespaces do not match paths', { namespaces: [''] }, path('/healthz'), false],
    [
      'the empty namespace is the cluster',
      { namespaces: [''] },
      pods({ namespace: '', plural: 'nodes' }),
      true,
    ],
    ['a group', { resources: [{ group: '' }] }, pods(), true],
    ['another group', { resources: [{ group: 'apps' }] }, pods(), false],
    ['a resource', { resources: [{ group: '', resources: ['pods'] }] }, pods(), true],
    [
      'not its subresources',
      { resources: [{ group: '', resources: ['pods'] }] },
      pods({ subresource: 'log' }),
      false,
    ],
    [
      'a subresource',
      { resources: [{ group: '', resources: ['pods/log'] }] },
      pods({ subresource: 'log' }),
      true,
    ],
    [
      'any subresource',
      { resources: [{ group: '', resources: ['pods/*'] }] },
      pods({ subresource: 'log' }),
      true,
    ],
    [
      'any subresource, and the resource',
      { resources: [{ group: '', resources: ['pods/*'] }] },
      pods(),
      true,
    ],
    [
      'a subresource of any',
      { resources: [{ group: '', resources: ['*/log'] }] },
      pods({ subresource: 'log' }),
      true,
    ],
    [
      'a subresource of any is none',
      { resources: [{ group: '', resources: ['*/log'] }] },
      pods(),
      false,
    ],
    ['all', { resources: [{ group: '', resources: ['*'] }] }, pods({ subresource: 'log' }), true],
    [
      'a name',
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
    ['resources do not match paths', { resources: [{ group: '' }] }, path('/healthz'), false],
    ['paths do not match resources', { nonResourceURLs: ['*'] }, pods(), false],
    ['all paths', { nonResourceURLs: ['*'] }, path('/healthz'), true],
    ['a path', { nonResourceURLs: ['/version', '/healthz'] }, path('/healthz'), true],
    ['not what is below it', { nonResourceURLs: ['/healthz'] }, path('/healthz/etcd'), false],
    ['what is below it', { nonResourceURLs: ['/healthz*'] }, path('/healthz/etcd'), true],
    ['what is not', { nonResourceURLs: ['/healthz/*'] }, path('/healthz'), false],
  ]
  for (const [what, rule, info, isMatch, user = alice] of matches) {
    it(what, () => {
      const evaluate = evaluator({ rules: [{ level: 'Metadata', ...rule }] })
      strictEqual(evaluate(user ?? undefined, info).level, isMatch ? 'Metadata' : 'None')
    })
  }

  it('takes the first rule that matches', () => {
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

  it('joins the stages that the policy and the rule omit', () => {
    const rules = [{ level: 'Metadata', omitStages: ['ResponseStarted'] }]
    const { omitsStage } = evaluator({ rules, omitStages: ['RequestReceived'] })(alice, pods())
    strictEqual(omitsStage.RequestReceived, true)
    strictEqual(omitsStage.ResponseStarted, true)
    strictEqual(omitsStage.ResponseComplete, false)
    strictEqual(omitsStage.Panic, false)
  })

  it('lets a rule decide about managed fields, then the policy', () => {
    const rules = [
      { level: 'Request', users: ['alice'], omitManagedFields: false },
      { level: 'Request' },
    ]
    const evaluate = evaluator({ rules, omitManagedFields: true })
    strictEqual(evaluate(alice, pods()).omitsManagedFields, false)
    strictEqual(evaluate({ ...alice, name: 'bob' }, pods()).omitsManagedFields, true)
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { RoleIndex } from '../rbac/role-index.ts'
import type { AccessDecision } from '../../api/access.ts'
import { defaultGates } from '../../api/gates.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { type Authorizer, noRights } from './authorizer.ts'
import { buildAuthorizers } from './build.ts'
import { AuthorizerChain } from './chain.ts'
import { AuthorizationMetrics } from './metrics.ts'
import { NodeGraph } from './node/graph.ts'

type Mode = 'Node' | 'RBAC' | 'AlwaysAllow' | 'AlwaysDeny'

function createAuthorizer(modes: readonly Mode[], roles: RoleIndex): Authorizer {
  const links = buildAuthorizers(
    modes.map((type) => ({ type, name: type.toLowerCase() })),
    {
      roles,
      nodes: { graph: new NodeGraph(), rules: () => [], gates: defaultGates },
      webhookOf: () => assert.fail('no webhook is configured'),
    },
  )
  return new AuthorizerChain(links, new AuthorizationMetrics(new Metrics()))
}

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

const rule = {
  verbs: ['get'],
  apiGroups: [''],
  resources: ['pods'],
  resourceNames: [],
  nonResourceURLs: [],
}

function indexFor(name: string): RoleIndex {
  const index = new RoleIndex()
  index.setRole({ namespace: '', name: 'r' }, [rule])
  const subject = { kind: 'User', name, namespace: '', matches: name } as const
  index.setBinding(
    { namespace: '', name: 'b' },
    { roleKind: 'ClusterRole', roleName: 'r', subjects: [subject] },
  )
  return index
}

/**
 * Lists of authorization modes. The booleans for each list state whether a request is allowed for a
 * member of system:masters, for a user with a role, and for a user without a role.
 */
const cases: readonly (readonly [readonly Mode[], readonly boolean[]])[] = [
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
  test(`mode ${modes.join()} decides on a member of system:masters, a user with a role and a user without a role: ${expected.join()}`, async () => {
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

test('if no authorizer has an opinion, the reason of the decision contains the reasons of all authorizers', async () => {
  const index = indexFor('x')
  index.setBinding(
    { namespace: '', name: 'b' },
    {
      roleKind: 'ClusterRole',
      roleName: 'none',
      subjects: [{ kind: 'User', name: 'o', namespace: '', matches: 'o' }],
    },
  )
  const { authorize } = createAuthorizer(['AlwaysDeny', 'RBAC'], index)
  assert.equal(
    (await authorize(other, question)).reason,
    'Everything is forbidden.\nRBAC: clusterrole.rbac.authorization.k8s.io "none" not found',
  )
})

test("the list of a user's rights is complete, but the list of a node's rights is incomplete", async () => {
  const { rightsOf } = createAuthorizer(['Node', 'RBAC'], indexFor('o'))
  const waiting = { signal: new AbortController().signal, reserve: () => undefined }
  assert.deepEqual(await rightsOf(other, 'n', waiting), {
    resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    nonResourceRules: [],
    incomplete: false,
  })
  const { incomplete, evaluationError } = await rightsOf(node, 'n', waiting)
  assert.equal(incomplete, true)
  assert.match(evaluationError ?? '', /does not support user rule resolution/)
})

const saying = (decision: MaybePromise<AccessDecision>): Authorizer => ({
  authorize: () => decision,
  rightsOf: () => noRights,
})

function chainOf(...authorizers: readonly Authorizer[]): {
  chain: AuthorizerChain
  metrics: Metrics
} {
  const metrics = new Metrics()
  const links = authorizers.map((authorizer, at) => ({
    type: 'Webhook',
    name: `w${at}`,
    authorizer,
  }))
  return { chain: new AuthorizerChain(links, new AuthorizationMetrics(metrics)), metrics }
}

const silent: AccessDecision = { verdict: 'no-opinion', reason: '' }
const yes: AccessDecision = { verdict: 'allow', reason: 'yes' }
const no: AccessDecision = { verdict: 'deny', reason: 'no' }

test('a decision is synchronous unless a webhook is called, and authorizers after the webhook still run in order', async () => {
  assert.deepEqual(chainOf(saying(silent), saying(yes)).chain.authorize(other, question), yes)
  const later = chainOf(saying(silent), saying(Promise.resolve(silent)), saying(no), saying(yes))
  const decision = later.chain.authorize(other, question)
  assert.ok(decision instanceof Promise)
  assert.deepEqual(await decision, no)
  assert.match(
    later.metrics.print(),
    /decisions_total\{decision="denied",name="w2",type="Webhook"\} 1/,
  )
  assert.match(
    later.metrics.print(),
    /decisions_total\{decision="allowed",name="w3",type="Webhook"\} 0/,
  )
})

test('a decision has the error of its authorizer; if no authorizer has an opinion, the decision has the errors of all authorizers', async () => {
  const failed: AccessDecision = { verdict: 'no-opinion', reason: '', error: 'a' }
  const other2: AccessDecision = { verdict: 'no-opinion', reason: 'r', error: 'b' }
  assert.deepEqual(chainOf(saying(failed), saying(yes)).chain.authorize(other, question), yes)
  assert.deepEqual(chainOf(saying(failed), saying(failed)).chain.authorize(other, question), failed)
  const later = chainOf(saying(failed), saying(Promise.resolve(other2)), saying(silent))
  const expected = { verdict: 'no-opinion', reason: 'r', error: '[a, b]' }
  assert.deepEqual(await later.chain.authorize(other, question), expected)
})

test('the authorizers of a chain can be replaced', () => {
  const { chain } = chainOf(saying(yes))
  chain.replace([{ type: 'Webhook', name: 'x', authorizer: saying(no) }])
  assert.deepEqual(chain.authorize(other, question), no)
  assert.deepEqual(
    chain.links.map(({ name }) => name),
    ['x'],
  )
})

const link = (authorizer: Authorizer) => ({ type: 'Webhook', name: 'w', authorizer })
const selectors = (): never => assert.fail('selectors must not be parsed for the log')

test('each authorization decision is logged if logging of decisions is enabled', async () => {
  const lines: string[] = []
  const log = (level: string, message: string, fields?: object): void => {
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`)
  }
  const metrics = new AuthorizationMetrics(new Metrics())
  await new AuthorizerChain([link(saying(no))], metrics, () => log).authorize(other, {
    ...question,
    selectors,
  })
  await new AuthorizerChain([link(saying(Promise.resolve(yes)))], metrics, () => log).authorize(
    other,
    question,
  )
  const who = '"user":"o","groups":["system:authenticated"]'
  const what =
    '"verb":"get","group":"","version":"v1","plural":"pods","subresource":"","namespace":"n","name":"p"'
  assert.deepEqual(lines, [
    `debug authorization {${who},${what},"decision":"deny","reason":"no"}`,
    `debug authorization {${who},${what},"decision":"allow","reason":"yes"}`,
  ])
})

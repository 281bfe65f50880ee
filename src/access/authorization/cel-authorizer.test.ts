import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccessAttributes, AccessDecision } from '../../api/access.ts'
import type { User } from '../../api/user.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { admissionEnvironment } from '../../objects/cel/admission.ts'
import { compile, type EvaluationResult } from '../../objects/cel/compile.ts'
import { storedVersion } from '../../objects/cel/kubernetes.ts'
import { inTurns } from '../../objects/cel/turns.ts'
import { celAuthorizer } from './cel-authorizer.ts'

const alice: User = { name: 'alice', uid: 'u1', groups: ['dev'] }
const requestResource = {
  group: 'apps',
  resource: 'deployments',
  subresource: 'scale',
  namespace: 'n',
  name: 'd',
}
const environment = admissionEnvironment(storedVersion(33), {
  hasParams: false,
  hasAuthorizer: true,
  variables: undefined,
})

type AuthorizerCall = { readonly user: User; readonly attributes: AccessAttributes }

function run(
  text: string,
  decide: (asked: AuthorizerCall) => MaybePromise<AccessDecision>,
  costMax = 10_000_000,
) {
  const asked: AuthorizerCall[] = []
  const compiled = compile(text, environment)
  assert.ok('program' in compiled, 'fault' in compiled ? compiled.fault : '')
  const variables = celAuthorizer({
    authorize: (user, attributes) => {
      asked.push({ user, attributes })
      return decide({ user, attributes })
    },
    user: alice,
    requestResource,
  })
  const { program } = compiled
  const activation = { ...variables }
  return {
    asked,
    now: (): EvaluationResult => program.evaluate(activation, costMax),
    inTurns: (): Promise<EvaluationResult> =>
      inTurns((slice) => program.inTurns(activation, costMax, slice)),
  }
}

const allow: AccessDecision = { verdict: 'allow', reason: 'because' }
const deny: AccessDecision = { verdict: 'no-opinion', reason: 'not so' }
const valueOf = (evaluated: EvaluationResult): unknown =>
  'value' in evaluated ? evaluated.value : evaluated.error

test('a path check in an expression uses the user of the request', () => {
  const { now, asked } = run("authorizer.path('/healthz').check('get').allowed()", () => allow)
  assert.equal(valueOf(now()), true)
  assert.deepEqual(asked, [
    { user: alice, attributes: { kind: 'path', verb: 'get', path: '/healthz' } },
  ])
})

test('a resource check in a CEL expression passes all of its attributes and selectors to the authorizer', () => {
  const check =
    "group('apps').resource('deployments').subresource('scale').namespace('n').name('d')"
  const selectors = "fieldSelector('a=b').labelSelector('c,!d')"
  const { now, asked } = run(
    `authorizer.${check}.${selectors}.check('update').allowed()`,
    () => deny,
  )
  assert.equal(valueOf(now()), false)
  const [first] = asked
  assert.ok(first?.attributes.kind === 'resource')
  const { selectors: read, ...rest } = first.attributes
  assert.deepEqual(rest, {
    kind: 'resource',
    verb: 'update',
    group: 'apps',
    version: '*',
    plural: 'deployments',
    subresource: 'scale',
    namespace: 'n',
    name: 'd',
  })
  assert.deepEqual(read?.(), {
    fields: [{ field: 'a', isEqual: true, value: 'b' }],
    labels: [
      { key: 'c', operator: 'exists' },
      { key: 'd', operator: 'absent' },
    ],
  })
})

test('authorizer.requestResource checks the resource of the request', () => {
  const { now, asked } = run("authorizer.requestResource.check('delete').reason()", () => deny)
  assert.equal(valueOf(now()), 'not so')
  const [first] = asked
  assert.ok(first?.attributes.kind === 'resource')
  const { group, plural, subresource, namespace, name, verb } = first.attributes
  assert.deepEqual(
    [group, plural, subresource, namespace, name, verb],
    ['apps', 'deployments', 'scale', 'n', 'd', 'delete'],
  )
})

test('a check for a service account uses the groups that its tokens have, not the groups of the requesting user', () => {
  const { now, asked } = run(
    "authorizer.serviceAccount('ns', 'sa').path('/x').check('get').allowed()",
    () => allow,
  )
  assert.equal(valueOf(now()), true)
  assert.deepEqual(asked[0]?.user, {
    name: 'system:serviceaccount:ns:sa',
    uid: '',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
  })
})

for (const [text, error] of [
  [
    "authorizer.serviceAccount('ns', 'S A').path('/x').check('get').allowed()",
    'Invalid service account name',
  ],
  [
    "authorizer.serviceAccount('n.s', 'sa').path('/x').check('get').allowed()",
    'Invalid service account namespace',
  ],
  ["authorizer.path(' ').check('get').allowed()", 'path must not be empty'],
  ["authorizer.group('').resource('').check('get').allowed()", 'resource must not be empty'],
] as const) {
  test(`the expression ${text} results in the error "${error}"`, () => {
    const { now, asked } = run(text, () => allow)
    assert.equal(valueOf(now()), error)
    assert.deepEqual(asked, [])
  })
}

test('a CEL expression can read whether an authorizer failed, and with which error', () => {
  const failed: AccessDecision = { verdict: 'deny', reason: '', error: 'no answer' }
  const one = "authorizer.path('/x').check('get')"
  assert.equal(valueOf(run(`${one}.errored() && !${one}.allowed()`, () => failed).now()), true)
  assert.equal(valueOf(run(`${one}.error()`, () => failed).now()), 'no answer')
  assert.equal(valueOf(run(`${one}.errored() ? 'x' : ${one}.error()`, () => allow).now()), '')
})

const check = (path: string): string => `authorizer.path('${path}').check('get').allowed()`

async function later({ attributes }: AuthorizerCall): Promise<AccessDecision> {
  await new Promise((resolve) => setTimeout(resolve, 5))
  return attributes.kind === 'path' && attributes.path === '/a' ? allow : deny
}

test('an expression waits for the decision of an asynchronous authorizer, and a repeated check reuses the decision', async () => {
  const { inTurns: wait, asked } = run(`${check('/a')} && !${check('/b')} && ${check('/a')}`, later)
  const evaluated = await wait()
  assert.equal(valueOf(evaluated), true)
  assert.equal(asked.length, 2)
  assert.ok(evaluated.cost > 3 * 350_000 && evaluated.cost < 3 * 350_000 + 100)
})

test('an asynchronous decision has the same CEL cost as a synchronous one', async () => {
  const text = "['/a', '/b', '/c'].all(p, authorizer.path(p).check('get').allowed())"
  const cost = run(text, () => allow).now().cost
  assert.equal((await run(text, async () => allow).inTurns()).cost, cost)
  assert.equal((await run(text, () => allow).inTurns()).cost, cost)
})

test('an evaluation that cannot wait for a decision returns an error instead of allowing the request', () => {
  const { now } = run("authorizer.path('/a').check('get').allowed()", async () => allow)
  assert.equal(valueOf(now()), 'the evaluation cannot wait for the result')
})

test('the cost limit of an expression also limits the number of authorization checks', async () => {
  const list = Array.from({ length: 40 }, (_, at) => `'/${at}'`).join()
  const { inTurns: wait, asked } = run(
    `[${list}].all(p, authorizer.path(p).check('get').allowed())`,
    async () => allow,
  )
  const evaluated = await wait()
  assert.ok('isOverBudget' in evaluated && evaluated.isOverBudget)
  assert.ok(asked.length < 30)
})

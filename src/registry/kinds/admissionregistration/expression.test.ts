import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsDuring } from '../../../../test/support/harness/turns.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { atOnce } from '../../../objects/cel/turns.ts'
import type { KindRules } from '../../kind-rules.ts'
import { admissionPolicyRules } from './admission-policy.ts'
import { Expressions } from './expression.ts'
import { mutatingPolicyRules } from './mutating-policy.ts'
import { validatingWebhookRules } from './webhook-configuration.ts'

test('the total length of all CEL expressions of an object is limited', () => {
  const expressions = new Expressions({ isOver: () => false })
  const long = `'${'a'.repeat(90_000)}' == ''`
  const check = (path: string) => atOnce(() => expressions.checkCondition(long, path))
  for (const at of [0, 1]) assert.deepEqual(check(`c[${at}]`), [])
  const [fault] = check('c[2]')
  assert.match(fault?.message ?? '', /may have at most 262144 characters in total/)
})

/** Returns the number of event loop turns while a valid object is validated. */
async function turnsOf(rules: KindRules, object: Fields): Promise<number> {
  const whole: KubeObject = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'X',
    metadata: { name: 'x' },
    ...object,
  }
  return turnsDuring(async () =>
    assert.deepEqual(await rules.validateInSlices?.(whole, undefined), []),
  )
}

const long = Array.from({ length: 3_000 }, (_, at) => `request.name != 'n${at}'`).join(' && ')
const everything = {
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: ['*'],
  operations: ['*'],
  scope: '*',
}

test('compiling the expressions of a policy does not block the event loop', async () => {
  const spec = {
    failurePolicy: 'Fail',
    matchConstraints: { matchPolicy: 'Equivalent', resourceRules: [everything] },
    validations: [{ expression: long }],
  }
  assert.ok((await turnsOf(admissionPolicyRules, { spec })) > 5)
})

test('compiling the expressions of a webhook does not block the event loop', async () => {
  const webhook = {
    name: 'a.example.com',
    rules: [everything],
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    sideEffects: 'None',
    timeoutSeconds: 1,
    clientConfig: { url: 'https://a.example.com' },
    admissionReviewVersions: ['v1'],
    matchConditions: [{ name: 'a', expression: long }],
  }
  assert.ok((await turnsOf(validatingWebhookRules, { webhooks: [webhook] })) > 5)
})

const policy = (mutation: Fields, variables: readonly Fields[] = []): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1alpha1',
  kind: 'MutatingAdmissionPolicy',
  metadata: { name: 'p' },
  spec: {
    failurePolicy: 'Fail',
    reinvocationPolicy: 'Never',
    matchConstraints: {
      matchPolicy: 'Equivalent',
      resourceRules: [{ ...everything, operations: ['CREATE'] }],
    },
    variables,
    mutations: [mutation],
  },
})

const faultsOf = async (now: KubeObject, was: KubeObject | undefined): Promise<readonly string[]> =>
  ((await mutatingPolicyRules.validateInSlices?.(now, was)) ?? []).map(({ path }) => path)

const apply = (expression: string): Fields => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
})

test('only an unchanged stored apply configuration can use CEL functions of 1.33; variables and JSON patches cannot', async () => {
  const isNew = "semver('1.0.0').major() == 1"
  const applied = ` Object{metadata: Object.metadata{labels: {'a': string(${isNew})}}} `
  const patched = `[JSONPatch{op: 'test', path: '/a', value: ${isNew}}]`
  const path = 'spec.mutations[0].applyConfiguration.expression'
  assert.deepEqual(await faultsOf(policy(apply(applied)), undefined), [path])
  assert.deepEqual(await faultsOf(policy(apply(applied)), policy(apply(applied))), [])
  assert.deepEqual(await faultsOf(policy(apply(applied.trim())), policy(apply(applied))), [path])
  const plain = apply('Object{}')
  const variable = [{ name: 'v', expression: isNew }]
  assert.deepEqual(await faultsOf(policy(plain, variable), policy(plain, variable)), [
    'spec.variables[0].expression',
  ])
  const patch = { patchType: 'JSONPatch', jsonPatch: { expression: patched } }
  assert.deepEqual(await faultsOf(policy(patch), policy(patch)), [
    'spec.mutations[0].jsonPatch.expression',
  ])
})

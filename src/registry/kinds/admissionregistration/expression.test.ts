import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsDuring } from '../../../../test/harness/turns.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { atOnce } from '../../../cel/turns.ts'
import type { KindRules } from '../../kind-rules.ts'
import { admissionPolicyRules } from './admission-policy.ts'
import { Expressions } from './expression.ts'
import { validatingWebhookRules } from './webhook-configuration.ts'

test('an object may have so many characters of expressions', () => {
  const expressions = new Expressions({ isOver: () => false })
  const long = `'${'a'.repeat(90_000)}' == ''`
  const check = (path: string) => atOnce(() => expressions.checkCondition(long, path))
  for (const at of [0, 1]) assert.deepEqual(check(`c[${at}]`), [])
  const [fault] = check('c[2]')
  assert.match(fault?.message ?? '', /may have 262144 characters in all/)
})

/** How often others get their turns while it is checked, and is found to be good. */
async function turnsOf(rules: KindRules, object: Fields): Promise<number> {
  const whole: KubeObject = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'X',
    metadata: { name: 'x' },
    ...object,
  }
  return turnsDuring(async () => assert.deepEqual(await rules.validateInSlices?.(whole, undefined), []))
}

const long = Array.from({ length: 3_000 }, (_, at) => `request.name != 'n${at}'`).join(' && ')
const everything = { apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'], scope: '*' }

test('others get their turns while the expressions of a policy are compiled', async () => {
  const spec = {
    failurePolicy: 'Fail',
    matchConstraints: { matchPolicy: 'Equivalent', resourceRules: [everything] },
    validations: [{ expression: long }],
  }
  assert.ok((await turnsOf(admissionPolicyRules, { spec })) > 5)
})

test('… and those of a webhook', async () => {
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

/** Lists that clients can send are looked at in a time that grows with their length, not with its square. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGates } from '../api/gates.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import { admissionPolicyBindingRules } from './kinds/admissionregistration/admission-policy.ts'
import { validatingWebhookRules } from './kinds/admissionregistration/webhook-configuration.ts'
import type { KindRules } from './kind-rules.ts'
import { validateConditions } from './rules/conditions.ts'

/** Of CPU, all threads together; a quadratic loop takes a second and more for as many items. */
const CPU_MS_MAX = 200
const ITEMS = 40_000

const many = <T>(item: (at: number) => T, count = ITEMS): T[] => Array.from({ length: count }, (_, at) => item(at))
const objectOf = (fields: Fields): KubeObject => ({ apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, ...fields })

/** What is to be measured, of an object that was built before. */
function validating(rules: KindRules, fields: Fields, before?: Fields): () => unknown {
  const object = objectOf(fields)
  if (before === undefined) {
    return () => rules.validateInSlices?.(object, undefined) ?? rules.validate?.(object, defaultGates)
  }
  const current = objectOf(before)
  return () => rules.validateInSlices?.(object, current) ?? rules.validateUpdate?.(object, current, defaultGates)
}

const cases: { readonly [about: string]: () => () => unknown } = {
  'conditions of distinct types': () => {
    const conditions = many((at) => ({ type: `t${at}`, status: 'True', reason: 'R', lastTransitionTime: 'now' }))
    return () => validateConditions(conditions, 'status.conditions')
  },
  'names of resources of a binding': () =>
    validating(admissionPolicyBindingRules, {
      spec: { matchResources: { resourceRules: [{ resourceNames: many((at) => `n${at}`) }] } },
    }),
  'review versions of a webhook': () =>
    validating(validatingWebhookRules, { webhooks: [{ admissionReviewVersions: many((at) => `v${at}`) }] }),
}

for (const [about, build] of Object.entries(cases)) {
  test(`${about}: no square of time`, async () => {
    const run = build()
    const since = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(since)
    const ms = Math.round((user + system) / 1000)
    assert.ok(ms < CPU_MS_MAX, `took ${ms} ms of CPU`)
  })
}

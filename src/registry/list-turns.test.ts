/** Tests that validating long lists and setting defaults in them does not block the event loop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGates } from '../api/gates.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import { inParts } from '../lib/scheduling/parts.ts'
import { Slices } from '../lib/scheduling/slices.ts'
import { systemTime } from '../lib/time/timers.ts'
import { bestLongestTurnMs } from '../../test/support/harness/turns.ts'
import { validatingWebhookRules } from './kinds/admissionregistration/webhook-configuration.ts'
import { withoutNullBytes } from '../objects/codec/object.ts'
import { jobRules } from './kinds/batch/job.ts'
import { nodeRules } from './kinds/core/node.ts'
import { setPodDefaults } from './kinds/core/pod/defaults.ts'
import { validatePodSpec } from './kinds/core/pod/spec.ts'
import { validateQualified } from './kinds/resource/names.ts'
import { storageClassRules } from './kinds/storage/storage-class.ts'
import { validateConditions } from './rules/conditions.ts'

const TURN_MS_MAX = 50

const many = <T>(item: (at: number) => T, count: number): T[] =>
  Array.from({ length: count }, (_, at) => item(at))

function podWith(fields: Fields): () => unknown {
  const spec = { containers: [{ name: 'c', image: 'i' }], ...fields }
  return () => validatePodSpec(spec, 'spec', { pod: { name: 'x' }, gates: defaultGates })
}

const withValues = (values: string[]): Fields => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In', values }] }],
      },
    },
  },
})

function nodeWith(spec: Fields): () => unknown {
  const object: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'x' }, spec }
  return () => nodeRules.validate?.(object, defaultGates)
}

function webhookWith(resources: string[]): () => unknown {
  const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources }
  const webhooks = [{ name: 'a.example.com', rules: [rule] }]
  const object: KubeObject = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, webhooks }
  return () => validatingWebhookRules.validateInSlices?.(object, undefined)
}

function jobOf(action: string): KubeObject {
  const rules = many(
    (at) => ({ action, onPodConditions: [{ type: `t${at}`, status: 'True' }] }),
    20_000,
  )
  const spec = { podFailurePolicy: { rules }, template: { spec: {} } }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'x', resourceVersion: '1' },
    spec,
  }
}

const cases: { readonly [about: string]: () => () => unknown } = {
  'values of a node selector': () => podWith(withValues(many((at) => `v${at}`, 500_000))),
  'containers of a Pod': () => {
    const container = { image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }
    return podWith({ containers: many((at) => ({ name: `c${at}`, ...container }), 20_000) })
  },
  'label keys of an affinity term': () => {
    const keys = many((at) => `k${at}`, 100_000)
    const term = {
      topologyKey: 'k',
      labelSelector: {},
      matchLabelKeys: keys,
      mismatchLabelKeys: keys,
    }
    return podWith({
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
    })
  },
  'sources of a projected volume': () => {
    const sources = many(
      (at) => ({ serviceAccountToken: { expirationSeconds: 600, path: `p${at}` } }),
      60_000,
    )
    return podWith({ serviceAccountName: 's', volumes: [{ name: 'v', projected: { sources } }] })
  },
  'values of a topology': () => {
    const matchLabelExpressions = [
      { key: 'zone', values: many((at) => `z${(at * 7919) % 150_000}`, 150_000) },
    ]
    const fields = {
      volumeBindingMode: 'Immediate',
      allowedTopologies: [{ matchLabelExpressions }],
    }
    const object = {
      apiVersion: 'v1',
      kind: 'X',
      metadata: { name: 'x' },
      provisioner: 'p',
      ...fields,
    }
    return () => storageClassRules.validate?.(object, defaultGates)
  },
  'equal values of a topology': () => {
    const matchLabelExpressions = [{ key: 'zone', values: many(() => '', 700_000) }]
    const fields = {
      volumeBindingMode: 'Immediate',
      allowedTopologies: [{ matchLabelExpressions }],
    }
    const object = {
      apiVersion: 'v1',
      kind: 'X',
      metadata: { name: 'x' },
      provisioner: 'p',
      ...fields,
    }
    return () => storageClassRules.validate?.(object, defaultGates)
  },
  'init containers that are given defaults': () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {},
      spec: { initContainers: many(() => ({}), 400_000) },
    }
    return () => setPodDefaults(pod, defaultGates)
  },
  'rules of a Job that must not change': () => {
    const [now, before] = [jobOf('Count'), jobOf('Ignore')]
    return () => jobRules.validateUpdate?.(now, before, defaultGates)
  },
  'characters of a device attribute': () => {
    const attribute = `${'x'.repeat(2 << 20)}-\u0001`
    return () => validateQualified(attribute, 'spec.devices.constraints[0].matchAttribute', 35)
  },
  'taints of a Node': () =>
    nodeWith({ taints: many((at) => ({ key: `k${at}`, effect: 'NoSchedule' }), 40_000) }),
  'pod CIDRs of a Node': () => nodeWith({ podCIDRs: many(() => '10.0.0.0/8', 300_000) }),
  'data of a Secret': () => {
    const data = Object.fromEntries(many((at) => [`k${at}`, at === 0 ? null : 'eA=='], 60_000))
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, data }
    const schema = { bytesField: 'data' }
    return () => withoutNullBytes(object, schema)
  },
  'resources of a webhook': () => webhookWith(many((at) => `r${at}/s`, 300_000)),
  conditions: () => {
    const list = many(
      (at) => ({ type: `t${at}`, status: 'True', reason: 'R', lastTransitionTime: 'now' }),
      40_000,
    )
    return () => validateConditions(list, 'status.conditions')
  },
}

for (const [about, prepare] of Object.entries(cases)) {
  test(`processing many ${about} does not block the event loop`, async () => {
    const work = prepare()
    const slices = new Slices(systemTime, { isExpensive: true })
    const ms = await bestLongestTurnMs(() => inParts(work, slices).then(() => undefined))
    assert.ok(ms < TURN_MS_MAX, `${ms} ms`)
  })
}

/**
 * Tests that the time to validate a list grows linearly with its length, not quadratically.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS_MAX, type FieldFault } from '../api/field-fault.ts'
import { defaultGates } from '../api/gates.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import {
  admissionPolicyBindingRules,
  admissionPolicyRules,
} from './kinds/admissionregistration/admission-policy.ts'
import {
  mutatingPolicyBindingRules,
  mutatingPolicyRules,
} from './kinds/admissionregistration/mutating-policy.ts'
import { validatingWebhookRules } from './kinds/admissionregistration/webhook-configuration.ts'
import { customResourceDefinitionRules } from './kinds/apiextensions/custom-resource-definition.ts'
import { type Indexes, overlapOf } from './kinds/batch/indexes.ts'
import { resourceQuotaRules } from './kinds/core/resource-quota.ts'
import { deviceHealth } from './kinds/core/pod/resource-claims.ts'
import { withPullPolicy } from './kinds/core/pod/image.ts'
import { validatePodSpec } from './kinds/core/pod/spec.ts'
import { validatePodStatus } from './kinds/core/pod/status.ts'
import { validatePodChange } from './kinds/core/pod/update.ts'
import { podWarnings } from './kinds/core/pod/warnings.ts'
import { runtimeClassRules } from './kinds/node/runtime-class.ts'
import { storageClassRules } from './kinds/storage/storage-class.ts'
import { readJsonPath } from './custom/json-path.ts'
import type { KindRules } from './kind-rules.ts'
import { validateMetadata } from './metadata.ts'
import { labelMap } from './rules/label-selector.ts'
import { faultsOf } from './rules/rule.ts'
import { validateSigner } from './rules/signer.ts'
import { strictAddressFaults, strictPodFaults } from './rules/strict-addresses.ts'
import { validateClientConfig } from './rules/webhook.ts'
import { podTable } from './tables/pods.ts'
import { validateConditions } from './rules/conditions.ts'

/** Maximum CPU time of all threads. For `ITEMS` items, a quadratic loop takes a second or more. */
const CPU_MS_MAX = 600
const ITEMS = 40_000

const many = <T>(item: (at: number) => T, count = ITEMS): T[] =>
  Array.from({ length: count }, (_, at) => item(at))
const objectOf = (fields: Fields): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x' },
  ...fields,
})

/** Creates an object, and returns a function that validates it. */
function validating(rules: KindRules, fields: Fields, before?: Fields): () => unknown {
  const object = objectOf(fields)
  if (before === undefined) {
    return () =>
      rules.validateInSlices?.(object, undefined) ?? rules.validate?.(object, defaultGates)
  }
  const current = objectOf(before)
  return () =>
    rules.validateInSlices?.(object, current) ??
    rules.validateUpdate?.(object, current, defaultGates)
}

/** Returns a function that validates a Pod with one container and the given fields. */
function validatingPod(fields: Fields): () => unknown {
  const spec = { containers: [{ name: 'c', image: 'i' }], ...fields }
  return () => validatePodSpec(spec, 'spec', { pod: { name: 'x' }, gates: defaultGates })
}

const warningOfPod = (spec: Fields): (() => unknown) => {
  const pod = objectOf({ spec })
  return () => podWarnings(pod, defaultGates)
}

const withItems = (path: (at: number) => string): Fields => ({
  name: 'v',
  secret: { items: many((at) => ({ path: path(at) })) },
})

const everyOther = (first: number): Indexes => ({
  count: ITEMS,
  ranges: many((at) => [2 * at + first, 2 * at + first] as const),
})

const requiredTerms = (terms: Fields[]): Fields => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
})

const cases: { readonly [about: string]: () => () => unknown } = {
  'conditions of distinct types': () => {
    const conditions = many((at) => ({
      type: `t${at}`,
      status: 'True',
      reason: 'R',
      lastTransitionTime: 'now',
    }))
    return () => validateConditions(conditions, 'status.conditions')
  },
  'names of resources of a binding': () =>
    validating(admissionPolicyBindingRules, {
      spec: { matchResources: { resourceRules: [{ resourceNames: many((at) => `n${at}`) }] } },
    }),
  'review versions of a webhook': () =>
    validating(validatingWebhookRules, {
      webhooks: [{ admissionReviewVersions: many((at) => `v${at}`) }],
    }),
  'ports with the same number': () =>
    warningOfPod({
      containers: [{ ports: many((at) => ({ containerPort: 1, hostPort: at + 1 })) }],
    }),
  'equal ports of a container': () =>
    warningOfPod({ containers: [{ ports: many(() => ({ containerPort: 1 })) }] }),
  'equal ports in each of many containers': () =>
    warningOfPod({
      containers: many(() => ({ ports: many(() => ({ containerPort: 1 }), 100) }), 400),
    }),
  'equal files': () => warningOfPod({ volumes: [withItems(() => 'a')] }),
  'files in distinct folders': () => warningOfPod({ volumes: [withItems((at) => `${at}/a`)] }),
  'a file in many folders': () =>
    warningOfPod({ volumes: [withItems((at) => '/'.repeat(at ? 1 : ITEMS * 10))] }),
  'an image of digits': () => () => withPullPolicy({ image: `a@a${'0'.repeat(ITEMS)}-` }),
  'a path of a field with brackets': () =>
    validatingPod({
      containers: [
        {
          env: [
            {
              name: 'a',
              valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "['".repeat(ITEMS) } },
            },
          ],
        },
      ],
    }),
  'volume mounts and devices': () =>
    validatingPod({
      containers: [
        {
          volumeMounts: many((at) => ({ name: `m${at}`, mountPath: `/m${at}` }), ITEMS / 2),
          volumeDevices: many((at) => ({ name: `d${at}`, devicePath: `/d${at}` }), ITEMS / 2),
        },
      ],
    }),
  'topology spread constraints': () =>
    validatingPod({
      topologySpreadConstraints: many(
        (at) => ({
          topologyKey: `k${at}`,
          whenUnsatisfiable: 'DoNotSchedule',
          maxSkew: 1,
          labelSelector: {},
        }),
        ITEMS / 2,
      ),
    }),
  'keys of an affinity': () =>
    validatingPod({
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              topologyKey: 'k',
              labelSelector: {
                matchExpressions: many((at) => ({ key: `e${at}`, operator: 'Exists' }), ITEMS / 2),
              },
              matchLabelKeys: many((at) => `m${at}`, ITEMS / 2),
              mismatchLabelKeys: many((at) => `n${at}`, ITEMS / 2),
            },
          ],
        },
      },
    }),
  'claims of many containers': () =>
    validatingPod({
      resourceClaims: many((at) => ({ name: `c${at}`, resourceClaimName: 'a' }), ITEMS / 10),
      containers: many(
        (at) => ({ name: `a${at}`, resources: { claims: [{ name: 'other' }] } }),
        ITEMS / 10,
      ),
    }),
  'reordered tolerations': () => {
    const tolerations = many((at) => ({ key: `k${at}`, operator: 'Exists' }), ITEMS / 2)
    const [pod, current] = [tolerations.toReversed(), tolerations].map((list) =>
      objectOf({ spec: { tolerations: list } }),
    )
    return () => pod && current && validatePodChange(pod, current, defaultGates)
  },
  'reordered node expressions': () => {
    const matchExpressions = many((at) => ({ key: `k${at}`, operator: 'Exists' }), ITEMS / 2)
    const [pod, current] = [matchExpressions.toReversed(), matchExpressions].map((list) =>
      objectOf({
        spec: {
          schedulingGates: [{ name: 'g' }],
          affinity: requiredTerms([{ matchExpressions: list }]),
        },
      }),
    )
    return () => pod && current && validatePodChange(pod, current, defaultGates)
  },
  'statuses of terminated containers': () => {
    const statuses = many(
      (at) => ({ name: `c${at}`, state: { terminated: { exitCode: 1 } } }),
      ITEMS / 2,
    )
    const pod = objectOf({ status: { initContainerStatuses: statuses.toReversed() } })
    const current = objectOf({ status: { initContainerStatuses: statuses } })
    return () => validatePodStatus(pod, current, defaultGates)
  },
  'the health of devices': () => {
    const claims = many((at) => ({ name: `c${at}` }))
    const statuses = [
      { name: 'c', allocatedResourcesStatus: many((at) => ({ name: `claim:c${at}` }), ITEMS / 2) },
    ]
    return () => faultsOf(deviceHealth([{ name: 'c', resources: { claims } }]), statuses, 'status')
  },
  'annotations of containers': () => {
    const prefix = 'container.apparmor.security.beta.kubernetes.io'
    const annotations = Object.fromEntries(
      many((at) => [`${prefix}/c${at}`, 'unconfined'], ITEMS / 10),
    )
    const pod = {
      ...objectOf({ spec: { containers: many((at) => ({ name: `c${at}` }), ITEMS / 4) } }),
    }
    const annotated = { ...pod, metadata: { ...pod.metadata, annotations } }
    return () => validatePodChange(annotated, annotated, defaultGates)
  },
  'a signer of many parts': () => () => validateSigner(`${'.'.repeat(ITEMS)}/a`, 'spec.signerName'),
  'a path of many segments': () => () =>
    validateClientConfig(
      { service: { name: 'a', namespace: 'a', path: '/'.repeat(ITEMS) } },
      'clientConfig',
    ),
  'empty topologies of a class': () =>
    validating(storageClassRules, { allowedTopologies: many(() => ({})) }),
  'distinct topologies of a class': () =>
    validating(storageClassRules, {
      allowedTopologies: many(
        (at) => ({ matchLabelExpressions: [{ key: 'a', values: [`v${at}`] }] }),
        ITEMS / 2,
      ),
    }),
  'values of a topology': () =>
    validating(storageClassRules, {
      allowedTopologies: [
        { matchLabelExpressions: [{ key: 'a', values: many((at) => `v${at}`) }] },
      ],
    }),
  'tolerations of a runtime class': () =>
    validating(runtimeClassRules, {
      scheduling: { tolerations: many((at) => ({ key: `k${at}`, operator: 'Exists' }), ITEMS / 2) },
    }),
  'indexes of a Job': () => {
    const [even, odd] = [everyOther(0), everyOther(1)]
    return () => overlapOf(even, odd)
  },
  'stored versions of a CRD': () => {
    const storedVersions = many((at) => `v${at}`, ITEMS / 4)
    const versions = storedVersions.toReversed().map((name) => ({ name, storage: true }))
    return validating(customResourceDefinitionRules, {
      spec: { versions },
      status: { storedVersions },
    })
  },
  'a column with digits': () => () =>
    readJsonPath(`[${' '.repeat(ITEMS)}${'1'.repeat(ITEMS)}${' '.repeat(ITEMS)}`),
  'readiness gates of a Pod in a table': () => {
    const types = many((at) => `t${at}`, ITEMS / 2)
    const pod = objectOf({
      spec: { readinessGates: types.map((conditionType) => ({ conditionType })) },
      status: { conditions: types.toReversed().map((type) => ({ type, status: 'True' })) },
    })
    return () => podTable.cells(pod)
  },
  'scopes of a quota': () =>
    validating(resourceQuotaRules, { spec: { scopes: many((at) => `s${at}`) } }),
  'reordered scopes of a quota': () =>
    validating(
      resourceQuotaRules,
      { spec: { scopes: many((at) => `s${at}`, ITEMS / 2) } },
      { spec: { scopes: many((at) => `s${at}`, ITEMS / 2).toReversed() } },
    ),
}

for (const [about, build] of Object.entries(cases)) {
  test(`the time for ${about} does not grow quadratically`, async () => {
    const run = build()
    // Use the better of two runs, because garbage collection for another test can slow down a run.
    const ms = Math.min(await cpuMsOf(run), await cpuMsOf(run))
    assert.ok(ms < CPU_MS_MAX, `took ${ms} ms of CPU`)
  })
}

test('validation stops at the maximum number of reported errors', () => {
  const labels = Object.fromEntries(many((at) => [`-${at}`, 'a'], 200_000))
  assert.equal(faultsOf(labelMap, labels, 'labels').length, FAULTS_MAX)
  const ownerReferences = many(() => ({}), 1_000_000)
  const { faults, ms } = timed(() =>
    validateMetadata({ name: 'x', ownerReferences }, { isNamespaced: false, checkName }),
  )
  assert.equal(faults.length, FAULTS_MAX)
  // If the rules did not stop at the maximum number of errors, they would take several seconds.
  assert.ok(ms < 5 * CPU_MS_MAX, `took ${ms} ms of CPU`)
  const containers = many(() => ({}), 1_000_000)
  assert.ok(
    validatePodSpec({ containers }, 'spec', { pod: { name: 'x' }, gates: defaultGates }).length <=
      FAULTS_MAX + 10,
  )
})

test('validation of policies and webhooks stops at the maximum number of reported errors', async () => {
  const [empty, resourceRules] = [
    many(() => ({}), 100_000),
    [{ operations: many(() => 'X', 100_000) }],
  ]
  const lists: readonly (readonly [KindRules, Fields])[] = [
    [mutatingPolicyRules, { spec: { matchConstraints: { resourceRules } } }],
    [mutatingPolicyBindingRules, { spec: { matchResources: { resourceRules } } }],
    ...['variables', 'mutations', 'matchConditions'].map(
      (list) => [mutatingPolicyRules, { spec: { [list]: empty } }] as const,
    ),
    ...['validations', 'auditAnnotations'].map(
      (list) => [admissionPolicyRules, { spec: { [list]: empty } }] as const,
    ),
    [validatingWebhookRules, { webhooks: empty }],
  ]
  for (const [rules, fields] of lists) {
    const object = objectOf(fields)
    const faults =
      (await rules.validateInSlices?.(object, undefined)) ??
      rules.validate?.(object, defaultGates) ??
      []
    // Operations are validated twice: by the rules for all policies, and by the rules for mutating
    // policies. Each of the two reports up to FAULTS_MAX errors.
    assert.ok(
      faults.length >= FAULTS_MAX && faults.length < 2 * FAULTS_MAX + 20,
      `${faults.length}`,
    )
  }
  const expressionWarnings = empty
  const policy = objectOf({ status: { typeChecking: { expressionWarnings } } })
  assert.equal(
    admissionPolicyRules.status?.validateUpdate?.(policy, policy, defaultGates).length,
    FAULTS_MAX,
  )
})

test('validation of strict addresses stops at the maximum number of reported errors', () => {
  const misread = many(() => '010.0.0.1', 100_000)
  const service = objectOf({ spec: { clusterIPs: misread, externalIPs: misread } })
  assert.equal(strictAddressFaults(service, undefined, 'Service').length, FAULTS_MAX)
  const pod = objectOf({
    spec: { dnsConfig: { nameservers: misread }, hostAliases: misread.map((ip) => ({ ip })) },
  })
  assert.equal(strictPodFaults(pod, undefined, { kind: 'Pod', release: 33 }).length, FAULTS_MAX)
})

const checkName = (): string[] => []

function timed(work: () => readonly FieldFault[]): {
  readonly faults: readonly FieldFault[]
  readonly ms: number
} {
  const since = process.threadCpuUsage()
  const faults = work()
  const { user, system } = process.threadCpuUsage(since)
  return { faults, ms: Math.round((user + system) / 1000) }
}

async function cpuMsOf(run: () => unknown): Promise<number> {
  const since = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(since)
  return Math.round((user + system) / 1000)
}

/**
 * Tests that admission plugins process pods with very long lists in parts. Such a pod could not be
 * stored, but it passes the mutating plugins before it is rejected.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { admit, anObject, attributes, MemoryObjects } from '../../test/support/harness/admission.ts'
import { bestLongestTurnMs } from '../../test/support/harness/turns.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import { unsteadyWork } from '../lib/scheduling/parts.ts'
import { Metrics } from '../lib/telemetry/metrics.ts'
import { systemClock } from '../lib/time/clock.ts'
import type { Plugin } from './admission.ts'
import { alwaysPullImages } from './always-pull-images.ts'
import { createLimitRanger } from './limit-ranger.ts'
import { createPodTolerationRestriction } from './pod-toleration-restriction.ts'
import { PodSecurityMetrics } from './pod-security/metrics.ts'
import { createPodSecurity } from './pod-security/plugin.ts'
import { OpenCharges } from './resource-quota/open-charges.ts'
import { createResourceQuota } from './resource-quota/plugin.ts'
import { createRuntimeClass } from './runtime-class.ts'
import { createServiceAccount } from './service-account/plugin.ts'

unsteadyWork.report = assert.fail

const gates = { release: 34, isOn: () => true }
const TURN_MS_MAX = 50

const list = (length: number, one: (at: number) => Fields): readonly Fields[] =>
  Array.from({ length }, (_, at) => one(at))

const range = anObject('LimitRange', 'l', {
  spec: {
    limits: [
      { type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '1' }, max: { cpu: '2' } },
      { type: 'Pod', max: { cpu: '1M' } },
    ],
  },
})

const enforced = 'kubernetes.io/enforce-mountable-secrets'
const restricted = { level: 'restricted', version: 'latest' } as const
const objects = new MemoryObjects()
objects.put('namespaces', '', anObject('Namespace', 'n'))
objects.put(
  'serviceaccounts',
  'n',
  anObject('ServiceAccount', 'default', { metadata: { annotations: { [enforced]: 'true' } } }),
)
objects.put('runtimeclasses', '', anObject('RuntimeClass', 'r', { scheduling: {} }))

const hard = { 'requests.cpu': '1M', 'limits.cpu': '1M' }
const quota = anObject('ResourceQuota', 'q', {
  metadata: { namespace: 'n' },
  status: { hard, used: { 'requests.cpu': '0', 'limits.cpu': '0' } },
})
objects.put('resourcequotas', 'n', quota)
const resourceQuota = createResourceQuota(objects, () => [quota], {
  gates,
  clock: systemClock,
  limitedResources: [],
  openCharges: new OpenCharges(),
})

const podSecurity = createPodSecurity({
  objects,
  clock: systemClock,
  gates,
  metrics: new PodSecurityMetrics(new Metrics(), 33),
  configuration: {
    defaults: { enforce: restricted, audit: restricted, warn: restricted },
    exemptions: { namespaces: [], usernames: [], runtimeClasses: [] },
  },
})

const oneCpu = { requests: { cpu: '1' }, limits: { cpu: '1' } }
const capabilities = Array.from({ length: 200_000 }, (_, at) => `${at}`)

const cases: readonly (readonly [name: string, Plugin, spec: () => Fields])[] = [
  [
    'LimitRanger sets defaults of many containers',
    createLimitRanger(() => [range], gates),
    () => ({ containers: list(20_000, () => ({ name: 'a' })) }),
  ],
  [
    'RuntimeClass merges many tolerations',
    createRuntimeClass(objects),
    () => ({ runtimeClassName: 'r', tolerations: tolerations() }),
  ],
  [
    'ServiceAccount mounts its token into many containers',
    createServiceAccount({ objects, nameSuffix: () => 'a' }),
    () => ({ containers: list(80_000, () => ({ name: 'a', env: [{ name: 'E' }] })) }),
  ],
  [
    'AlwaysPullImages visits many containers',
    alwaysPullImages,
    () => ({ containers: list(80_000, () => ({ name: 'a', imagePullPolicy: 'Never' })) }),
  ],
  [
    'ResourceQuota sums the amounts of many containers',
    resourceQuota,
    () => ({ containers: list(20_000, (at) => ({ name: `${at}`, resources: oneCpu })) }),
  ],
  [
    'ResourceQuota lists many containers without amounts',
    resourceQuota,
    () => ({ containers: list(50_000, (at) => ({ name: `${at}` })) }),
  ],
  [
    'PodSecurity evaluates many containers',
    podSecurity,
    () => ({ containers: list(80_000, (at) => ({ name: `${at}` })) }),
  ],
  [
    'PodSecurity evaluates many capabilities and volumes',
    podSecurity,
    () => ({
      containers: [{ name: 'a', securityContext: { capabilities: { add: capabilities } } }],
      volumes: list(60_000, () => ({ name: 'a' })),
    }),
  ],
  [
    'PodTolerationRestriction compares many tolerations',
    createPodTolerationRestriction({
      objects,
      configuration: { defaults: [{ key: 'd' }], whitelist: [{ operator: 'Exists' }] },
      gates,
    }),
    () => ({ tolerations: tolerations() }),
  ],
]

const tolerations = (): readonly Fields[] => [
  ...list(100_000, () => ({})),
  ...list(20_000, (at) => ({ key: `k${at}`, operator: 'Exists' })),
]

const podOf = (spec: Fields): KubeObject => anObject('Pod', 'p', { spec })

for (const [name, plugin, spec] of cases) {
  test(`${name} without blocking the event loop`, async () => {
    const object = podOf(spec())
    const expected = await admit(plugin, attributes({ plural: 'pods', object }))
    let admitted: unknown
    const ms = await bestLongestTurnMs(async () => {
      const write = attributes({ plural: 'pods', object })
      write.context.recordText(3_000_000)
      admitted = await admit(plugin, write)
    })
    assert.ok(isDeepStrictEqual(admitted, expected))
    assert.ok(ms < TURN_MS_MAX, `${ms} ms`)
  })
}

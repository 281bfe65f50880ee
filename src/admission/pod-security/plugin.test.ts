import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  admit,
  anObject,
  attributes,
  MemoryObjects,
} from '../../../test/support/harness/admission.ts'
import { turnsDuring } from '../../../test/support/harness/turns.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import { defaultGates } from '../../api/gates.ts'
import {
  defaultPodSecurity,
  type PodSecurityConfiguration,
} from '../../config/files/pod-security.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import type { Attributes } from '../admission.ts'
import { createPodSecurity } from './plugin.ts'
import { PodSecurityMetrics } from './metrics.ts'

const labelled = (labels: Fields): Fields =>
  Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [`pod-security.kubernetes.io/${name}`, value]),
  )
const namespace = (labels: Fields) =>
  anObject('Namespace', 'n', { metadata: { labels: labelled(labels) } })
const podOf = (spec: Fields, metadata: Fields = {}) =>
  anObject('Pod', 'p', { metadata, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } })
const contained = (securityContext: Fields) =>
  podOf({ containers: [{ name: 'c', image: 'i', securityContext }] })
const careful = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
const strict = (podContext: Fields = {}, containerContext: Fields = {}) =>
  podOf({
    securityContext: {
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
      ...podContext,
    },
    containers: [{ name: 'c', image: 'i', securityContext: { ...careful, ...containerContext } }],
  })

type ReviewOutcome = { readonly refusal: string; readonly warnings: readonly string[] }

const metrics = new Metrics()

const pluginOf = (objects: MemoryObjects, configuration: Partial<PodSecurityConfiguration> = {}) =>
  createPodSecurity({
    objects,
    configuration: { ...defaultPodSecurity, ...configuration },
    gates: defaultGates,
    metrics: new PodSecurityMetrics(metrics, 33),
    clock: systemClock,
  })

async function outcomeOf(
  labels: Fields,
  write: Attributes,
  configuration: Partial<PodSecurityConfiguration> = {},
): Promise<ReviewOutcome> {
  const objects = new MemoryObjects()
  objects.put('namespaces', '', namespace(labels))
  const admitted = await admit(pluginOf(objects, configuration), write)
  return { refusal: typeof admitted === 'string' ? admitted : '', warnings: write.context.warnings }
}

const create = (object: KubeObject) => attributes({ plural: 'pods', object })

async function violation(labels: Fields, object: KubeObject): Promise<string> {
  const { refusal } = await outcomeOf(labels, create(object))
  return refusal.replace(
    /^403 pods "p" is forbidden: violates PodSecurity "[a-z]*:[a-z0-9.]*": /,
    '',
  )
}

const controls: readonly (readonly [string, KubeObject, string])[] = [
  ['baseline', podOf({}), ''],
  [
    'baseline',
    podOf({ hostPID: true, hostIPC: true }),
    'host namespaces (hostPID=true, hostIPC=true)',
  ],
  [
    'baseline',
    contained({ privileged: true }),
    'privileged (container "c" must not set securityContext.privileged=true)',
  ],
  [
    'baseline',
    contained({ capabilities: { add: ['SYS_TIME', 'CHOWN', 'NET_ADMIN'] } }),
    'non-default capabilities (container "c" must not include "NET_ADMIN", "SYS_TIME" in securityContext.capabilities.add)',
  ],
  ['baseline', podOf({ volumes: [{ name: 'v', hostPath: {} }] }), 'hostPath volumes (volume "v")'],
  [
    'baseline',
    podOf({ containers: [{ name: 'c', ports: [{ hostPort: 81 }, { hostPort: 80 }] }] }),
    'hostPort (container "c" uses hostPorts 80, 81)',
  ],
  [
    'baseline',
    podOf(
      {},
      { annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' } },
    ),
    'forbidden AppArmor profile (annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/c="unconfined"")',
  ],
  [
    'baseline',
    podOf({ securityContext: { seLinuxOptions: { type: 't', user: 'u' } } }),
    'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "t"; user may not be set)',
  ],
  [
    'baseline',
    contained({ procMount: 'Unmasked' }),
    'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  ],
  [
    'baseline',
    podOf({ securityContext: { seccompProfile: { type: 'Unconfined' } } }),
    'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  [
    'baseline',
    podOf({ securityContext: { sysctls: [{ name: 'a.b' }] } }),
    'forbidden sysctls (a.b)',
  ],
  [
    'baseline',
    contained({ windowsOptions: { hostProcess: true } }),
    'hostProcess (container "c" must not set securityContext.windowsOptions.hostProcess=true)',
  ],
  ['restricted', strict(), ''],
  ['restricted', strict({ runAsUser: 0 }), 'runAsUser=0 (pod must not set runAsUser=0)'],
  [
    'restricted',
    strict({ runAsNonRoot: false }, { runAsNonRoot: false }),
    'runAsNonRoot != true (pod and container "c" must not set securityContext.runAsNonRoot=false)',
  ],
  [
    'restricted',
    strict({}, { capabilities: { add: ['KILL'] } }),
    'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container "c" must not include "KILL" in securityContext.capabilities.add)',
  ],
  [
    'restricted',
    {
      ...strict(),
      spec: {
        ...Object(strict()['spec']),
        volumes: [
          { name: 'b', nfs: {} },
          { name: 'a', hostPath: {} },
        ],
      },
    },
    'restricted volume types (volumes "b", "a" use restricted volume types "hostPath", "nfs")',
  ],
]
for (const [enforce, object, expected] of controls) {
  test(`the level ${enforce} reports: ${expected || 'no violation for a compliant pod'}`, async () => {
    assert.equal(await violation({ enforce }, object), expected)
  })
}

test('a level that is pinned to a Kubernetes version applies the controls of that version', async () => {
  const engine = podOf({ securityContext: { seLinuxOptions: { type: 'container_engine_t' } } })
  assert.notEqual(await violation({ enforce: 'baseline', 'enforce-version': 'v1.30' }, engine), '')
  assert.equal(await violation({ enforce: 'baseline', 'enforce-version': 'v1.31' }, engine), '')
  const old = { enforce: 'restricted', 'enforce-version': 'v1.7' }
  assert.equal(await violation(old, strict({}, { allowPrivilegeEscalation: true })), '')
  const windows = podOf({ os: { name: 'windows' }, securityContext: { runAsNonRoot: true } })
  assert.equal(await violation({ enforce: 'restricted' }, windows), '')
  assert.notEqual(
    await violation({ enforce: 'restricted', 'enforce-version': 'v1.24' }, windows),
    '',
  )
})

test('the warn and audit modes do not reject a pod', async () => {
  const write = create(podOf({ hostPID: true }))
  const said = 'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)'
  assert.deepEqual(await outcomeOf({ warn: 'baseline', audit: 'baseline' }, write), {
    refusal: '',
    warnings: [said],
  })
  assert.equal(write.context.annotations.get('pod-security.kubernetes.io/audit-violations'), said)
})

test('a rejected pod causes no warning, and a workload causes a warning if its pods would be rejected', async () => {
  const labels = { enforce: 'baseline' }
  const refused = await outcomeOf(labels, create(podOf({ hostPID: true })))
  assert.deepEqual([refused.refusal.slice(0, 3), refused.warnings.length], ['403', 0])
  const object = anObject('Deployment', 'd', { spec: { template: { spec: { hostPID: true } } } })
  const workload = attributes({ plural: 'deployments', group: 'apps', object })
  assert.equal((await outcomeOf(labels, workload)).warnings.length, 1)
  const scale = attributes({
    plural: 'deployments',
    group: 'apps',
    object,
    subresource: 'scale',
    operation: 'UPDATE',
  })
  assert.equal((await outcomeOf(labels, scale)).warnings.length, 0)
})

test('PodSecurity evaluates an update only if containers or images change', async () => {
  const oldObject = podOf({ hostPID: true })
  const update = (object: KubeObject, subresource = '') =>
    outcomeOf(
      { enforce: 'baseline' },
      attributes({ plural: 'pods', operation: 'UPDATE', subresource, object, oldObject }),
    )
  assert.equal((await update(podOf({ hostPID: true }, { labels: { a: 'b' } }))).refusal, '')
  const other = podOf({ hostPID: true, containers: [{ name: 'c', image: 'j' }] })
  assert.match((await update(other)).refusal, /^403 /)
  assert.equal((await update(other, 'status')).refusal, '')
  const added = podOf({ hostPID: true, ephemeralContainers: [{ name: 'e', image: 'i' }] })
  assert.match((await update(added, 'ephemeralcontainers')).refusal, /^403 /)
})

test('PodSecurity does not evaluate exempt users, namespaces and runtime classes', async () => {
  const pod = podOf({ hostPID: true, runtimeClassName: 'r' })
  for (const exempt of [{ usernames: ['u'] }, { namespaces: ['n'] }, { runtimeClasses: ['r'] }]) {
    assert.equal(
      (
        await outcomeOf({ enforce: 'baseline' }, create(pod), {
          exemptions: { ...defaultPodSecurity.exemptions, ...exempt },
        })
      ).refusal,
      '',
    )
  }
})

const label = (labels: Fields, before?: Fields) =>
  outcomeOf(
    {},
    attributes({
      plural: 'namespaces',
      operation: before ? 'UPDATE' : 'CREATE',
      object: namespace(labels),
      oldObject: before && namespace(before),
    }),
  )
const fault = (name: string, value: string, rule: string) =>
  `422 Namespace "n" is invalid: metadata.labels[pod-security.kubernetes.io/${name}]: Invalid value: "${value}": ${rule}`

test('invalid PodSecurity labels are rejected unless they already existed', async () => {
  const level = 'must be one of privileged, baseline, restricted'
  assert.equal((await label({ enforce: 'nope' })).refusal, fault('enforce', 'nope', level))
  assert.equal(
    (await label({ 'warn-version': '1.30' })).refusal,
    fault('warn-version', '1.30', 'must be "latest" or "v1.x"'),
  )
  assert.equal((await label({ enforce: 'baseline', 'enforce-version': 'v1.99' })).refusal, '')
  assert.equal((await label({ enforce: 'nope', other: 'x' }, { enforce: 'nope' })).refusal, '')
})

test('a stricter level causes a warning that lists the pods that do not comply', async () => {
  const objects = new MemoryObjects()
  const bad = { containers: [], hostNetwork: true }
  for (const name of ['a', 'b']) objects.put('pods', 'n', anObject('Pod', name, { spec: bad }))
  objects.put('pods', 'n', anObject('Pod', 'c', { spec: { containers: [] } }))
  const change = async (before: Fields, after: Fields): Promise<readonly string[]> => {
    const [object, oldObject] = [namespace(after), namespace(before)]
    const write = attributes({ plural: 'namespaces', operation: 'UPDATE', object, oldObject })
    assert.equal(await admit(pluginOf(objects), write), object)
    return write.context.warnings
  }
  assert.deepEqual(await change({}, { enforce: 'baseline' }), [
    'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
    'a (and 1 other pod): host namespaces',
  ])
  assert.deepEqual(await change({ enforce: 'restricted' }, { enforce: 'baseline' }), [])
  assert.deepEqual(
    await change({ enforce: 'baseline' }, { enforce: 'baseline', warn: 'restricted' }),
    [],
  )
})

test('the default levels of the configuration apply if the namespace has no label', async () => {
  const defaults = {
    enforce: { level: 'baseline', version: 20 },
    audit: { level: 'privileged', version: 'latest' },
    warn: { level: 'baseline', version: 'latest' },
  } as const
  const [bad, plain] = [podOf({ hostPID: true }), podOf({})]
  assert.match(
    (await outcomeOf({}, create(bad), { defaults })).refusal,
    /violates PodSecurity "baseline:v1.20"/,
  )
  assert.equal((await outcomeOf({ enforce: 'privileged' }, create(bad), { defaults })).refusal, '')
  assert.match(
    (await outcomeOf({ enforce: 'restricted' }, create(plain), { defaults })).refusal,
    /"restricted:v1.20"/,
  )
  const { warnings } = await outcomeOf(
    { enforce: 'privileged', 'warn-version': 'v1.0' },
    create(bad),
    {
      defaults,
    },
  )
  assert.deepEqual(warnings, [
    'would violate PodSecurity "baseline:v1.0": host namespaces (hostPID=true)',
  ])
})

test('a rejected request is annotated with its audit violations', async () => {
  const write = create(podOf({ hostPID: true }))
  await outcomeOf({ enforce: 'baseline', audit: 'baseline' }, write)
  assert.deepEqual(
    [...(write.context.ownAnnotations ?? [])],
    [
      ['pod-security.kubernetes.io/enforce-policy', 'baseline:latest'],
      [
        'pod-security.kubernetes.io/audit-violations',
        'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)',
      ],
    ],
  )
})

test('a warning is returned if the labels of an exempt namespace have no effect', async () => {
  const configuration = { exemptions: { ...defaultPodSecurity.exemptions, namespaces: ['n'] } }
  const write = attributes({
    plural: 'namespaces',
    object: namespace({ enforce: 'baseline', 'warn-version': 'v1.0' }),
  })
  const { warnings } = await outcomeOf({}, write, configuration)
  assert.deepEqual(warnings, [
    'namespace "n" is exempt from Pod Security, and the policy (enforce=baseline:latest, warn=baseline:v1.0) will be ignored',
  ])
})

test('PodSecurity counts evaluations and exemptions', async () => {
  const configuration = { exemptions: { ...defaultPodSecurity.exemptions, usernames: ['u'] } }
  await outcomeOf({ enforce: 'baseline' }, create(podOf({})), configuration)
  await outcomeOf({ enforce: 'baseline', 'enforce-version': 'v1.99' }, create(podOf({})))
  const text = metrics.print()
  assert.match(
    text,
    /pod_security_exemptions_total\{request_operation="create",resource="pod",subresource=""\} 1/,
  )
  assert.match(
    text,
    /decision="allow",mode="enforce",policy_level="baseline",policy_version="future"/,
  )
})

const owned = (at: number): Fields => ({
  ownerReferences: [{ uid: `u${at % 2}`, controller: true }],
})

test('a stricter level evaluates at most 3000 existing pods, with one pod of each controller first', async () => {
  const objects = new MemoryObjects()
  for (let at = 0; at < 3_001; at++) {
    const spec = at === 3_000 ? { containers: [], hostPID: true } : { containers: [] }
    objects.put(
      'pods',
      'n',
      anObject('Pod', `p${at}`, { spec, metadata: at === 3_000 ? {} : owned(at) }),
    )
  }
  const [object, oldObject] = [namespace({ enforce: 'baseline' }), namespace({})]
  const write = attributes({ plural: 'namespaces', operation: 'UPDATE', object, oldObject })
  const clock = { ...systemClock, monotonicMs: () => 0 }
  const plugin = createPodSecurity({
    objects,
    configuration: defaultPodSecurity,
    gates: defaultGates,
    metrics: new PodSecurityMetrics(new Metrics(), 33),
    clock,
  })
  assert.equal(await admit(plugin, write), object)
  assert.deepEqual(write.context.warnings, [
    'new PodSecurity enforce level only checked against the first 3000 of 3001 existing pods',
    'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
    'p3000: host namespaces',
  ])
})

/**
 * Pods that call `decoding` each time one of them is decoded. Tests use it to spend CPU time or to
 * advance a clock.
 */
class SlowPods extends MemoryObjects {
  decoded = 0

  constructor(count: number, decoding: () => void) {
    super()
    for (let at = 0; at < count; at++) {
      this.put('pods', 'n', anObject('Pod', `p${at}`, { spec: { containers: [], hostPID: true } }))
    }
    const { list } = this
    const slow = (object: KubeObject): KubeObject => {
      this.decoded++
      decoding()
      return object
    }
    Object.assign(this, {
      list: async (...asked: Parameters<typeof list>) => (await list(...asked)).map(slow),
      select: async (...asked: Parameters<typeof list>) =>
        (await list(...asked)).map((pod) => () => slow(pod)),
    })
  }
}

const tightened = () =>
  attributes({
    plural: 'namespaces',
    operation: 'UPDATE',
    object: namespace({ enforce: 'baseline' }),
    oldObject: namespace({}),
  })

test('the pods of a namespace are decoded in slices, between which the event loop runs other work', async () => {
  const objects = new SlowPods(100, () => {
    const since = process.threadCpuUsage()
    for (;;) {
      const { user, system } = process.threadCpuUsage(since)
      if (user + system > 500) return
    }
  })
  const turns = await turnsDuring(async () => void (await admit(pluginOf(objects), tightened())))
  assert.ok(objects.decoded > 0)
  assert.ok(turns > objects.decoded / 10, `${turns} turns for ${objects.decoded} pods`)
})

test('the time limit for checking existing pods includes reading the pods', async () => {
  let nowMs = 0
  const objects = new SlowPods(1_000, () => (nowMs += 100))
  const write = tightened()
  const plugin = createPodSecurity({
    objects,
    configuration: defaultPodSecurity,
    gates: defaultGates,
    metrics: new PodSecurityMetrics(new Metrics(), 33),
    clock: { monotonicMs: () => nowMs },
  })
  await admit(plugin, write)
  assert.equal(objects.decoded, 6, 'half of the second is for reading')
  assert.deepEqual(write.context.warnings, [
    'new PodSecurity enforce level only checked against the first 6 of 1000 existing pods',
    'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
    'p0 (and 5 other pods): host namespaces',
  ])
})

test('a pod in a missing namespace is not admitted', async () => {
  const write = create(podOf({}))
  assert.equal(
    await admit(pluginOf(new MemoryObjects()), write),
    '500 Internal error occurred: failed to lookup namespace "n"',
  )
})

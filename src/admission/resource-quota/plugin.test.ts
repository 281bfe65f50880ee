import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import {
  admit,
  anObject,
  attributes,
  MemoryObjects,
  pod,
} from '../../../test/support/harness/admission.ts'
import { defaultGates } from '../../api/gates.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { Attributes, Plugin } from '../admission.ts'
import { createResourceQuota } from './plugin.ts'
import { OpenCharges } from './open-charges.ts'

const zero = (hard: Fields): Fields =>
  Object.fromEntries(Object.keys(hard).map((name) => [name, '0']))
const quota = (
  name: string,
  hard: Fields,
  { used = zero(hard), ...spec }: Fields = {},
): KubeObject =>
  anObject('ResourceQuota', name, { spec: { hard, ...spec }, status: { hard, used } })

const now = '2026-01-01T00:00:10Z'
const environment = {
  gates: defaultGates,
  clock: { wallMs: () => Date.parse(now) },
  limitedResources: [],
  openCharges: new OpenCharges(),
}

/** A namespace with the given quotas, and the plugin. */
class ResourceQuotaFixture {
  readonly objects = new MemoryObjects()
  readonly plugin = createResourceQuota(this.objects, async () => this.quotas(), environment)

  constructor(...quotas: KubeObject[]) {
    for (const one of quotas) this.objects.put('resourcequotas', 'n', one)
  }

  quotas = () => this.objects.list({ group: '', version: 'v1', plural: 'resourcequotas' }, 'n')

  async outcome(write: Attributes): Promise<string> {
    const admitted = await admit(this.plugin, write)
    return typeof admitted === 'string' ? admitted.replace(/^403 .* is forbidden: /, '') : 'fine'
  }

  async used(): Promise<unknown[]> {
    return (await this.quotas()).map((one) => Object(one['status']).used)
  }
}

const configMap = (isDryRun = false) =>
  attributes({ plural: 'configmaps', object: anObject('ConfigMap', 'c'), isDryRun })
const container = (resources: Fields, name = 'c') => ({ name, resources })
const podWith = (containers: Fields[], spec: Fields = {}) =>
  attributes({ plural: 'pods', object: pod({ containers, ...spec }) })

test('each ConfigMap counts toward the quotas for configmaps and for count/configmaps', async () => {
  const world = new ResourceQuotaFixture(
    quota('q', { configmaps: '1', 'count/configmaps': '5', secrets: '1' }),
  )
  assert.equal(await world.outcome(configMap()), 'fine')
  assert.deepEqual(await world.used(), [{ configmaps: '1', 'count/configmaps': '1', secrets: '0' }])
  assert.equal(
    await world.outcome(configMap()),
    'exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
  )
})

test('OpenCharges treats a write as open from before its first quota is charged until the write has ended', async () => {
  const world = new ResourceQuotaFixture(quota('q', { configmaps: '1' }))
  const openCharges = new OpenCharges()
  const ended: string[] = []
  const counted = (name: string): Promise<number> =>
    openCharges.settled('n').then(() => ended.push(name))
  const [charged, refused, tried] = [configMap(), configMap(), configMap(true)]
  const plugin = createResourceQuota(
    {
      list: world.objects.list,
      changeStatus: (...change) => {
        void counted('charge')
        return world.objects.changeStatus(...change)
      },
    },
    world.quotas,
    { ...environment, openCharges },
  )
  assert.ok(typeof (await admit(plugin, charged)) !== 'string')
  assert.equal(typeof (await admit(plugin, refused)), 'string')
  await turn()
  assert.deepEqual(ended, [])
  charged.context.endWrite()
  await turn()
  assert.deepEqual(ended, ['charge'])
  const later = counted('refusal')
  await turn()
  assert.deepEqual(ended, ['charge'])
  refused.context.endWrite()
  await later
  // A dry run is not charged to the quota.
  await admit(plugin, tried)
  await openCharges.settled('n')
})

test('a write is charged either to all quotas or to no quota', async () => {
  const world = new ResourceQuotaFixture(
    quota('a', { configmaps: '5' }),
    quota('b', { configmaps: '0' }),
  )
  assert.match(await world.outcome(configMap()), /^exceeded quota: b/)
  assert.deepEqual(await world.used(), [{ configmaps: '0' }, { configmaps: '0' }])
})

test('if a later quota is used up by another writer, the charges to earlier quotas are released', async () => {
  const world = new ResourceQuotaFixture(
    quota('a', { configmaps: '1' }),
    quota('b', { configmaps: '1' }),
  )
  const { objects } = world
  const slow = createResourceQuota(
    {
      list: objects.list,
      changeStatus: (id, place, decide) => {
        // Just before the write is charged to quota b, another writer uses up this quota.
        if (place.name === 'b')
          objects.put(
            'resourcequotas',
            'n',
            quota('b', { configmaps: '1' }, { used: { configmaps: '1' } }),
          )
        return objects.changeStatus(id, place, decide)
      },
    },
    world.quotas,
    environment,
  )
  const why =
    'exceeded quota: b, requested: configmaps=1, used: configmaps=1, limited: configmaps=1'
  assert.equal(await admit(slow, configMap()), `403 configmaps "c" is forbidden: ${why}`)
  assert.deepEqual(await world.used(), [{ configmaps: '0' }, { configmaps: '1' }])
})

test('the quota that is closest to its limit is charged first', async () => {
  const world = new ResourceQuotaFixture(
    quota('a', { configmaps: '50' }),
    quota('b', { configmaps: '30', secrets: '0' }),
    quota('c', { configmaps: '30' }),
    quota('d', { configmaps: '50' }, { used: { configmaps: '49' } }),
  )
  const charged: string[] = []
  const plugin = createResourceQuota(
    {
      list: world.objects.list,
      changeStatus: (id, place, decide) => {
        charged.push(place.name)
        return world.objects.changeStatus(id, place, decide)
      },
    },
    world.quotas,
    environment,
  )
  assert.ok(typeof (await admit(plugin, configMap())) !== 'string')
  assert.deepEqual(charged, ['b', 'd', 'c', 'a'])
})

test('the charge of a refused write is not released if the controller has recounted the quota in the meantime', async () => {
  const world = new ResourceQuotaFixture(
    quota('a', { configmaps: '5' }, { used: { configmaps: '4' } }),
    quota('b', { configmaps: '5' }, { used: { configmaps: '4' } }),
  )
  const { objects } = world
  const slow = createResourceQuota(
    {
      list: objects.list,
      changeStatus: (id, place, decide) => {
        if (place.name === 'b') {
          // Before the write is charged to quota b, three changes happen: another replica uses up
          // quota b, the quota controller counts the stored objects, and another replica charges
          // quota a.
          objects.put(
            'resourcequotas',
            'n',
            quota('b', { configmaps: '5' }, { used: { configmaps: '5' } }),
          )
          objects.put(
            'resourcequotas',
            'n',
            quota('a', { configmaps: '5' }, { used: { configmaps: '5' } }),
          )
        }
        return objects.changeStatus(id, place, decide)
      },
    },
    world.quotas,
    environment,
  )
  const refusal = await admit(slow, configMap())
  assert.ok(typeof refusal === 'string')
  assert.match(refusal, /exceeded quota: b/)
  assert.deepEqual(await world.used(), [{ configmaps: '5' }, { configmaps: '5' }])
})

test('a write is compared with the limits of quotas only if all quotas can be evaluated', async () => {
  const full = quota('a', { pods: '0' })
  const silent = new ResourceQuotaFixture(full, quota('b', { 'requests.cpu': '1' }))
  assert.equal(
    await silent.outcome(podWith([{ name: 'c' }])),
    'failed quota: b: must specify requests.cpu for: c',
  )
  const uncounted = new ResourceQuotaFixture(full, quota('b', { 'count/pods': '1' }, { used: {} }))
  assert.equal(
    await uncounted.outcome(podWith([{ name: 'c' }])),
    'status unknown for quota: b, resources: count/pods',
  )
})

test('the quota plugin charges concurrent writes one after another', async () => {
  const world = new ResourceQuotaFixture(quota('q', { configmaps: '7' }))
  const answers = await Promise.all(Array.from({ length: 20 }, () => world.outcome(configMap())))
  assert.equal(answers.filter((answer) => answer === 'fine').length, 7)
  assert.deepEqual(await world.used(), [{ configmaps: '7' }])
})

test('a dry run is not charged to any quota', async () => {
  const world = new ResourceQuotaFixture(quota('q', { configmaps: '1' }))
  assert.equal(await world.outcome(configMap(true)), 'fine')
  assert.deepEqual(await world.used(), [{ configmaps: '0' }])
})

test('a pod must specify the amounts that a quota limits', async () => {
  const world = new ResourceQuotaFixture(
    quota('q', { 'requests.cpu': '1', 'limits.memory': '1Gi', 'requests.ephemeral-storage': '1' }),
  )
  const init = { initContainers: [{ name: 'i' }] }
  assert.equal(
    await world.outcome(podWith([container({ requests: { cpu: '1' } }, 'b'), { name: 'a' }], init)),
    'failed quota: q: must specify limits.memory for: a,b,i; requests.cpu for: a,i',
  )
})

test('pods are charged for their requests, limits and overhead', async () => {
  const world = new ResourceQuotaFixture(
    quota('q', { cpu: '3', 'limits.cpu': '5', 'requests.example.com/gpu': '1', pods: '9' }),
  )
  const limits = { cpu: '1', 'example.com/gpu': '1' }
  const wanted = [container({ requests: { cpu: '500m', 'example.com/gpu': '1' }, limits })]
  assert.equal(await world.outcome(podWith(wanted, { overhead: { cpu: '250m' } })), 'fine')
  assert.deepEqual(await world.used(), [
    { cpu: '750m', 'limits.cpu': '1250m', 'requests.example.com/gpu': '1', pods: '1' },
  ])
  assert.match(await world.outcome(podWith(wanted)), /requested: requests.example.com\/gpu=1, used/)
})

const asking = (cpu: string) => pod({ containers: [container({ requests: { cpu } })] })
const resize = (cpu: string) =>
  attributes({
    plural: 'pods',
    operation: 'UPDATE',
    subresource: 'resize',
    object: asking(cpu),
    oldObject: asking('1'),
  })

test('an update is charged only for the usage that it adds', async () => {
  const world = new ResourceQuotaFixture(
    quota('q', { 'requests.cpu': '2' }, { used: { 'requests.cpu': '1' } }),
  )
  assert.match(
    await world.outcome(resize('4')),
    /requested: requests.cpu=3, used: requests.cpu=1, limited: requests.cpu=2$/,
  )
  assert.equal(await world.outcome(resize('500m')), 'fine')
  assert.equal(await world.outcome(resize('2')), 'fine')
  assert.deepEqual(await world.used(), [{ 'requests.cpu': '2' }])
})

/**
 * Returns the usage that a pod adds when it is resized from one CPU to two, with this status and
 * metadata.
 */
async function costOfResize(status: Fields, metadata: Fields = {}): Promise<unknown[]> {
  const world = new ResourceQuotaFixture(quota('q', { 'requests.cpu': '9' }))
  const reported = (one: KubeObject): KubeObject => ({
    ...one,
    status,
    metadata: { ...one.metadata, ...metadata },
  })
  const write = attributes({
    plural: 'pods',
    operation: 'UPDATE',
    subresource: 'resize',
    object: reported(asking('2')),
    oldObject: reported(asking('1')),
  })
  assert.equal(await world.outcome(write), 'fine')
  return world.used()
}

const given = (fields: Fields): Fields => ({ containerStatuses: [{ name: 'c', ...fields }] })
const pending = (reason: string): Fields => ({
  ...given({ resources: {} }),
  conditions: [{ type: 'PodResizePending', status: 'True', reason }],
})
const one = [{ 'requests.cpu': '1' }]
const none = [{ 'requests.cpu': '0' }]

test('a resize is charged for the amounts that the node has not allocated yet', async () => {
  const resources = { requests: { cpu: '2' } }
  assert.deepEqual(await costOfResize({}), one)
  assert.deepEqual(await costOfResize(given({ resources })), none)
  assert.deepEqual(
    await costOfResize(given({ resources: {}, allocatedResources: { cpu: '3' } })),
    none,
  )
  assert.deepEqual(
    await costOfResize(given({ allocatedResources: { cpu: '3' } })),
    one,
    'the node reports no resources',
  )
  assert.deepEqual(await costOfResize(pending('Infeasible')), none)
  assert.deepEqual(await costOfResize(pending('Deferred')), one)
})

test('a pod that still exists after twice its grace period is not charged', async () => {
  const deletionGracePeriodSeconds = 5
  const [early, late] = ['2026-01-01T00:00:04Z', '2026-01-01T00:00:05Z']
  assert.deepEqual(
    await costOfResize({}, { deletionTimestamp: late, deletionGracePeriodSeconds }),
    one,
  )
  assert.deepEqual(
    await costOfResize({}, { deletionTimestamp: early, deletionGracePeriodSeconds }),
    none,
  )
})

test('if an update moves a pod into the scope of a quota, the quota is charged for all usage of the pod', async () => {
  const world = new ResourceQuotaFixture(quota('q', { pods: '0' }, { scopes: ['Terminating'] }))
  const [object, oldObject] = [pod({ activeDeadlineSeconds: 1 }), pod()]
  assert.match(
    await world.outcome(attributes({ plural: 'pods', operation: 'UPDATE', object, oldObject })),
    /requested: pods=1/,
  )
  assert.equal(await world.outcome(attributes({ plural: 'pods', object: oldObject })), 'fine')
})

const scopeCases: readonly (readonly [Fields, Fields, boolean])[] = [
  [{ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }, { priorityClassName: 'a' }, true],
  [{ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }, {}, false],
  [{ scopeName: 'PriorityClass', operator: 'NotIn', values: ['a'] }, {}, true],
  [{ scopeName: 'PriorityClass', operator: 'Exists' }, { priorityClassName: 'a' }, true],
  [{ scopeName: 'PriorityClass', operator: 'DoesNotExist' }, {}, true],
  [{ scopeName: 'NotTerminating', operator: 'Exists' }, {}, true],
  [{ scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' }, {}, false],
  [
    { scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' },
    {
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { podAffinityTerm: { namespaces: ['x'] } },
          ],
        },
      },
    },
    true,
  ],
]
for (const [expression, spec, isIn] of scopeCases) {
  test(`a pod with ${JSON.stringify(spec)} is ${isIn ? '' : 'not '}in the scope ${JSON.stringify(expression)}`, async () => {
    const world = new ResourceQuotaFixture(
      quota('q', { pods: '0' }, { scopeSelector: { matchExpressions: [expression] } }),
    )
    assert.equal(
      (await world.outcome(attributes({ plural: 'pods', object: pod(spec) }))) === 'fine',
      !isIn,
    )
  })
}

const service = (spec: Fields) =>
  attributes({ plural: 'services', object: anObject('Service', 's', { spec }) })

test('Services are charged for their node ports and load balancers', async () => {
  const world = new ResourceQuotaFixture(
    quota('q', { 'services.nodeports': '3', 'services.loadbalancers': '1', services: '9' }),
  )
  const ports = [{ port: 1 }, { port: 2 }]
  assert.equal(
    await world.outcome(
      service({ type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: false }),
    ),
    'fine',
  )
  assert.equal(await world.outcome(service({ type: 'NodePort', ports })), 'fine')
  assert.deepEqual(await world.used(), [
    { 'services.nodeports': '2', 'services.loadbalancers': '1', services: '2' },
  ])
  assert.match(
    await world.outcome(service({ type: 'LoadBalancer', ports })),
    /services.loadbalancers=1,services.nodeports=2, used/,
  )
})

const claim = (storage: string, storageClassName: string) => {
  const spec = { storageClassName, resources: { requests: { storage } } }
  return attributes({
    plural: 'persistentvolumeclaims',
    object: anObject('PersistentVolumeClaim', 'v', { spec }),
  })
}

test('PersistentVolumeClaims are charged for storage, in total and for their storage class', async () => {
  const gold = 'gold.storageclass.storage.k8s.io/requests.storage'
  const world = new ResourceQuotaFixture(quota('q', { 'requests.storage': '5Gi', [gold]: '1Gi' }))
  assert.equal(await world.outcome(claim('2Gi', 'iron')), 'fine')
  assert.match(
    await world.outcome(claim('2Gi', 'gold')),
    /requested: gold.*=2Gi, used: gold.*=0, limited: gold.*=1Gi$/,
  )
  assert.deepEqual(await world.used(), [{ 'requests.storage': '2Gi', [gold]: '0' }])
})

test('a quota without usage in its status rejects all writes that it limits', async () => {
  const world = new ResourceQuotaFixture(
    quota('q', { configmaps: '5', secrets: '5' }, { used: { secrets: '0' } }),
  )
  assert.equal(
    await world.outcome(configMap()),
    'status unknown for quota: q, resources: configmaps',
  )
})

test('a fraction of a byte of storage is charged as a whole byte', async () => {
  const world = new ResourceQuotaFixture(quota('q', { 'requests.storage': '5' }))
  assert.equal(await world.outcome(claim('1500m', 'iron')), 'fine')
  assert.deepEqual(await world.used(), [{ 'requests.storage': '2' }])
})

test('Events, and objects that are not stored, are not counted', async () => {
  const world = new ResourceQuotaFixture(quota('q', { 'count/events': '0', 'count/bindings': '0' }))
  assert.equal(
    await world.outcome(attributes({ plural: 'events', object: anObject('Event', 'e') })),
    'fine',
  )
  assert.equal(
    await world.outcome(attributes({ plural: 'bindings', object: anObject('Binding', 'b') })),
    'fine',
  )
})

const toldBy = async (plugin: Plugin): Promise<string> => {
  const admitted = await admit(plugin, configMap())
  return typeof admitted === 'string' ? admitted : 'fine'
}

const anything = { group: '', plural: '', matchContains: [], matchScopes: [] }

test('a write to a resource that the configuration limits requires a quota for this resource', async () => {
  const limitedResources = [{ ...anything, plural: 'configmaps', matchContains: ['configmaps'] }]
  const world = new ResourceQuotaFixture()
  const limited = createResourceQuota(world.objects, world.quotas, {
    ...environment,
    limitedResources,
  })
  const refused =
    '403 configmaps "c" is forbidden: insufficient quota to consume: configmaps,count/configmaps'
  assert.equal(await admit(limited, configMap()), refused)
  assert.notEqual(typeof (await admit(limited, service({}))), 'string')
  world.objects.put('resourcequotas', 'n', quota('q', { configmaps: '1' }))
  assert.match(await toldBy(limited), /insufficient quota to consume: count\/configmaps$/)
  world.objects.put('resourcequotas', 'n', quota('r', { 'count/configmaps': '1' }))
  assert.notEqual(typeof (await admit(limited, configMap())), 'string')
  assert.match(await toldBy(limited), /exceeded quota: q/)
})

const ofClass = (priorityClassName: string) =>
  attributes({ plural: 'pods', object: pod({ priorityClassName }) })

test('a write in a scope that the configuration limits requires a quota with this scope', async () => {
  const matchScopes = [
    { name: 'PriorityClass', operator: 'In', values: ['a', 'b'] },
    { name: 'PriorityClass', operator: 'Unknown', values: [] },
  ]
  const world = new ResourceQuotaFixture(quota('q', { pods: '0' }, { scopes: ['BestEffort'] }))
  const limitedResources = [{ ...anything, plural: 'services', matchScopes }]
  const limited = createResourceQuota(world.objects, world.quotas, {
    ...environment,
    limitedResources,
  })
  const refused = '500 insufficient quota to match these scopes: [{PriorityClass In [a b]}]'
  assert.equal(await admit(limited, ofClass('a')), refused)
  assert.notEqual(typeof (await admit(limited, ofClass('c'))), 'string')
})

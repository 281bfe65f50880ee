import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admit, anObject, attributes, pod } from '../../test/support/harness/admission.ts'
import { turnsDuring } from '../../test/support/harness/turns.ts'
import { defaultGates } from '../api/gates.ts'
import type { Fields } from '../api/object.ts'
import { createLimitRanger } from './limit-ranger.ts'

const withLimits = (...limits: Fields[]) =>
  createLimitRanger(async () => [anObject('LimitRange', 'l', { spec: { limits } })], defaultGates)

const demanding = (resources: Fields) => pod({ containers: [{ name: 'c', resources }] })
const create = (limit: Fields, resources: Fields) =>
  admit(withLimits(limit), attributes({ plural: 'pods', object: demanding(resources) }))

test('the default requests and limits of a container are set and listed in an annotation', async () => {
  const limit = {
    type: 'Container',
    default: { cpu: '2', memory: '1Gi' },
    defaultRequest: { cpu: '1' },
  }
  const admitted = await create(limit, { limits: { cpu: '3' }, requests: { cpu: '3' } })
  assert.ok(typeof admitted === 'object')
  assert.deepEqual(admitted['spec'], {
    containers: [
      { name: 'c', resources: { limits: { cpu: '3', memory: '1Gi' }, requests: { cpu: '3' } } },
    ],
  })
  assert.deepEqual(admitted.metadata.annotations, {
    'kubernetes.io/limit-ranger': 'LimitRanger plugin set: memory limit for container c',
  })
})

const refusals: readonly (readonly [string, Fields, Fields, string])[] = [
  [
    'a request below the minimum',
    { min: { cpu: '200m' } },
    { requests: { cpu: '100m' } },
    'minimum cpu usage per Container is 200m, but request is 100m',
  ],
  [
    'a limit above the maximum',
    { max: { cpu: '1' } },
    { limits: { cpu: '2' } },
    'maximum cpu usage per Container is 1, but limit is 2',
  ],
  [
    'no limit where a maximum is set',
    { max: { cpu: '1' } },
    {},
    'maximum cpu usage per Container is 1.  No limit is specified',
  ],
  [
    'a ratio above the maximum',
    { maxLimitRequestRatio: { cpu: '1500m' } },
    { limits: { cpu: '2' }, requests: { cpu: '1' } },
    'cpu max limit to request ratio per Container is 1500m, but provided ratio is 2.000000',
  ],
  [
    'no request where a ratio is set',
    { maxLimitRequestRatio: { cpu: '2' } },
    {},
    'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
  ],
  [
    'two violations at once',
    { max: { cpu: '1', memory: '1Gi' } },
    { limits: { cpu: '2', memory: '2Gi' } },
    '[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi]',
  ],
]
for (const [about, limit, resources, why] of refusals) {
  test(`a pod is rejected for ${about}`, async () => {
    assert.equal(
      await create({ type: 'Container', ...limit }, resources),
      `403 pods "p" is forbidden: ${why}`,
    )
  })
}

const container = (name: string, cpu: string, more: Fields = {}) => ({
  name,
  resources: { limits: { cpu } },
  ...more,
})
const refusal = (cpu: string) =>
  `403 pods "p" is forbidden: maximum cpu usage per Pod is 1, but limit is ${cpu}`

test('the requests and limits of containers that run at the same time are summed', async () => {
  const limit = { type: 'Pod', max: { cpu: '1' } }
  const tryPod = (spec: Fields) =>
    admit(withLimits(limit), attributes({ plural: 'pods', object: pod(spec) }))
  const containers = [container('a', '500m'), container('b', '500m')]
  assert.equal(typeof (await tryPod({ containers })), 'object')
  assert.equal(
    typeof (await tryPod({ containers, initContainers: [container('i', '1')] })),
    'object',
  )
  assert.equal(await tryPod({ containers, initContainers: [container('i', '2')] }), refusal('2'))
  const sidecar = container('s', '100m', { restartPolicy: 'Always' })
  assert.equal(await tryPod({ containers, initContainers: [sidecar] }), refusal('1100m'))
})

test('pods are checked when they are created or resized, and PersistentVolumeClaims are checked on every write', async () => {
  const plugin = withLimits(
    { type: 'Container', max: { cpu: '1' } },
    { type: 'PersistentVolumeClaim', max: { storage: '1Gi' } },
  )
  const object = demanding({ limits: { cpu: '2' } })
  const change = { plural: 'pods', operation: 'UPDATE', object, oldObject: object } as const
  assert.equal(await admit(plugin, attributes(change)), object)
  assert.equal(
    await admit(plugin, attributes({ ...change, subresource: 'resize' })),
    tooMuch('pods "p"', 'cpu', 'Container is 1, but limit is 2'),
  )
  const claim = anObject('PersistentVolumeClaim', 'v', {
    spec: { resources: { requests: { storage: '2Gi' } } },
  })
  const grow = {
    plural: 'persistentvolumeclaims',
    operation: 'UPDATE',
    object: claim,
    oldObject: claim,
  } as const
  assert.equal(
    await admit(plugin, attributes(grow)),
    tooMuch(
      'persistentvolumeclaims "v"',
      'storage',
      'PersistentVolumeClaim is 1Gi, but request is 2Gi',
    ),
  )
})

const tooMuch = (who: string, what: string, rest: string) =>
  `403 ${who} is forbidden: maximum ${what} usage per ${rest}`

test('a pod is rejected if it would be too large to store after its defaults are set', async () => {
  const defaults = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`r${at}`, '1']))
  const containers = Array.from({ length: 201 }, (_, at) => ({ name: `c${at}` }))
  const limits = withLimits({ type: 'Container', default: defaults })
  const refused = await admit(limits, attributes({ plural: 'pods', object: pod({ containers }) }))
  assert.ok(typeof refused === 'string')
  assert.match(refused, /limit ranges set too many defaults: 1000 in each of 201 containers$/)
})

test('many limits are checked for many containers without blocking the event loop, and the number of reported violations is limited', async () => {
  const max = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`r${at}`, '1']))
  const containers = Array.from({ length: 300 }, (_, at) => ({
    name: `c${at}`,
    resources: { limits: { r1: `${at}` } },
  }))
  const limits = withLimits(...Array.from({ length: 20 }, () => ({ type: 'Container', max })))
  const turns = await turnsDuring(async () => {
    const refused = await admit(limits, attributes({ plural: 'pods', object: pod({ containers }) }))
    assert.ok(typeof refused === 'string')
  })
  assert.ok(turns >= 3, `${turns} turns`)
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`r${at}`, '1']))
  const bounds = Array.from({ length: 60 }, (_, at) => ({
    type: 'Container',
    max: Object.fromEntries(Object.keys(many).map((name) => [name, `${at + 1}`])),
  }))
  const reported = await admit(
    withLimits(...bounds),
    attributes({ plural: 'pods', object: demanding({}) }),
  )
  assert.ok(typeof reported === 'string')
  assert.equal(reported.split(', ').length, 10_000)
})

const cpuRange = (name: string, cpu: string) =>
  anObject('LimitRange', name, { spec: { limits: [{ type: 'Container', max: { cpu } }] } })

test('only the violations of the first LimitRange that rejects the pod are reported', async () => {
  const plugin = createLimitRanger(
    async () => [cpuRange('a', '2'), cpuRange('b', '1')],
    defaultGates,
  )
  const reported = (cpu: string) =>
    admit(plugin, attributes({ plural: 'pods', object: demanding({ limits: { cpu } }) }))
  const refused = '403 pods "p" is forbidden: maximum cpu usage per Container is'
  assert.equal(await reported('3'), `${refused} 2, but limit is 3`)
  assert.equal(await reported('1500m'), `${refused} 1, but limit is 1500m`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  admit,
  anObject,
  attributes,
  MemoryObjects,
  pod,
  specOf,
} from '../../test/support/harness/admission.ts'
import { defaultGates } from '../api/gates.ts'
import type { Fields } from '../api/object.ts'
import { alwaysAdmit } from './always-admit.ts'
import { alwaysDeny } from './always-deny.ts'
import { createDefaultIngressClass } from './default-ingress-class.ts'
import { createDefaultTolerationSeconds } from './default-toleration-seconds.ts'
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts'
import { createDefaultStorageClass, createPersistentVolumeClaimResize } from './storage-class.ts'
import { createStorageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'

const storageObjectInUseProtection = createStorageObjectInUseProtection(defaultGates)

test('TaintNodesByCondition adds the not-ready taint to a new node only once', async () => {
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
  for (const spec of [{}, { taints: [taint] }]) {
    const object = anObject('Node', 'x', { spec })
    assert.deepEqual(
      specOf(await admit(taintNodesByCondition, attributes({ plural: 'nodes', object }))),
      {
        taints: [taint],
      },
    )
  }
})

const tolerating = async (...tolerations: Fields[]): Promise<unknown> => {
  const object = anObject('Pod', 'p', { spec: { tolerations } })
  return specOf(
    await admit(
      createDefaultTolerationSeconds({ notReady: 300, unreachable: 300 }),
      attributes({ plural: 'pods', object }),
    ),
  )
}

test('DefaultTolerationSeconds adds tolerations for five minutes, unless the pod has its own toleration', async () => {
  const usual = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }
  const [notReady, unreachable] = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
  assert.deepEqual(await tolerating(), {
    tolerations: [
      { key: notReady, ...usual },
      { key: unreachable, ...usual },
    ],
  })
  const anyKey = { operator: 'Exists' }
  assert.deepEqual(await tolerating(anyKey), { tolerations: [anyKey] })
  const ofValue = { key: notReady, operator: 'Equal', value: 'x' }
  assert.deepEqual(await tolerating(ofValue), {
    tolerations: [ofValue, { key: unreachable, ...usual }],
  })
})

const finalizersOf = async (
  finalizers: string[],
  operation: 'CREATE' | 'UPDATE' = 'CREATE',
): Promise<unknown> => {
  const object = anObject('PersistentVolumeClaim', 'v', { metadata: { finalizers } })
  const admitted = await admit(
    storageObjectInUseProtection,
    attributes({ plural: 'persistentvolumeclaims', operation, object }),
  )
  return typeof admitted === 'object' ? admitted.metadata.finalizers : admitted
}

test('StorageObjectInUseProtection adds its finalizer to a new claim only once', async () => {
  assert.deepEqual(await finalizersOf(['x']), ['x', 'kubernetes.io/pvc-protection'])
  assert.deepEqual(await finalizersOf(['kubernetes.io/pvc-protection']), [
    'kubernetes.io/pvc-protection',
  ])
  assert.deepEqual(await finalizersOf([], 'UPDATE'), [])
})

const marked = (kind: string, name: string, made: string) => {
  const annotations = { [`${kind.toLowerCase()}.kubernetes.io/is-default-class`]: 'true' }
  return anObject(kind, name, { metadata: { annotations, creationTimestamp: made } })
}

test('DefaultStorageClass sets the newest default class on claims without a class', async () => {
  const objects = new MemoryObjects()
  objects.put('storageclasses', '', marked('StorageClass', 'old', '2020-01-01T00:00:00Z'))
  objects.put('storageclasses', '', marked('StorageClass', 'new-b', '2021-01-01T00:00:00Z'))
  objects.put('storageclasses', '', marked('StorageClass', 'new-a', '2021-01-01T00:00:00Z'))
  const create = async (spec: Fields, annotations: Fields = {}): Promise<unknown> => {
    const object = anObject('PersistentVolumeClaim', 'v', { spec, metadata: { annotations } })
    return specOf(
      await admit(
        createDefaultStorageClass(objects),
        attributes({ plural: 'persistentvolumeclaims', object }),
      ),
    )
  }
  assert.deepEqual(await create({}), { storageClassName: 'new-a' })
  assert.deepEqual(await create({ storageClassName: '' }), { storageClassName: '' })
  assert.deepEqual(await create({}, { 'volume.beta.kubernetes.io/storage-class': 'x' }), {})
})

const claim = (storage: string, storageClassName: string, phase: string) =>
  anObject('PersistentVolumeClaim', 'v', {
    spec: { storageClassName, resources: { requests: { storage } } },
    status: { phase },
  })

test('PersistentVolumeClaimResize allows expansion only of bound claims whose class allows it', async () => {
  const objects = new MemoryObjects()
  objects.put('storageclasses', '', anObject('StorageClass', 'fixed'))
  objects.put(
    'storageclasses',
    '',
    anObject('StorageClass', 'grows', { allowVolumeExpansion: true }),
  )
  const resize = async (to: string, className: string, phase = 'Bound'): Promise<string> => {
    const [object, oldObject] = [claim(to, className, phase), claim('1Gi', className, phase)]
    const write = attributes({
      plural: 'persistentvolumeclaims',
      operation: 'UPDATE',
      object,
      oldObject,
    })
    const admitted = await admit(createPersistentVolumeClaimResize(objects), write)
    return typeof admitted === 'string' ? admitted : 'fine'
  }
  assert.equal(await resize('2Gi', 'grows'), 'fine')
  assert.equal(await resize('1Gi', 'fixed'), 'fine')
  assert.match(await resize('2Gi', 'fixed'), /must support resize$/)
  assert.match(await resize('2Gi', 'gone'), /must support resize$/)
  assert.match(
    await resize('2Gi', 'grows', 'Pending'),
    /Only bound persistent volume claims can be expanded$/,
  )
})

test('DefaultIngressClass sets the default class, unless the field or the old annotation specifies a class', async () => {
  const objects = new MemoryObjects()
  objects.put('ingressclasses', '', marked('IngressClass', 'usual', '2020-01-01T00:00:00Z'))
  const create = async (spec: Fields, annotations: Fields = {}): Promise<unknown> => {
    const object = anObject('Ingress', 'i', { spec, metadata: { annotations } })
    const write = attributes({ plural: 'ingresses', group: 'networking.k8s.io', object })
    return specOf(await admit(createDefaultIngressClass(objects), write))
  }
  assert.deepEqual(await create({}), { ingressClassName: 'usual' })
  assert.deepEqual(await create({ ingressClassName: 'x' }), { ingressClassName: 'x' })
  assert.deepEqual(await create({}, { 'kubernetes.io/ingress.class': 'x' }), {})
})

test('the built-in plugins do not change objects of kinds that they do not handle', async () => {
  const object = pod()
  const write = attributes({
    plural: 'pods',
    operation: 'UPDATE',
    subresource: 'status',
    object,
    oldObject: object,
  })
  for (const plugin of [
    taintNodesByCondition,
    createDefaultTolerationSeconds({ notReady: 300, unreachable: 300 }),
    storageObjectInUseProtection,
  ]) {
    assert.equal(await admit(plugin, write), object)
  }
})

test('AlwaysAdmit does not change the object, and AlwaysDeny rejects every request', async () => {
  const object = pod()
  for (const operation of ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const) {
    const write = attributes({ plural: 'pods', operation, object })
    assert.equal(await admit(alwaysAdmit, write), object)
    assert.equal(
      await admit(alwaysDeny, write),
      '403 pods "p" is forbidden: admission control is denying all modifications',
    )
  }
})

const place = (...keys: string[]) => {
  const requiredDuringSchedulingIgnoredDuringExecution = keys.map((topologyKey) => ({
    topologyKey,
  }))
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution } }
  return admit(
    limitPodHardAntiAffinityTopology,
    attributes({ plural: 'pods', object: pod({ affinity }) }),
  )
}

test('LimitPodHardAntiAffinityTopology allows required anti-affinity only with the node as topology', async () => {
  assert.equal(typeof (await place('kubernetes.io/hostname')), 'object')
  assert.equal(
    await place('kubernetes.io/hostname', 'rack', 'zone'),
    '403 pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey rack but only key kubernetes.io/hostname is allowed',
  )
})

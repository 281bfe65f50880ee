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
import type { Fields } from '../api/object.ts'
import { createRuntimeClass } from './runtime-class.ts'

const create = (runtimeClass: Fields, spec: Fields) => {
  const objects = new MemoryObjects()
  objects.put('runtimeclasses', '', anObject('RuntimeClass', 'r', runtimeClass))
  const object = anObject('Pod', 'p', { spec })
  return admit(createRuntimeClass(objects), attributes({ plural: 'pods', object }))
}
const run = { runtimeClassName: 'r' }
const refused = (why: string) => `403 pods "p" is forbidden: ${why}`

test('a pod gets the overhead of its RuntimeClass', async () => {
  const fixed = { overhead: { podFixed: { cpu: '100m' } } }
  assert.deepEqual(specOf(await create(fixed, run)), { ...run, overhead: { cpu: '100m' } })
  assert.deepEqual(specOf(await create(fixed, { ...run, overhead: { cpu: '0.1' } })), {
    ...run,
    overhead: { cpu: '100m' },
  })
  const differs = refused(
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
  )
  assert.equal(await create(fixed, { ...run, overhead: { cpu: '2' } }), differs)
  const without = refused(
    'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  )
  assert.equal(await create({}, { ...run, overhead: { cpu: '2' } }), without)
  assert.equal(await create({}, { overhead: { cpu: '2' } }), without)
  assert.equal(await create({}, { overhead: {} }), without)
  assert.deepEqual(specOf(await create(fixed, { ...run, overhead: {} })), {
    ...run,
    overhead: { cpu: '100m' },
  })
})

test('a pod that names a missing RuntimeClass is rejected', async () => {
  assert.equal(await create({}, { runtimeClassName: '' }), '500 resource name may not be empty')
  assert.equal(
    await create({}, { runtimeClassName: 'x' }),
    refused('pod rejected: RuntimeClass "x" not found'),
  )
  assert.equal(
    typeof (await admit(
      createRuntimeClass(new MemoryObjects()),
      attributes({ plural: 'pods', operation: 'UPDATE', object: pod(run) }),
    )),
    'object',
  )
})

test('a pod gets the scheduling constraints of its RuntimeClass', async () => {
  const scheduling = { nodeSelector: { a: 'b' }, tolerations: [{ key: 'k', operator: 'Exists' }] }
  const own = {
    nodeSelector: { c: 'd' },
    tolerations: [
      { key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' },
      { key: 'm', operator: 'Exists' },
    ],
  }
  assert.deepEqual(specOf(await create({ scheduling }, { ...run, ...own })), {
    ...run,
    nodeSelector: { c: 'd', a: 'b' },
    tolerations: [
      { key: 'm', operator: 'Exists' },
      { key: 'k', operator: 'Exists' },
    ],
  })
  assert.equal(
    await create({ scheduling }, { ...run, nodeSelector: { a: 'c' } }),
    refused('conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c'),
  )
})

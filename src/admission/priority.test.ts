import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  admit,
  anObject,
  attributes,
  MemoryObjects,
  pod,
} from '../../test/support/harness/admission.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import { createPriority } from './priority.ts'

const objects = new MemoryObjects()
objects.put(
  'priorityclasses',
  '',
  anObject('PriorityClass', 'high', { value: 1000, preemptionPolicy: 'Never' }),
)
const plugin = createPriority(objects)
const create = (spec: Fields) => admit(plugin, attributes({ plural: 'pods', object: pod(spec) }))

const priorityOf = (admitted: KubeObject | undefined | string): unknown => {
  if (typeof admitted !== 'object') return admitted
  const { priority, preemptionPolicy, priorityClassName } = Object(admitted['spec'])
  return [priorityClassName, priority, preemptionPolicy]
}

test('a pod without a priority class gets priority 0 if there is no default class', async () => {
  assert.deepEqual(priorityOf(await create({})), [undefined, 0, 'PreemptLowerPriority'])
})

test('a pod gets the priority of its priority class', async () => {
  assert.deepEqual(priorityOf(await create({ priorityClassName: 'high' })), ['high', 1000, 'Never'])
  assert.equal(
    await create({ priorityClassName: 'none' }),
    '403 pods "p" is forbidden: no PriorityClass with name none was found',
  )
})

test('a priority that a pod specifies must equal the priority of its class', async () => {
  const why =
    'must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name'
  assert.equal(
    await create({ priority: 7 }),
    `403 pods "p" is forbidden: the integer value of priority (7) ${why}`,
  )
  assert.deepEqual(priorityOf(await create({ priority: 0 })), [
    undefined,
    0,
    'PreemptLowerPriority',
  ])
})

test('an update of a pod keeps the stored priority, even if the priority class no longer exists', async () => {
  const oldObject = pod({ priorityClassName: 'gone', priority: 5, preemptionPolicy: 'Never' })
  const object = pod({ priorityClassName: 'gone' })
  const updated = await admit(
    plugin,
    attributes({ plural: 'pods', operation: 'UPDATE', object, oldObject }),
  )
  assert.deepEqual(priorityOf(updated), ['gone', 5, 'Never'])
})

test('only one priority class can be the default', async () => {
  const world = new MemoryObjects()
  world.put(
    'priorityclasses',
    '',
    anObject('PriorityClass', 'usual', { value: 3, globalDefault: true }),
  )
  const write = (name: string, operation: 'CREATE' | 'UPDATE') =>
    admit(
      createPriority(world),
      attributes({
        plural: 'priorityclasses',
        group: 'scheduling.k8s.io',
        operation,
        object: anObject('PriorityClass', name, { value: 1, globalDefault: true }),
      }),
    )
  assert.equal(
    await write('other', 'CREATE'),
    '403 priorityclasses.scheduling.k8s.io "other" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
  )
  assert.equal(typeof (await write('usual', 'UPDATE')), 'object')
  assert.deepEqual(
    priorityOf(await admit(createPriority(world), attributes({ plural: 'pods', object: pod() }))),
    ['usual', 3, 'PreemptLowerPriority'],
  )
})

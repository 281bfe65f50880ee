import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  admit,
  anObject,
  attributes,
  MemoryObjects,
  pod,
} from '../../test/support/harness/admission.ts'
import { defaultGates } from '../api/gates.ts'
import { type Fields, fieldsOf, type Json, type KubeObject } from '../api/object.ts'
import {
  noPodTolerations,
  type PodTolerations,
} from '../config/files/pod-toleration-restriction.ts'
import type { Attributes } from './admission.ts'
import { createPodTolerationRestriction } from './pod-toleration-restriction.ts'

type TolerationCase = {
  readonly defaults?: string
  readonly whitelist?: string
  readonly configuration?: PodTolerations
}

const create = (tolerations: readonly Fields[], spec: Fields = {}): Attributes =>
  attributes({ plural: 'pods', object: pod({ tolerations, ...spec }) })

/** Writes a pod and returns its tolerations, or the error. */
async function tolerated(given: TolerationCase, write: Attributes): Promise<Json | undefined> {
  const { defaults, whitelist, configuration = noPodTolerations } = given
  const annotations = {
    ...(defaults === undefined
      ? {}
      : { 'scheduler.alpha.kubernetes.io/defaultTolerations': defaults }),
    ...(whitelist === undefined
      ? {}
      : { 'scheduler.alpha.kubernetes.io/tolerationsWhitelist': whitelist }),
  }
  const objects = new MemoryObjects()
  objects.put('namespaces', '', anObject('Namespace', 'n', { metadata: { annotations } }))
  const plugin = createPodTolerationRestriction({ objects, configuration, gates: defaultGates })
  const admitted: KubeObject | string | undefined = await admit(plugin, write)
  return typeof admitted === 'string' ? admitted : fieldsOf(admitted?.['spec'])['tolerations']
}

const exists = (key: string): Fields => ({ key, operator: 'Exists' })
const printed = (...tolerations: readonly Fields[]): string => JSON.stringify(tolerations)
const conflict = (scope: string): string =>
  `500 pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`

test('the default tolerations of the namespace replace those of the configuration', async () => {
  const configuration = { defaults: [exists('c')], whitelist: [] }
  assert.deepEqual(await tolerated({ configuration }, create([exists('a')])), [
    exists('a'),
    exists('c'),
  ])
  const own = { defaults: printed(exists('d')), configuration }
  assert.deepEqual(await tolerated(own, create([exists('a')])), [exists('a'), exists('d')])
  assert.deepEqual(await tolerated({ defaults: '', configuration }, create([exists('a')])), [
    exists('a'),
  ])
})

test('a toleration for memory pressure is added to a pod that is not best-effort', async () => {
  const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }]
  const pressure = {
    key: 'node.kubernetes.io/memory-pressure',
    operator: 'Exists',
    effect: 'NoSchedule',
  }
  assert.deepEqual(await tolerated({}, create([], { containers })), [pressure])
})

test('tolerations that the whitelist does not allow are rejected', async () => {
  const configuration = { defaults: [], whitelist: [exists('c')] }
  assert.deepEqual(await tolerated({ configuration }, create([exists('c')])), [exists('c')])
  assert.equal(await tolerated({ configuration }, create([exists('d')])), conflict('cluster'))
  const whitelist = printed(
    { key: 'e', operator: 'Equal', value: 'v' },
    { key: 'f', operator: 'Other' },
  )
  assert.equal(
    await tolerated({ whitelist, configuration }, create([exists('c')])),
    conflict('namespace'),
  )
  assert.equal(
    await tolerated({ whitelist }, create([{ key: 'f', operator: 'Equal' }])),
    conflict('namespace'),
  )
  const equal = { key: 'e', operator: 'Equal', value: 'v', effect: 'NoSchedule' }
  assert.deepEqual(await tolerated({ whitelist }, create([equal])), [equal])
  assert.deepEqual(await tolerated({ whitelist: '', configuration }, create([exists('x')])), [
    exists('x'),
  ])
})

test('the tolerations of an updated pod are checked, but default tolerations are not added', async () => {
  const object = pod({ tolerations: [exists('a')] })
  const update = attributes({ plural: 'pods', operation: 'UPDATE', object, oldObject: object })
  assert.deepEqual(await tolerated({ defaults: printed(exists('d')) }, update), [exists('a')])
  assert.equal(await tolerated({ whitelist: printed(exists('d')) }, update), conflict('namespace'))
})

test('every pod is rejected if the annotation of the namespace cannot be decoded', async () => {
  const write = create([exists('a')])
  assert.equal(
    await tolerated({ defaults: 'x' }, write),
    "500 invalid character 'x' looking for beginning of value",
  )
  assert.equal(
    await tolerated({ whitelist: '{}' }, write),
    '500 json: cannot unmarshal object into Go value of type []v1.Toleration',
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  admit,
  anObject,
  attributes,
  MemoryObjects,
  pod,
} from '../../test/support/harness/admission.ts'
import type { Fields } from '../api/object.ts'
import { createNodeDeclaredFeatures } from './node-declared-features.ts'

const objects = new MemoryObjects()
const status = { declaredFeatures: ['GuaranteedQoSPodCPUResize'] }
objects.put('nodes', '', { ...anObject('Node', 'able', {}), status })
objects.put('nodes', '', anObject('Node', 'old', {}))

const withProcessors = (cpu: string, nodeName: string, generation: number, more: Fields = {}) => {
  const given = pod({
    nodeName,
    containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }],
    ...more,
  })
  const metadata = { ...given.metadata, generation }
  return { ...given, metadata, status: { qosClass: 'Guaranteed' } }
}

async function resized(nodeName: string, isOn: boolean, more: Fields = {}): Promise<unknown> {
  const plugin = createNodeDeclaredFeatures(objects, { isOn: () => isOn })
  const object = withProcessors('2', nodeName, 2, more)
  const oldObject = withProcessors('1', nodeName, 1)
  const update = { operation: 'UPDATE', plural: 'pods', object, oldObject } as const
  const admitted = await admit(plugin, attributes(update))
  return typeof admitted === 'string' ? admitted.replace(/^.*? is forbidden: /, '') : ''
}

const lacking = (features: string, node: string): string =>
  `pod update requires features ${features} which are not available on node "${node}"`

test('an update of a Pod needs features of its node with the gate NodeDeclaredFeatures', async () => {
  assert.equal(await resized('old', false), '')
  assert.equal(await resized('able', true), '')
  assert.equal(await resized('', true), '')
  assert.equal(await resized('old', true), lacking('GuaranteedQoSPodCPUResize', 'old'))
  assert.equal(await resized('none', true), 'node "none" not found')
  assert.equal(
    await resized('able', true, { resources: { requests: { cpu: '2' } } }),
    lacking('InPlacePodLevelResourcesVerticalScaling', 'able'),
  )
})

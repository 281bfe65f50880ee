import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  admit,
  anObject,
  attributes,
  MemoryObjects,
  pod,
} from '../../test/support/harness/admission.ts'
import { createPodTopologyLabels } from './pod-topology-labels.ts'

const objects = new MemoryObjects()
const labels = {
  'topology.k8s.io/zone': 'old',
  'topology.kubernetes.io/zone': 'z',
  'topology.kubernetes.io/other': 'o',
}
objects.put('nodes', '', anObject('Node', 'n', { metadata: { labels } }))

const labelsOf = async (release: number) => {
  const plugin = createPodTopologyLabels(objects, { release })
  const object = pod({ nodeName: 'n' })
  const admitted = await admit(plugin, attributes({ plural: 'pods', object }))
  return typeof admitted === 'string' ? admitted : admitted?.metadata.labels
}

test('a Pod gets the zone of its node, since 1.34 from the labels that nodes have', async () => {
  assert.deepEqual(await labelsOf(33), { 'topology.k8s.io/zone': 'old' })
  assert.deepEqual(await labelsOf(34), { 'topology.kubernetes.io/zone': 'z' })
})

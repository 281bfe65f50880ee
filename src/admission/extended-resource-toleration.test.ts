import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admit, attributes, pod } from '../../test/support/harness/admission.ts'
import { type Fields, fieldsOf } from '../api/object.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'

const requesting = (...names: string[]): Fields => ({
  name: 'c',
  resources: { requests: Object.fromEntries(names.map((name) => [name, '1'])) },
})

const tolerations = async (spec: Fields): Promise<unknown> => {
  const admitted = await admit(
    extendedResourceToleration,
    attributes({ plural: 'pods', object: pod(spec) }),
  )
  return typeof admitted === 'string' ? admitted : fieldsOf(admitted?.['spec'])['tolerations']
}

const gpu = { key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' }
const nic = { ...gpu, key: 'example.com/nic' }

test('a pod tolerates the taints of its extended resources, and the tolerations are in the order of the resource names', async () => {
  const containers = [requesting('example.com/nic', 'cpu', 'kubernetes.io/x', 'hugepages-2Mi')]
  const initContainers = [requesting('example.com/gpu', 'example.com/nic')]
  assert.deepEqual(await tolerations({ containers, initContainers }), [gpu, nic])
  assert.equal(await tolerations({ containers: [requesting('cpu')] }), undefined)
})

test('an existing toleration for the same taint is replaced in place by one without tolerationSeconds, and other tolerations are kept', async () => {
  const others = [{ operator: 'Exists' }, { ...gpu, effect: 'NoExecute' }, { ...gpu, value: 'x' }]
  const containers = [requesting('example.com/gpu')]
  assert.deepEqual(await tolerations({ containers, tolerations: others }), [...others, gpu])
  const given = [{ ...gpu, tolerationSeconds: 5 }, nic, gpu]
  assert.deepEqual(await tolerations({ containers, tolerations: given }), [gpu, nic, gpu])
})

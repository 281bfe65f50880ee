import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaleView } from './scale.ts'

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'x', namespace: 'n', uid: 'u', resourceVersion: '7', labels: { l: 'v' } },
  spec: { replicas: 2, selector: { matchLabels: { app: 'a' } }, paused: true },
  status: { replicas: 1 },
}
const view = scaleView(33)

test('a Scale has the replicas, the selector and the identity of the scaled object', () => {
  assert.deepEqual(view.show(deployment), {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'x', namespace: 'n', uid: 'u', resourceVersion: '7' },
    spec: { replicas: 2 },
    status: { replicas: 1, selector: 'app=a' },
  })
})

test('the selector of a scaled object can be a plain map of labels, as in older kinds', () => {
  const { status } = view.show({ ...deployment, spec: { selector: { b: '2', a: '1' } } })
  assert.deepEqual(status, { replicas: 1, selector: 'a=1,b=2' })
})

test('a write of a Scale changes only the replicas and the resourceVersion', () => {
  const scale = {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'x', labels: {} },
    spec: { replicas: 5 },
  }
  const { resourceVersion: _, ...metadata } = deployment.metadata
  assert.deepEqual(view.change(deployment, scale), {
    ...deployment,
    metadata,
    spec: { ...deployment.spec, replicas: 5 },
  })
  const versioned = view.change(deployment, {
    ...scale,
    metadata: { name: 'x', resourceVersion: '3' },
  })
  assert.equal(versioned.metadata.resourceVersion, '3')
})

test('a negative replica count of a Scale is refused', () => {
  const scale = {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {},
    spec: { replicas: -1 },
  }
  assert.deepEqual(
    view.validate(scale).map(({ path }) => path),
    ['spec.replicas'],
  )
  assert.deepEqual(view.validate({ ...scale, spec: {} }), [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admit, attributes, pod, specOf } from '../../test/support/harness/admission.ts'
import { ApiError } from '../api/errors.ts'
import type { Fields } from '../api/object.ts'
import { alwaysPullImages } from './always-pull-images.ts'

const container = (name: string, more: Fields = {}): Fields => ({ name, image: 'i:1', ...more })
const never = { imagePullPolicy: 'Never' }
const always = { imagePullPolicy: 'Always' }

test('AlwaysPullImages sets the pull policy Always for all containers and image volumes of a new pod', async () => {
  const object = pod({
    initContainers: [container('i')],
    containers: [container('c', never), container('d')],
    volumes: [
      { name: 'v', image: { reference: 'r', pullPolicy: 'Never' } },
      { name: 'w', emptyDir: {} },
    ],
  })
  assert.deepEqual(specOf(await admit(alwaysPullImages, attributes({ plural: 'pods', object }))), {
    initContainers: [container('i', always)],
    containers: [container('c', always), container('d', always)],
    volumes: [
      { name: 'v', image: { reference: 'r', pullPolicy: 'Always' } },
      { name: 'w', emptyDir: {} },
    ],
  })
})

test('AlwaysPullImages changes an update only if it adds a new image, and never changes a subresource', async () => {
  const oldObject = pod({ containers: [container('c'), container('d', { image: 'i:2' })] })
  const update = (spec: Fields, subresource = '') =>
    admit(alwaysPullImages, {
      ...attributes({ plural: 'pods', object: pod(spec), oldObject, operation: 'UPDATE' }),
      subresource,
    })
  const [same, other] = [
    [container('c', { image: 'i:2', ...never })],
    [container('c', { image: 'i:3', ...never })],
  ]
  assert.deepEqual(specOf(await update({ containers: same })), { containers: same })
  assert.deepEqual(specOf(await update({ containers: other })), {
    containers: [container('c', { image: 'i:3', ...always })],
  })
  assert.deepEqual(specOf(await update({ containers: other }, 'ephemeralcontainers')), {
    containers: other,
  })
})

const refusal = (at: number): string =>
  `pods "p" is forbidden: spec.containers[${at}].imagePullPolicy: Unsupported value: "Never": supported values: "Always"`

test('a pull policy that a webhook changed after AlwaysPullImages ran is rejected, and the Status has no reason', async () => {
  const object = pod({
    containers: [container('c', never), container('d', always), container('e', never)],
  })
  const validate = async () => alwaysPullImages.validate?.(attributes({ plural: 'pods', object }))
  await assert.rejects(validate, (error) => {
    assert.ok(error instanceof ApiError)
    assert.deepEqual(
      [error.code, error.reason, error.message],
      [500, undefined, `[${refusal(0)}, ${refusal(2)}]`],
    )
    return true
  })
})

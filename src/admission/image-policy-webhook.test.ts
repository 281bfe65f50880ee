import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admit, attributes, pod } from '../../test/support/harness/admission.ts'
import type { Fields } from '../api/object.ts'
import { silent } from '../lib/telemetry/log.ts'
import { systemTime } from '../lib/time/timers.ts'
import { CallError } from '../net/outbound/call-error.ts'
import type { Attributes } from './admission.ts'
import { createImagePolicyWebhook, type ImagePolicyOptions } from './image-policy-webhook.ts'

type Answer = Fields | CallError

const usual = { allowTtlMs: 60_000, denyTtlMs: 0, retryBackoffMs: 0, defaultAllow: false }

class ImagePolicyFixture {
  readonly bodies: string[] = []
  readonly #plugin

  constructor(
    answers: readonly Answer[],
    configuration: Partial<ImagePolicyOptions['configuration']> = {},
  ) {
    const left = [...answers]
    const post = async (body: string): Promise<string> => {
      this.bodies.push(body)
      const answer = left.shift()
      if (answer instanceof Error) throw answer
      return JSON.stringify({ status: answer })
    }
    const merged = { ...usual, ...configuration }
    const time = systemTime
    this.#plugin = createImagePolicyWebhook({
      release: 33,
      configuration: merged,
      client: { post },
      time,
      random: () => 0,
      log: silent,
    })
  }

  async outcome(write: Attributes = create()): Promise<string> {
    const admitted = await admit(this.#plugin, write)
    return typeof admitted === 'string' ? admitted : 'fine'
  }
}

const create = (spec: Fields = {}, metadata: Fields = {}): Attributes =>
  attributes({ plural: 'pods', object: pod(spec, metadata) })
const denied =
  '403 pods "p" is forbidden: image policy webhook backend denied one or more images: r'
const failed = new CallError('Post "x": EOF', 'other')
const answered = (status: number): CallError =>
  new CallError('said', 'answered', { answer: { status, retryAfterSec: 0 } })

test('the image policy webhook receives the images of a pod, and only annotations whose keys contain image-policy.k8s.io', async () => {
  const world = new ImagePolicyFixture([{ allowed: true }])
  const annotations = { 'a.image-policy.k8s.io/b': '1', other: '2' }
  await world.outcome(create({ initContainers: [{ name: 'i', image: 'j' }] }, { annotations }))
  assert.deepEqual(JSON.parse(world.bodies[0] ?? ''), {
    kind: 'ImageReview',
    apiVersion: 'imagepolicy.k8s.io/v1alpha1',
    metadata: { creationTimestamp: null },
    spec: {
      containers: [{ image: 'i' }, { image: 'j' }],
      annotations: { 'a.image-policy.k8s.io/b': '1' },
      namespace: 'n',
    },
    status: { allowed: false },
  })
})

test('responses of the image policy webhook are cached for the configured time', async () => {
  const world = new ImagePolicyFixture([{ allowed: true }, { reason: 'r' }, { reason: 'r' }])
  assert.deepEqual([await world.outcome(), await world.outcome()], ['fine', 'fine'])
  const other = create({ containers: [{ name: 'c', image: 'other' }] })
  assert.deepEqual([await world.outcome(other), await world.outcome(other)], [denied, denied])
  assert.equal(world.bodies.length, 3)
})

test('a pod is rejected if the webhook cannot be called, unless defaultAllow is set', async () => {
  assert.equal(
    await new ImagePolicyFixture([failed]).outcome(),
    '403 pods "p" is forbidden: Post "x": EOF',
  )
  assert.equal(await new ImagePolicyFixture([answered(403)]).outcome(), '403 said')
  assert.equal(
    await new ImagePolicyFixture([{ allowed: 'yes' }]).outcome(),
    `403 pods "p" is forbidden: ${notABool}`,
  )
  const write = create()
  assert.equal(
    await new ImagePolicyFixture([failed], { defaultAllow: true }).outcome(write),
    'fine',
  )
  assert.equal(
    write.context.ownAnnotations?.get('imagepolicywebhook.image-policy.k8s.io/failed-open'),
    'true',
  )
  assert.equal(
    await new ImagePolicyFixture([{ reason: 'r' }], { defaultAllow: true }).outcome(),
    denied,
  )
})

const notABool =
  'json: cannot unmarshal string into Go struct field ImageReviewStatus.status.allowed of type bool'

test('a pod is rejected if a limit of this server ends the call of the image policy webhook', async () => {
  const busy = new CallError('busy', 'busy')
  assert.match(
    await new ImagePolicyFixture([busy], { defaultAllow: true }).outcome(),
    /^429 too many images/,
  )
  const tooLarge = new CallError('the response is too large', 'too-large')
  const reported = await new ImagePolicyFixture([tooLarge], { defaultAllow: true }).outcome()
  assert.equal(reported, '403 pods "p" is forbidden: the response is too large')
})

test('failed calls of the image policy webhook are retried', async () => {
  const world = new ImagePolicyFixture([answered(500), answered(500), { allowed: true }])
  assert.equal(await world.outcome(), 'fine')
  assert.equal(world.bodies.length, 3)
})

test('audit annotations in a webhook response are recorded if their keys are valid', async () => {
  const write = create()
  await new ImagePolicyFixture([
    { allowed: true, auditAnnotations: { a: 'b', 'c/d': 'e', '': 'f' } },
  ]).outcome(write)
  assert.deepEqual(
    [...(write.context.ownAnnotations ?? [])],
    [['imagepolicywebhook.image-policy.k8s.io/a', 'b']],
  )
})

test('the image policy webhook reviews only pods and their ephemeral containers', async () => {
  const world = new ImagePolicyFixture([{ allowed: true }])
  const object = pod({ ephemeralContainers: [{ name: 'e', image: 'debug' }] })
  const update = { plural: 'pods', operation: 'UPDATE', object, oldObject: object } as const
  await world.outcome(attributes({ ...update, subresource: 'status' }))
  await world.outcome(attributes({ plural: 'pods', operation: 'DELETE', oldObject: object }))
  assert.equal(world.bodies.length, 0)
  await world.outcome(attributes({ ...update, subresource: 'ephemeralcontainers' }))
  assert.match(world.bodies[0] ?? '', /"containers":\[\{"image":"debug"\}\]/)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admit, anObject, attributes } from '../../test/support/harness/admission.ts'
import { heldBytes, partOfMegabyte } from '../../test/support/harness/held-bytes.ts'
import type { Fields } from '../api/object.ts'
import type { EventLimit } from '../config/files/event-rate-limit.ts'
import type { Attributes } from './admission.ts'
import { createEventRateLimit } from './event-rate-limit.ts'

const event = (fields: Fields = {}, more: Partial<Attributes> = {}): Attributes =>
  attributes({ plural: 'events', object: anObject('Event', 'e', fields), ...more })

class EventRateLimitFixture {
  nowMs = 0
  readonly #plugin

  constructor(...limits: readonly Partial<EventLimit>[]) {
    const all = limits.map(
      (limit): EventLimit => ({ type: 'Server', perSecond: 1, burst: 1, bucketsMax: 2, ...limit }),
    )
    this.#plugin = createEventRateLimit(all, { monotonicMs: () => this.nowMs })
  }

  async outcome(write: Attributes): Promise<string> {
    const admitted = await admit(this.#plugin, write)
    return typeof admitted === 'string' ? admitted : 'fine'
  }
}

test('a token bucket for Events allows a burst and then refills at its rate', async () => {
  const world = new EventRateLimitFixture({ burst: 2 })
  assert.equal(await world.outcome(event()), 'fine')
  assert.equal(await world.outcome(event()), 'fine')
  assert.equal(
    await world.outcome(event()),
    '429 Too many requests: limit reached on type Server for key ',
  )
  world.nowMs = 1000
  assert.equal(await world.outcome(event()), 'fine')
  assert.notEqual(await world.outcome(event()), 'fine')
})

test('dry runs and deletes of Events do not consume tokens of the rate limit', async () => {
  const world = new EventRateLimitFixture({})
  for (let count = 0; count < 3; count++)
    assert.equal(await world.outcome(event({}, { isDryRun: true })), 'fine')
  for (let count = 0; count < 3; count++)
    assert.equal(await world.outcome(event({}, { operation: 'DELETE' })), 'fine')
  assert.equal(await world.outcome(event({}, { operation: 'UPDATE' })), 'fine')
  assert.notEqual(await world.outcome(event({}, { operation: 'UPDATE' })), 'fine')
})

test('namespaces, users, sources and objects have separate token buckets', async () => {
  const namespaces = new EventRateLimitFixture({ type: 'Namespace' })
  assert.equal(await namespaces.outcome(event({}, { namespace: 'a' })), 'fine')
  assert.equal(await namespaces.outcome(event({}, { namespace: 'b' })), 'fine')
  assert.match(await namespaces.outcome(event({}, { namespace: 'a' })), /type Namespace for key a$/)
  const objects = new EventRateLimitFixture({ type: 'SourceAndObject' })
  const source = { source: { component: 'c', host: 'h' } }
  const about = (name: string): Fields => ({
    ...source,
    involvedObject: { kind: 'Pod', name, apiVersion: 'v1' },
  })
  assert.equal(await objects.outcome(event(about('a'))), 'fine')
  assert.equal(await objects.outcome(event(about('b'))), 'fine')
  assert.match(await objects.outcome(event(about('b'))), /type SourceAndObject for key chPodbv1$/)
})

test('the error for a rejected Event names every limit that is exceeded', async () => {
  const world = new EventRateLimitFixture(
    { type: 'User' },
    { type: 'Server', burst: 5 },
    { type: 'Namespace' },
  )
  await world.outcome(event())
  const reached =
    '[limit reached on type User for key u, limit reached on type Namespace for key n]'
  assert.equal(await world.outcome(event()), `429 Too many requests: ${reached}`)
})

test('when there are too many token buckets, the least recently used bucket is dropped', async () => {
  const world = new EventRateLimitFixture({ type: 'Namespace', bucketsMax: 2 })
  const long = 'a'.repeat(100_000)
  for (const namespace of [long, 'b', long, 'c']) await world.outcome(event({}, { namespace }))
  assert.equal(await world.outcome(event({}, { namespace: 'b' })), 'fine')
  assert.equal(await world.outcome(event({}, { namespace: long })), 'fine')
  assert.notEqual(await world.outcome(event({}, { namespace: long })), 'fine')
})

test('a token bucket does not retain the path of a request in memory', async () => {
  const world = new EventRateLimitFixture({ type: 'Namespace', bucketsMax: 100 })
  const held = await heldBytes(async () => {
    for (let at = 0; at < 100; at++) {
      await world.outcome(event({}, { namespace: partOfMegabyte(`namespace-of-event-${at % 50}`) }))
    }
  })
  assert.ok(held < 10 << 20, `${held} bytes are held`)
})

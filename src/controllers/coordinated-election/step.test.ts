import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes, partOfMegabyte } from '../../../test/support/harness/held-bytes.ts'
import type { Fields } from '../../api/object.ts'
import { type Candidate, candidateOf, type LeaseReference, placeOf } from './candidate.ts'
import { microTime } from '../../api/timestamps.ts'
import { nextStep } from './step.ts'

const nowMs = Date.parse('2026-01-01T12:00:00.000Z')
const ago = (seconds: number): string => microTime(nowMs - 1000 * seconds)

const candidate = (name: string, spec: Fields = {}): Candidate =>
  candidateOf({
    apiVersion: 'coordination.k8s.io/v1beta1',
    kind: 'LeaseCandidate',
    metadata: { name, namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      leaseName: 'leader',
      strategy: 'OldestEmulationVersion',
      emulationVersion: '1.20.0',
      binaryVersion: '1.20.0',
      renewTime: ago(1),
      ...spec,
    },
  })

const held = (holderIdentity: string, over: Fields = {}): Fields => ({
  holderIdentity,
  strategy: 'OldestEmulationVersion',
  leaseDurationSeconds: 5,
  renewTime: ago(1),
  ...over,
})

test('the candidate with the oldest emulation version, then the oldest binary, becomes the holder', () => {
  const older = { emulationVersion: '1.19.0' }
  const step = nextStep(
    [candidate('a'), candidate('b', older), candidate('c', { ...older, binaryVersion: '1.19.0' })],
    undefined,
    nowMs,
  )
  assert.deepEqual(step, {
    kind: 'write',
    spec: {
      strategy: 'OldestEmulationVersion',
      leaseDurationSeconds: 5,
      renewTime: ago(0),
      holderIdentity: 'c',
    },
  })
})

test('a Lease is not changed if it has the best holder or the candidates have an unknown strategy', () => {
  assert.deepEqual(nextStep([candidate('a')], held('a'), nowMs), { kind: 'settled' })
  const foreign = candidate('a', { strategy: 'example.com/own' })
  assert.deepEqual(nextStep([foreign], held('z'), nowMs), { kind: 'settled' })
  assert.deepEqual(nextStep([], undefined, nowMs), { kind: 'settled' })
})

test('if the strategy is unknown, the Lease is created without a holder', () => {
  const step = nextStep([candidate('a', { strategy: 'example.com/own' })], undefined, nowMs)
  assert.deepEqual(step, {
    kind: 'write',
    spec: { strategy: 'example.com/own', leaseDurationSeconds: 5, renewTime: ago(0) },
  })
})

test('among equal candidates, the current holder stays; without a holder, the first by name is chosen', () => {
  for (const names of [
    ['a', 'b', 'c'],
    ['c', 'b', 'a'],
  ]) {
    const candidates = names.map((name) => candidate(name))
    assert.deepEqual(nextStep(candidates, held('b'), nowMs), { kind: 'settled' })
    const step = nextStep(candidates, undefined, nowMs)
    assert.equal(step.kind === 'write' && step.spec['holderIdentity'], 'a')
  }
})

test('a better candidate is recorded once as the preferred holder while the Lease is renewed', () => {
  const candidates = [candidate('a'), candidate('b', { emulationVersion: '1.19.0' })]
  const step = nextStep(candidates, held('a'), nowMs)
  assert.deepEqual(step, { kind: 'write', spec: held('a', { preferredHolder: 'b' }) })
  assert.deepEqual(nextStep(candidates, held('a', { preferredHolder: 'b' }), nowMs), {
    kind: 'settled',
  })
})

test('an expired or released Lease gets a new holder', () => {
  const spec = held('b', { renewTime: ago(0) })
  const expired = held('a', { renewTime: ago(60), acquireTime: ago(90), preferredHolder: 'b' })
  assert.deepEqual(nextStep([candidate('b')], expired, nowMs), { kind: 'write', spec })
  assert.deepEqual(nextStep([candidate('b')], held(''), nowMs), { kind: 'write', spec })
})

test('candidates that have not renewed recently are pinged, awaited, and then ignored', () => {
  const silent = candidate('a', { emulationVersion: '1.19.0', renewTime: ago(60) })
  const step = nextStep([silent, candidate('b')], undefined, nowMs)
  assert.ok(step.kind === 'ping')
  assert.deepEqual(
    step.candidates.map(({ name }) => name),
    ['a'],
  )
  const asked = candidate('a', { emulationVersion: '1.19.0', renewTime: ago(60), pingTime: ago(2) })
  assert.deepEqual(nextStep([asked, candidate('b')], undefined, nowMs), { kind: 'wait' })
  const late = candidate('a', { emulationVersion: '1.19.0', renewTime: ago(60), pingTime: ago(6) })
  const written = nextStep([late, candidate('b')], undefined, nowMs)
  assert.ok(written.kind === 'write')
  assert.equal(written.spec['holderIdentity'], 'b')
})

test('no candidate is chosen while the candidates with the newest binary disagree on the strategy', () => {
  const other = candidate('b', { strategy: 'example.com/own' })
  assert.deepEqual(nextStep([candidate('a'), other], undefined, nowMs), { kind: 'wait' })
  const newer = candidate('c', { strategy: 'example.com/own', binaryVersion: '1.21.0' })
  assert.equal(nextStep([candidate('a'), other, newer], undefined, nowMs).kind, 'write')
})

test('the Lease reference of a candidate does not retain the text of the object in memory', async () => {
  const places: LeaseReference[] = []
  const bytes = await heldBytes(() => {
    for (let at = 0; at < 50; at++) {
      const metadata = { name: `${at}`, namespace: partOfMegabyte(`a-long-namespace-${at}`) }
      const spec = { leaseName: partOfMegabyte(`a-long-lease-name-${at}`) }
      places.push(
        placeOf({
          apiVersion: 'coordination.k8s.io/v1beta1',
          kind: 'LeaseCandidate',
          metadata,
          spec,
        }),
      )
    }
  })
  assert.deepEqual(places[1], { namespace: 'a-long-namespace-1', leaseName: 'a-long-lease-name-1' })
  assert.ok(bytes < 10 << 20, `${bytes} bytes are held`)
})

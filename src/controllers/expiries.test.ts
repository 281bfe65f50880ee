import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../api/object.ts'
import { expiryOf as jobExpiryOf } from './ttl-after-finished.ts'
import { expiryOf as tokenExpiryOf } from './token-cleaner.ts'
import { usesClaim } from './volume-protection.ts'

const finishedMs = Date.parse('2001-02-03T04:05:06Z')
const finished = { type: 'Complete', status: 'True', lastTransitionTime: '2001-02-03T04:05:06Z' }

const ofJob = (ttlSecondsAfterFinished: number | undefined, ...conditions: readonly Fields[]) =>
  jobExpiryOf({ spec: { ttlSecondsAfterFinished }, status: { conditions } })

test('a finished Job with a TTL expires when the TTL has passed', () => {
  assert.equal(ofJob(10, finished), finishedMs + 10_000)
  assert.equal(ofJob(0, { ...finished, type: 'Failed' }), finishedMs)
  assert.equal(ofJob(undefined, finished), undefined)
  assert.equal(ofJob(10, { ...finished, status: 'False' }), undefined)
  assert.equal(ofJob(10, { ...finished, type: 'Suspended' }), undefined)
  assert.equal(ofJob(10), undefined)
})

const ofToken = (expiration: string, type = 'bootstrap.kubernetes.io/token') =>
  tokenExpiryOf({ type, data: { expiration: Buffer.from(expiration).toString('base64') } })

test('a bootstrap token expires at its expiration time, and a token with a malformed expiration time counts as expired', () => {
  assert.equal(ofToken('2001-02-03T04:05:06Z'), finishedMs)
  assert.equal(ofToken('soon'), 0)
  assert.equal(ofToken(''), undefined)
  assert.equal(ofToken('2001-02-03T04:05:06Z', 'Opaque'), undefined)
})

const claim = (metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'c', ...metadata },
})
const pod = (
  volume: Fields,
  spec: Fields = { nodeName: 'n' },
  metadata: Fields = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', uid: 'u', ...metadata },
  spec: { volumes: [volume], ...spec },
})

test('a PersistentVolumeClaim is in use if a scheduled pod names it or is its owner', () => {
  const named = { name: 'v', persistentVolumeClaim: { claimName: 'c' } }
  assert.ok(usesClaim(pod(named), claim()))
  assert.ok(!usesClaim(pod(named, {}), claim()))
  assert.ok(!usesClaim(pod({ name: 'v', persistentVolumeClaim: { claimName: 'd' } }), claim()))
  const ephemeral = { name: 'v', ephemeral: {} }
  const owned = claim({ name: 'p-v', ownerReferences: [{ uid: 'u', controller: true }] })
  assert.ok(usesClaim(pod(ephemeral), owned))
  assert.ok(!usesClaim(pod(ephemeral), claim({ name: 'p-v' })))
  const shutDown = { deletionTimestamp: '2001-02-03T04:05:06Z', deletionGracePeriodSeconds: 0 }
  assert.ok(!usesClaim(pod(ephemeral, undefined, shutDown), owned))
  assert.ok(usesClaim(pod(named, undefined, shutDown), claim()))
})

import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { createSelfSigned } from '../../lib/x509/certificates.ts'
import { bits, context, integer, objectId, pem, sequence, set, text } from '../../lib/x509/der.ts'
import { recognize, refusedMs } from './approve.ts'
import { endOf } from './clean.ts'

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const part = (id: readonly number[], value: string): Buffer =>
  set(sequence(objectId(id), text(value)))

function requestOf(commonName: string, ...organizations: readonly string[]): string {
  const subject = sequence(
    ...organizations.map((one) => part([2, 5, 4, 10], one)),
    part([2, 5, 4, 3], commonName),
  )
  const key = publicKey.export({ type: 'spki', format: 'der' })
  const info = sequence(integer(Buffer.from([0])), subject, key, context(0, Buffer.alloc(0)))
  const algorithm = sequence(objectId([1, 2, 840, 10045, 4, 3, 2]))
  const whole = sequence(info, algorithm, bits(sign('sha256', info, privateKey)))
  return Buffer.from(pem('CERTIFICATE REQUEST', whole)).toString('base64')
}

const client = ['digital signature', 'client auth']

function recognized(
  request: string,
  usages: readonly string[] = client,
  username = 'somebody',
): string[] {
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'C',
    metadata: {},
    spec: { request, usages, username },
  }
  return recognize(object).map(({ subresource }) => subresource)
}

test('only CSRs for client certificates of nodes are recognized as node CSRs', () => {
  const node = requestOf('system:node:n', 'system:nodes')
  assert.deepEqual(recognized(node), ['nodeclient'])
  assert.deepEqual(recognized(node, [...client, 'key encipherment']), ['nodeclient'])
  assert.deepEqual(recognized(node, client, 'system:node:n'), ['selfnodeclient', 'nodeclient'])
  assert.deepEqual(recognized(node, [...client, 'server auth']), [])
  assert.deepEqual(recognized(node, ['client auth']), [])
  assert.deepEqual(recognized(requestOf('system:node:n', 'system:nodes', 'system:masters')), [])
  assert.deepEqual(recognized(requestOf('system:node:n')), [])
  assert.deepEqual(recognized(requestOf('somebody', 'system:nodes')), [])
  assert.deepEqual(recognized('bm9uc2Vuc2U='), [])
})

test('a CSR whose requester lacks permission is checked again with increasing delays', () => {
  const metadata = { creationTimestamp: '2001-02-03T04:05:06Z' }
  const wait = (ageMs: number): number =>
    refusedMs({ apiVersion: 'v1', kind: 'C', metadata }, startMs + ageMs)
  assert.deepEqual(
    [-5_000, 0, 1_000, 60_000, 24 * HOUR_MS].map(wait),
    [200, 200, 1_000, 60_000, 1_000_000],
  )
  assert.equal(refusedMs({ apiVersion: 'v1', kind: 'C', metadata: {} }, startMs), 1_000_000)
})

const HOUR_MS = 3_600_000
const startMs = Date.parse('2001-02-03T04:05:06Z')

function end(type: string | undefined, certificate?: string): number {
  const conditions: Fields[] =
    type === undefined ? [] : [{ type, lastUpdateTime: '2001-02-03T04:05:06Z' }]
  const metadata = { creationTimestamp: '2001-02-03T04:05:06Z' }
  return (
    (endOf({ apiVersion: 'v1', kind: 'C', metadata, status: { conditions, certificate } }) -
      startMs) /
    HOUR_MS
  )
}

test('a CSR is deleted an hour after its decision, or a day after its creation if it is not decided', () => {
  assert.deepEqual(
    ['Denied', 'Failed', undefined].map((type) => end(type)),
    [1, 1, 24],
  )
  assert.equal(end('Approved'), Infinity)
  assert.equal(end('Approved', Buffer.from('nonsense').toString('base64')), 1)
  const old = createSelfSigned('x', [], startMs - 20 * 365 * 24 * HOUR_MS).certificatePem
  assert.ok(end('Approved', Buffer.from(old).toString('base64')) < 0)
})

test('the deletion time can be computed for a CSR with more conditions than a JavaScript call can have arguments', () => {
  const conditions = Array.from({ length: 200_000 }, () => ({
    type: 'Denied',
    lastUpdateTime: '2001-02-03T04:05:06Z',
  }))
  assert.equal(
    endOf({ apiVersion: 'v1', kind: 'C', metadata: {}, status: { conditions } }),
    startMs + HOUR_MS,
  )
})

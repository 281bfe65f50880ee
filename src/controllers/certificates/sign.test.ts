import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { AlternativeNames, WholeRequest } from '../../lib/x509/request.ts'
import { decided, validityOf } from './sign.ts'
import { faultOf } from './signer-rules.ts'
import { usagesOf } from './usages.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const none: AlternativeNames = { dns: [], emails: [], addresses: [], uris: [] }
const requestOf = (
  commonName: string,
  organizations: readonly string[],
  names = {},
): WholeRequest => ({
  commonName,
  organizations,
  subject: [],
  names: { ...none, ...names },
  publicKey,
})
const node = (names = {}): WholeRequest => requestOf('system:node:n', ['system:nodes'], names)

test('each signer applies the rules of kube-controller-manager, with its error messages', () => {
  const client = ['digital signature', 'key encipherment', 'client auth']
  const server = ['digital signature', 'server auth']
  const dns = ['n']
  const kubelet = (request: WholeRequest, usages = client) =>
    faultOf('kubernetes.io/kube-apiserver-client-kubelet', request, usages)
  assert.equal(kubelet(node()), undefined)
  assert.equal(kubelet(node(), client.slice(0, 1).concat('client auth')), undefined)
  assert.equal(kubelet(requestOf('system:node:n', [])), 'subject organization is not system:nodes')
  assert.equal(kubelet(node({ dns })), 'DNS subjectAltNames are not allowed')
  assert.equal(
    kubelet(node({ addresses: [Buffer.alloc(4)] })),
    'IP subjectAltNames are not allowed',
  )
  const unnamed = 'subject common name does not begin with system:node:'
  assert.equal(kubelet(requestOf('n', ['system:nodes'])), unnamed)
  assert.equal(
    kubelet(node(), server),
    'usages did not match [client auth digital signature key encipherment]',
  )
  const serving = (request: WholeRequest, usages = server) =>
    faultOf('kubernetes.io/kubelet-serving', request, usages)
  assert.equal(serving(node({ dns })), undefined)
  assert.equal(serving(node()), 'DNS or IP subjectAltName is required')
  assert.equal(serving(node({ dns, emails: ['a@b'] })), 'Email subjectAltNames are not allowed')
  assert.equal(serving(node({ dns, uris: ['a:b'] })), 'URI subjectAltNames are not allowed')
  const usages = 'usages did not match [digital signature key encipherment server auth]'
  assert.equal(serving(node({ dns }), client), usages)
  assert.equal(serving(requestOf('n', ['system:nodes'], { dns })), unnamed)
  const anybody = requestOf('jane', ['dev'])
  const user = (given: readonly string[]) =>
    faultOf('kubernetes.io/kube-apiserver-client', anybody, given)
  assert.equal(user(['client auth']), undefined)
  assert.equal(
    user(['digital signature']),
    'missing required usage for client certificate: client auth',
  )
  assert.equal(
    user(['client auth', 'server auth']),
    'invalid usage for client certificate: server auth',
  )
  assert.equal(faultOf('kubernetes.io/legacy-unknown', anybody, ['any']), undefined)
})

test('a CSR that cannot be parsed fails permanently', async () => {
  const spec = {
    request: 'bm9uc2Vuc2U=',
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['client auth'],
  }
  const object = {
    apiVersion: 'v1',
    kind: 'C',
    metadata: {},
    spec,
    status: { conditions: [{ type: 'Approved' }] },
  }
  const signers = { authorityOf: () => undefined, durationMs: HOUR_MS }
  const { status } = await decided(object, {
    signers,
    wallMs: () => 0,
    now: () => '2001-02-03T04:05:06Z',
  })
  const message = 'the request cannot be read: PEM block type must be CERTIFICATE REQUEST'
  const lastUpdateTime = '2001-02-03T04:05:06Z'
  const failed = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message,
    lastUpdateTime,
  }
  assert.deepEqual(status, { conditions: [{ type: 'Approved' }, failed] })
})

test('a certificate is backdated, and expires at the requested time, after the maximum lifetime, or with its CA, whichever is first', () => {
  const validity = (wantedMs: number | undefined, caMs = 1e12) => {
    const { notBeforeMs, notAfterMs } = validityOf({
      nowMs: 0,
      wantedMs,
      longestMs: 24 * HOUR_MS,
      notAfterMs: caMs,
    })
    return [notBeforeMs / MINUTE_MS, notAfterMs / MINUTE_MS]
  }
  assert.deepEqual(validity(undefined), [-5, 24 * 60 - 5])
  assert.deepEqual(validity(48 * HOUR_MS), [-5, 24 * 60 - 5])
  assert.deepEqual(validity(8 * HOUR_MS), [-5, 8 * 60 - 5])
  // For a lifetime of less than eight hours, only the start of the certificate is moved into the
  // past.
  assert.deepEqual(validity(HOUR_MS), [-5, 60])
  assert.deepEqual(validity(MINUTE_MS), [-5, 10])
  assert.deepEqual(validity(undefined, HOUR_MS), [-5, 60])
  assert.throws(() => validity(undefined, 0), /the signer has expired/)
})

test('usages are converted to the key usage bits and extended key usages of a certificate', () => {
  const { usageBits, extendedUsages } = usagesOf([
    'digital signature',
    'cert sign',
    's/mime',
    'server auth',
    'any',
  ])
  assert.equal(usageBits, 0b100001)
  assert.deepEqual(
    extendedUsages.map((id) => id.join('.')),
    ['2.5.29.37.0', '1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.4'],
  )
  assert.throws(() => usagesOf(['flying']), /unrecognized usage values: \["flying"\]/)
})

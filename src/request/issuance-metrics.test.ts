import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../api/object.ts'
import { IssuanceMetrics } from './issuance-metrics.ts'
import { Metrics } from '../lib/telemetry/metrics.ts'
import { createAuthority } from '../lib/x509/certificates.ts'

/** A certificate that is valid for ten years and a few days. */
const certificate = Buffer.from(createAuthority('any', Date.now()).certificatePem).toString(
  'base64',
)
const TEN_YEARS_SECONDS = 10 * 365 * 86_400

function requestOf(spec: Fields, issued: string): KubeObject {
  const status = issued === '' ? {} : { certificate: issued }
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: {},
    spec,
    status,
  }
}

function countedOf(spec: Fields, { before = '', after = certificate } = {}): string[] {
  const metrics = new Metrics()
  new IssuanceMetrics(metrics).count(requestOf(spec, after), requestOf(spec, before))
  return [
    ...metrics
      .print()
      .matchAll(
        /^apiserver_certificates_registry_csr_(\w+)_duration_total\{signerName="(.*)"\} 1$/gm,
      ),
  ].map(([, what, signer]) => `${what} ${signer}`)
}

test('an issued certificate is counted once, and only if its request specifies a duration', () => {
  const spec = { signerName: 'example.com/s', expirationSeconds: TEN_YEARS_SECONDS }
  assert.deepEqual(countedOf(spec), ['honored other', 'requested other'])
  assert.deepEqual(countedOf({ ...spec, signerName: 'kubernetes.io/s' }), [
    'honored kubernetes.io/s',
    'requested kubernetes.io/s',
  ])
  assert.deepEqual(countedOf(spec, { before: certificate }), [])
  assert.deepEqual(countedOf(spec, { after: '' }), [])
  assert.deepEqual(countedOf({ signerName: 'example.com/s' }), [])
})

test('a requested duration counts as honored if the actual duration differs by less than 5 % plus five minutes', () => {
  assert.deepEqual(
    countedOf({ signerName: 'a.b/c', expirationSeconds: TEN_YEARS_SECONDS * 1.04 }).length,
    2,
  )
  assert.deepEqual(
    countedOf({ signerName: 'a.b/c', expirationSeconds: TEN_YEARS_SECONDS * 1.06 }),
    ['requested other'],
  )
  assert.deepEqual(
    countedOf({ signerName: 'a.b/c', expirationSeconds: TEN_YEARS_SECONDS * 0.94 }),
    ['requested other'],
  )
})

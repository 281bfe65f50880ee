import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsDuring } from '../../../../test/support/harness/turns.ts'
import { clusterTrustBundleRules } from './cluster-trust-bundle.ts'

test('parsing thousands of certificates does not block the event loop', async () => {
  const blocks = Array.from({ length: 5_000 }, (_, at) => {
    const base64 = Buffer.from(`no certificate ${at}`).toString('base64')
    return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`
  })
  const bundle = {
    apiVersion: 'certificates.k8s.io/v1beta1',
    kind: 'ClusterTrustBundle',
    metadata: { name: 'b' },
    spec: { trustBundle: blocks.join('') },
  }
  const turns = await turnsDuring(async () => {
    const faults = (await clusterTrustBundleRules.validateInSlices?.(bundle, undefined)) ?? []
    assert.equal(faults.length, 5_000)
  })
  assert.ok(turns > 10, `${turns} turns`)
})

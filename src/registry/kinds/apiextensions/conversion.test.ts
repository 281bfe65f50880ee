import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../../../test/support/harness/turns.ts'
import { faultsOfRelease } from '../../release-faults.ts'
import { validateConversion } from './conversion.ts'

const messageFor = (caBundle: string, release: number): string => {
  const clientConfig = { url: 'https://example.com', caBundle }
  const conversion = {
    strategy: 'Webhook',
    webhookClientConfig: clientConfig,
    conversionReviewVersions: ['v1'],
  }
  const faults = validateConversion(conversion, { was: {}, isEstablished: true })
  return faultsOfRelease(faults, release)[0]?.message ?? ''
}

test('an error about an invalid CA bundle shows bytes in 1.33, and base64 since 1.34', () => {
  assert.match(messageFor('YWI=', 33), /^Invalid value: \[\]byte\{0x61, 0x62\}: unable to load/)
  assert.match(messageFor('YWI=', 34), /^Invalid value: "YWI=": unable to load/)
})

test('an error about an invalid CA bundle of megabytes takes a few milliseconds', () => {
  const bundle = Buffer.alloc(2 << 20, 'a').toString('base64')
  for (const release of [33, 34]) {
    const ms = cpuMsOf(() => void messageFor(bundle, release))
    assert.ok(ms < 250, `${ms} ms in 1.${release}`)
  }
})

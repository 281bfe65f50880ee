import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admit, anObject, attributes } from '../../test/support/harness/admission.ts'
import { denyServiceExternalIps } from './deny-service-external-ips.ts'

const service = (...externalIPs: string[]) => anObject('Service', 's', { spec: { externalIPs } })

const update = (before: string[], after: string[]) =>
  admit(
    denyServiceExternalIps,
    attributes({
      plural: 'services',
      operation: 'UPDATE',
      object: service(...after),
      oldObject: service(...before),
    }),
  )

const refused = '403 services "s" is forbidden: Use of external IPs is denied by admission control'

const create = (...ips: string[]) =>
  admit(denyServiceExternalIps, attributes({ plural: 'services', object: service(...ips) }))

test('DenyServiceExternalIPs rejects a new Service with an external IP', async () => {
  assert.equal(await create('192.0.2.1'), refused)
  assert.equal(typeof (await create()), 'object')
})

test('DenyServiceExternalIPs rejects new external IPs and allows existing ones', async () => {
  assert.equal(typeof (await update(['192.0.2.1', '192.0.2.2'], ['192.0.2.2'])), 'object')
  assert.equal(await update(['192.0.2.1'], ['192.0.2.1', '192.0.2.2']), refused)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGates } from '../../../api/gates.ts'
import type { KubeObject } from '../../../api/object.ts'
import { certificateSigningRequestRules } from './certificate-signing-request.ts'

const approved = { type: 'Approved', status: 'True', reason: 'Test' }
const failed = { type: 'Failed', status: 'True', reason: 'Test' }

const stored = (
  signerName: string,
  ...conditions: readonly { [name: string]: string }[]
): KubeObject => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'x' },
  spec: { request: 'bm9uc2Vuc2U=', signerName, usages: ['client auth'] },
  status: { conditions },
})

test('the Failed condition can be set on a stored CSR that cannot be parsed or has the legacy signer', () => {
  const { status, validate } = certificateSigningRequestRules
  for (const signer of ['example.org/a', 'kubernetes.io/legacy-unknown']) {
    const [object, current] = [stored(signer, approved, failed), stored(signer, approved)]
    assert.deepEqual(status?.validateUpdate?.(object, current, defaultGates), [])
  }
  const legacy = stored('kubernetes.io/legacy-unknown', approved)
  assert.equal(
    status?.validateUpdate?.(legacy, stored('example.org/a', approved), defaultGates)?.length,
    1,
  )
  assert.equal(validate?.(legacy, defaultGates)?.length, 2)
})

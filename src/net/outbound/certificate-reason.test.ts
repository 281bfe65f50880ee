import assert from 'node:assert/strict'
import { test } from 'node:test'
import { certificateReasonOf } from './certificate-reason.ts'

const code = 'ERR_TLS_CERT_ALTNAME_INVALID'

test("a certificate that is rejected is reported with Go's error messages", () => {
  const cases = [
    [{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'certificate signed by unknown authority'],
    [{ code: 'CERT_HAS_EXPIRED' }, 'certificate has expired or is not yet valid'],
    [
      { code, host: 'c', cert: { subjectaltname: 'DNS:a, IP Address:1.2.3.4, DNS:b' } },
      'certificate is valid for a, b, not c',
    ],
    [
      { code, host: '1.2.3.5', cert: { subjectaltname: 'DNS:a, IP Address:1.2.3.4' } },
      'certificate is valid for 1.2.3.4, not 1.2.3.5',
    ],
    [
      { code, host: '1.2.3.5', cert: { subjectaltname: 'DNS:a' } },
      "cannot validate certificate for 1.2.3.5 because it doesn't contain any IP SANs",
    ],
    [
      { code, host: 'c', cert: { subject: { CN: 'c' } } },
      'certificate relies on legacy Common Name field, use SANs instead',
    ],
    [
      { code, host: 'c', cert: { subject: { CN: 'd' } } },
      'certificate is not valid for any names, but wanted to match c',
    ],
  ] as const
  for (const [error, why] of cases) {
    assert.equal(certificateReasonOf(error), `tls: failed to verify certificate: x509: ${why}`)
  }
  assert.equal(certificateReasonOf({ code: 'ECONNRESET' }), undefined)
})

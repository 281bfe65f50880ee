/**
 * Describes why a server's certificate was rejected. The messages are those of Go's client, because
 * operators search for them.
 */
import { isIP } from 'node:net'

/**
 * An error of Node's TLS. `cert` and `host` are defined if the certificate is valid for other
 * names.
 */
export type CertificateError = {
  readonly code?: string
  readonly host?: string
  readonly cert?: { readonly subject?: { readonly CN?: unknown }; readonly subjectaltname?: string }
}

const untrusted: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  // The issuer has the name of a trusted CA but another key.
  'CERT_SIGNATURE_FAILURE',
])
const untimely: ReadonlySet<string> = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'])

/**
 * Returns the message for the error. Returns undefined if the error does not concern the
 * certificate.
 */
export function certificateReasonOf(error: CertificateError): string | undefined {
  const why = reasonOf(error)
  return why && `tls: failed to verify certificate: x509: ${why}`
}

function reasonOf({ code = '', host = '', cert = {} }: CertificateError): string | undefined {
  if (untrusted.has(code)) return 'certificate signed by unknown authority'
  // Go's message also contains the times, which Node does not provide.
  if (untimely.has(code)) return 'certificate has expired or is not yet valid'
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return undefined
  const { subjectaltname = '', subject } = cert
  const names = subjectaltname.split(', ')
  const of = (type: string): string[] =>
    names.flatMap((name) => (name.startsWith(type) ? [name.slice(type.length)] : []))
  const isAddress = isIP(host) !== 0
  const valid = of(isAddress ? 'IP Address:' : 'DNS:')
  if (valid.length > 0) return `certificate is valid for ${valid.join(', ')}, not ${host}`
  if (isAddress)
    return `cannot validate certificate for ${host} because it doesn't contain any IP SANs`
  if (subjectaltname === '' && subject?.CN === host)
    return 'certificate relies on legacy Common Name field, use SANs instead'
  return `certificate is not valid for any names, but wanted to match ${host}`
}

/**
 * Describes why a server's certificate was rejected. The messages are those of Go's client, because
 * operators search for them.
 */
import { isIP } from 'node:net'

/**
 * A TLS error of Node. If the certificate is valid for other names than the requested one, `host`
 * is the requested name and `cert` contains the others.
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
  // The issuer has the same name as a trusted CA, but another key.
  'CERT_SIGNATURE_FAILURE',
])
const untimely: ReadonlySet<string> = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'])

/** Returns Go's message for a certificate error. Returns undefined for all other errors. */
export function certificateReasonOf(error: CertificateError): string | undefined {
  const why = reasonOf(error)
  return why && `tls: failed to verify certificate: x509: ${why}`
}

function reasonOf({ code = '', host = '', cert = {} }: CertificateError): string | undefined {
  if (untrusted.has(code)) return 'certificate signed by unknown authority'
  // In Go, this message also contains the current time and the expiration time. Node does not
  // report them.
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

/**
 * Validates that a certificate and a private key belong together. Error messages are those of Go.
 */
import { createSecureContext } from 'node:tls'
import { quote } from '../../api/quote.ts'
import { messageOf } from '../../lib/errors.ts'
import { decodePem } from '../../lib/x509/pem.ts'

/**
 * Returns why a certificate and a key in PEM format cannot be used together, or undefined if they
 * match.
 */
export function pairFault(certificate: string, key: string): string | undefined {
  const missing = certificateMissing(certificate) ?? keyMissing(key)
  if (missing !== undefined) return `tls: ${missing}`
  try {
    createSecureContext({ cert: certificate, key })
    return undefined
  } catch (error) {
    const isOther = error instanceof Error && error.message.includes('key values mismatch')
    return `tls: ${isOther ? 'private key does not match public key' : messageOf(error)}`
  }
}

function certificateMissing(text: string): string | undefined {
  const labels = labelsOf(text)
  if (labels.includes('CERTIFICATE')) return undefined
  if (labels.length === 0) return 'failed to find any PEM data in certificate input'
  if (labels.length === 1 && labels[0]?.endsWith('PRIVATE KEY') === true) {
    return 'failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
  }
  return `failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${labels.join(' ')}]`
}

function keyMissing(text: string): string | undefined {
  const labels = labelsOf(text)
  if (labels.some((label) => label === 'PRIVATE KEY' || label.endsWith(' PRIVATE KEY')))
    return undefined
  if (labels.length === 0) return 'failed to find any PEM data in key input'
  if (labels.length === 1 && labels[0] === 'CERTIFICATE') {
    return 'found a certificate rather than a key in the PEM for the private key'
  }
  const wanted = quote('PRIVATE KEY')
  return `failed to find PEM block with type ending in ${wanted} in key input after skipping PEM blocks of the following types: [${labels.join(' ')}]`
}

const labelsOf = (text: string): string[] => decodePem(text).map(({ label }) => label)

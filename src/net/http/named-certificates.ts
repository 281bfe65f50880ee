/**
 * Selects a certificate by the host name that a client requests in its TLS handshake (SNI, RFC
 * 6066). A certificate is selected by the names that the flag --tls-sni-cert-key assigns to it. If
 * the flag assigns none, the names in the certificate itself are used.
 */
import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { Certificate } from '../../lib/x509/certificates.ts'
import { secureContext, type TlsChoice } from './tls-options.ts'

export type NamedCertificate = Certificate & {
  /**
   * Host names, or wildcards such as *.example.com. If the list is empty, the names in the
   * certificate are used.
   */
  readonly names: readonly string[]
}

/** Returns the TLS context for a host name, or undefined to use the default certificate. */
export type ContextFor = (asked: string) => SecureContext | undefined

/**
 * Returns a function that selects the TLS context for a host name. `choice` contains the default
 * certificate. Throws if a key does not match its certificate. If several certificates match a
 * name, the first one is used. As in kube-apiserver, a certificate with names from
 * --tls-sni-cert-key also matches the names inside it. Such a match is used only if no other
 * certificate matches, including the default one.
 */
export function contextsByName(
  certificates: readonly NamedCertificate[],
  choice: TlsChoice,
): ContextFor {
  const [explicit, own] = [new Map<string, SecureContext>(), new Map<string, SecureContext>()]
  const renamed: { readonly certificate: X509Certificate; readonly context: SecureContext }[] = []
  for (const { certificatePem, keyPem, names } of certificates) {
    const context = createSecureContext(secureContext({ ...choice, certificatePem, keyPem }))
    const byName = names.length > 0 ? explicit : own
    for (const name of names.length > 0 ? names : namesOf(certificatePem)) {
      if (!byName.has(name)) byName.set(name, context)
    }
    if (names.length > 0)
      renamed.push({ certificate: new X509Certificate(certificatePem), context })
  }
  const all = new Map([...own, ...explicit])
  if (renamed.length === 0) return (asked) => contextOf(all, asked)
  const main = new X509Certificate(choice.certificatePem)
  const ofRenamed: ContextFor = (asked) =>
    isFor(main, asked)
      ? undefined
      : renamed.find(({ certificate }) => isFor(certificate, asked))?.context
  return (asked) => contextOf(all, asked) ?? ofRenamed(asked)
}

const isFor = (certificate: X509Certificate, host: string): boolean =>
  certificate.checkHost(host, { subject: 'never', partialWildcards: false }) !== undefined

/**
 * Looks up a name. If there is no match, tries wildcards: the labels of the name are replaced by
 * `*` one after another, from left to right.
 */
function contextOf(
  contexts: ReadonlyMap<string, SecureContext>,
  asked: string,
): SecureContext | undefined {
  const labels = asked.toLowerCase().replace(/\.$/, '').split('.', LABELS_MAX)
  for (let stars = 0; stars <= labels.length; stars++) {
    const context = contexts.get(labels.fill('*', 0, stars).join('.'))
    if (context !== undefined) return context
  }
  return undefined
}

/** Maximum number of labels in a host name, which has at most 253 characters. */
const LABELS_MAX = 127

/**
 * Returns the common name, if it is a host name, and the DNS names. IP addresses are left out,
 * because SNI carries only host names.
 */
function namesOf(certificatePem: string): string[] {
  const { subject, subjectAltName = '' } = new X509Certificate(certificatePem)
  const common = /^CN=(.*)$/m.exec(subject)?.[1] ?? ''
  const named = [...subjectAltName.matchAll(/DNS:([^,\s"]+)/g)].map(([, name = '']) => name)
  return [...(isHost.test(common) ? [common] : []), ...named].map((name) => name.toLowerCase())
}

/** Matches host names but not IPv4 addresses: the last label of a host name is never a number. */
const isHost =
  /^(?:\*|(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)$/

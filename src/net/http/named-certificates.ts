/**
 * Certificates by the host name that a client asks for in its handshake (SNI, RFC 6066): those of
 * the flag, by the names that it gives them, or by their own.
 */
import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { Certificate } from '../../lib/x509/certificates.ts'
import { secureContext, type TlsChoice } from './tls-options.ts'

export type NamedCertificate = Certificate & {
  /** Host names, or *.name. None: those of the certificate. */
  readonly names: readonly string[]
}

/** Undefined: the server's own. */
export type ContextFor = (asked: string) => SecureContext | undefined

/**
 * `choice`: with the server's own certificate. Fails if a key is not that of its certificate. The
 * first certificate of a name counts. As upstream, one that the flag gives names is still chosen by
 * its own, where no other is, not even that of the server.
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

/** A name itself, then with its labels replaced by `*` from the left, one more each time. */
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

/** A name of 253 characters has no more. */
const LABELS_MAX = 127

/**
 * The common name, if it is that of a host, and the DNS names. Clients do not ask for addresses.
 */
function namesOf(certificatePem: string): string[] {
  const { subject, subjectAltName = '' } = new X509Certificate(certificatePem)
  const common = /^CN=(.*)$/m.exec(subject)?.[1] ?? ''
  const named = [...subjectAltName.matchAll(/DNS:([^,\s"]+)/g)].map(([, name = '']) => name)
  return [...(isHost.test(common) ? [common] : []), ...named].map((name) => name.toLowerCase())
}

/** Not an IPv4 address: the last label of a name is not a number. */
const isHost =
  /^(?:\*|(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)$/

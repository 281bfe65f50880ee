/**
 * The serving certificate in --cert-dir. If the files exist, they are read. Otherwise a certificate
 * and its CA are created. The file names are those of kube-apiserver.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import { isDiskFull, makeFolders, readIfThere } from '../../lib/process/files.ts'
import { type Certificate, createAuthority, issue } from '../../lib/x509/certificates.ts'

const ownNames = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
] as const

/**
 * Returns the serving certificate and the paths of its files. If the folder cannot be used, the
 * error message says how to fix this.
 */
export function loadOrCreateCertificate(
  folder: string,
  addresses: readonly string[],
  nowMs: number,
): {
  readonly certificatePath: string
  readonly keyPath: string
  readonly certificate: Certificate
} {
  const certificatePath = join(folder, 'apiserver.crt')
  const keyPath = join(folder, 'apiserver.key')
  try {
    const certificatePem = readIfThere(certificatePath)
    const keyPem = readIfThere(keyPath)
    if (certificatePem !== undefined && keyPem !== undefined) {
      return { certificatePath, keyPath, certificate: { certificatePem, keyPem } }
    }
    makeFolders(folder)
    const hosts = [...addresses, '127.0.0.1', '::1', ...ownNames]
    const created = createChain(hosts, nowMs)
    writeFileSync(keyPath, created.keyPem, { mode: 0o600 })
    writeFileSync(certificatePath, created.certificatePem)
    return { certificatePath, keyPath, certificate: created }
  } catch (cause) {
    const why = messageOf(cause)
    const advice = isDiskFull(cause)
      ? 'free space on its disk, or set --cert-dir to another folder'
      : 'set --cert-dir to a folder that this user can write to'
    throw new Error(`cannot read or create the certificate in ${folder} (${why}): ${advice}`, {
      cause,
    })
  }
}

/**
 * Creates a certificate and the CA that issues it, so that clients can use the file as a CA file.
 * The certificate is not its own CA, because clients that follow RFC 5280 strictly (rustls) refuse
 * a CA as a server certificate. The CA's key is discarded.
 */
function createChain(hosts: readonly string[], nowMs: number): Certificate {
  const authority = createAuthority(`keelson-ca@${Math.floor(nowMs / 1000)}`, nowMs)
  const { certificatePem, keyPem } = issue(authority, {
    commonName: 'keelson',
    usage: 'server',
    hosts,
    nowMs,
  })
  return { certificatePem: `${certificatePem}${authority.certificatePem}`, keyPem }
}

/**
 * The serving certificate in --cert-dir: read if it is there, else created, with a CA of its own.
 * File names are kube-apiserver's.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import { makeFolders, readIfThere } from '../../lib/process/files.ts'
import { type Certificate, createAuthority, issue } from '../../lib/x509/certificates.ts'

const ownNames = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
] as const

/** If the folder cannot be used, the error says what to do about it. */
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
    throw new Error(
      `the certificate in ${folder} can neither be read nor made (${why}): give a folder that this user can write to as --cert-dir`,
      { cause },
    )
  }
}

/**
 * The certificate and the CA that issued it, so that clients can use the file as a CA file. It is
 * not its own CA: clients that follow RFC 5280 strictly (rustls) refuse a CA as the certificate of
 * a server. Nobody keeps the CA's key.
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

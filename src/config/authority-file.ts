/** The CA bundle of a flag, with upstream's messages. */
import { parseCertificates } from '../lib/x509/trust-anchors.ts'
import { readFlagFile } from './flag-file.ts'

/** `purpose`: upstream's name of the bundle. Undefined if it cannot be used, which is reported. */
export function readAuthorityFile(
  faults: { readonly fault: (text: string) => void },
  purpose: 'client-ca-bundle' | 'request-header' | 'root-ca-file',
  path: string,
): string | undefined {
  const pem = readFlagFile(faults, path)
  if (pem === undefined) return undefined
  if (pem === '') {
    faults.fault(`missing content for CA bundle "${purpose}::${path}"`)
    return undefined
  }
  try {
    parseCertificates(pem)
    return pem
  } catch (error) {
    const isNone = error instanceof Error && error.message.startsWith('data does not contain')
    const why = isNone ? error.message : 'x509: malformed certificate'
    faults.fault(`error loading CA bundle for "${purpose}::${path}": ${why}`)
    return undefined
  }
}

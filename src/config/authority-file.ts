/** Reads the CA bundle that a flag names. Error messages are those of kube-apiserver. */
import { parseCertificates } from '../lib/x509/trust-anchors.ts'
import { readFlagFile } from './flag-file.ts'

/**
 * Returns the CA bundle. If the bundle cannot be used, reports an error and returns undefined.
 * `purpose` is the name of the bundle in kube-apiserver's messages.
 */
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

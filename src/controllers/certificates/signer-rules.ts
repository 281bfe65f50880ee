/**
 * The rules of the kubernetes.io signers for the CSRs that they sign, with the error messages of
 * kube-controller-manager.
 */
import type { CertificateRequest, WholeRequest } from '../../lib/x509/request.ts'

export const kubeletServing = 'kubernetes.io/kubelet-serving'
export const kubeletClient = 'kubernetes.io/kube-apiserver-client-kubelet'
const serverClient = 'kubernetes.io/kube-apiserver-client'

const nodePrefix = 'system:node:'
const organizationFault = 'subject organization is not system:nodes'
const nameFault = 'subject common name does not begin with system:node:'

/** Returns why the signer must not sign the CSR, or undefined if the CSR follows the rules. */
export function faultOf(
  signerName: string,
  request: WholeRequest,
  usages: readonly string[],
): string | undefined {
  if (signerName === kubeletServing) return servingFault(request, usages)
  if (signerName === kubeletClient) return clientFault(request, usages)
  // The signer kubernetes.io/legacy-unknown has no rules.
  return signerName === serverClient ? userFault(usages) : undefined
}

function servingFault(request: WholeRequest, usages: readonly string[]): string | undefined {
  const { dns, emails, addresses, uris } = request.names
  if (!isOfNodes(request)) return organizationFault
  if (dns.length === 0 && addresses.length === 0) return 'DNS or IP subjectAltName is required'
  if (emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (uris.length > 0) return 'URI subjectAltNames are not allowed'
  if (!isExactly(usages, 'server auth'))
    return usagesFault('digital signature key encipherment server auth')
  return request.commonName.startsWith(nodePrefix) ? undefined : nameFault
}

function clientFault(request: WholeRequest, usages: readonly string[]): string | undefined {
  const { dns, emails, addresses, uris } = request.names
  if (!isOfNodes(request)) return organizationFault
  if (dns.length > 0) return 'DNS subjectAltNames are not allowed'
  if (emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (addresses.length > 0) return 'IP subjectAltNames are not allowed'
  if (uris.length > 0) return 'URI subjectAltNames are not allowed'
  if (!request.commonName.startsWith(nodePrefix)) return nameFault
  return isExactly(usages, 'client auth')
    ? undefined
    : usagesFault('client auth digital signature key encipherment')
}

function userFault(usages: readonly string[]): string | undefined {
  const other = usages.find(
    (usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage),
  )
  if (other !== undefined) return `invalid usage for client certificate: ${other}`
  return usages.includes('client auth')
    ? undefined
    : 'missing required usage for client certificate: client auth'
}

/**
 * Whether the subject of a CSR is that of a kubelet: the common name begins with `system:node:`,
 * and the only organization is system:nodes.
 */
export const isKubelet = (request: CertificateRequest): boolean =>
  isOfNodes(request) && request.commonName.startsWith(nodePrefix)

const isOfNodes = ({ organizations }: CertificateRequest): boolean =>
  organizations.length === 1 && organizations[0] === 'system:nodes'

const usagesFault = (usages: string): string => `usages did not match [${usages}]`

/**
 * Whether the usages of a CSR are exactly `digital signature` and `auth`. For RSA keys, `key
 * encipherment` is also allowed.
 */
export function isExactly(usages: readonly string[], auth: 'client auth' | 'server auth'): boolean {
  const given = new Set(usages)
  const isComplete = given.has('digital signature') && given.has(auth)
  return isComplete && given.size === (given.has('key encipherment') ? 3 : 2)
}

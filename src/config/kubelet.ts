/**
 * Reads the flags for connections to kubelets: the address of the node to use, the client
 * certificate, and the CA that verifies kubelets.
 */
import type { Values } from './values.ts'

export type KubeletConfig = {
  /** Types of node addresses, in order of preference. The first type that a node has is used. */
  readonly addressTypes: readonly string[]
  /**
   * CA certificates that verify the serving certificates of kubelets. If null, these certificates
   * are not verified, as in kube-apiserver.
   */
  readonly caPem: string | null
  /**
   * The client certificate that this server presents to kubelets. If null, the server presents no
   * certificate.
   */
  readonly client: { readonly certificatePem: string; readonly keyPem: string } | null
  /** Port of a kubelet whose Node does not specify a port. */
  readonly port: number
}

const knownTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'] as const

export function readKubelet(values: Values, warn: (text: string) => void): KubeletConfig {
  const addressTypes = values.slice('kubelet-preferred-address-types')
  for (const type of addressTypes) {
    if (!knownTypes.some((known) => known === type)) {
      warn(
        `--kubelet-preferred-address-types: ${JSON.stringify(type)} is not one of ${knownTypes.join(', ')}`,
      )
    }
  }
  const [caPem = '', certificatePem = '', keyPem = ''] = readFiles(values)
  if (
    (values.string('kubelet-client-certificate') === '') !==
    (values.string('kubelet-client-key') === '')
  ) {
    values.fault('--kubelet-client-certificate and --kubelet-client-key must be set together')
  }
  const isGiven = certificatePem !== '' && keyPem !== ''
  return {
    addressTypes,
    caPem: caPem === '' ? null : caPem,
    client: isGiven ? { certificatePem, keyPem } : null,
    port: values.integer('kubelet-port'),
  }
}

/**
 * Returns the contents of the files. As in kube-apiserver, reading stops at the first file that
 * cannot be read.
 */
function readFiles(values: Values): readonly string[] {
  const texts: string[] = []
  for (const flag of [
    'kubelet-certificate-authority',
    'kubelet-client-certificate',
    'kubelet-client-key',
  ] as const) {
    const text = values.file(flag, 'problem initializing API group ""')
    if (text === '' && values.string(flag) !== '') break
    texts.push(text)
  }
  return texts
}

/** How the server speaks to kubelets: which of a node's addresses it takes, and what it shows and trusts there. */
import type { Values } from './values.ts'

export type KubeletConfig = {
  /** The first type that a node has an address of is taken. */
  readonly addressTypes: readonly string[]
  /** Who signs the certificates of kubelets; null: nobody is asked, as upstream. */
  readonly caPem: string | null
  /** What the server shows; null: nothing. */
  readonly client: { readonly certificatePem: string; readonly keyPem: string } | null
}

const knownTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'] as const

export function readKubelet(values: Values): KubeletConfig {
  const addressTypes = values.list('kubelet-preferred-address-types')
  for (const type of addressTypes) {
    if (!knownTypes.some((known) => known === type)) {
      values.fault(`--kubelet-preferred-address-types: ${JSON.stringify(type)} is none of ${knownTypes.join(', ')}`)
    }
  }
  const caPem = values.file('kubelet-certificate-authority')
  const certificatePem = values.file('kubelet-client-certificate')
  const keyPem = values.file('kubelet-client-key')
  if ((certificatePem === '') !== (keyPem === '')) {
    values.fault('--kubelet-client-certificate and --kubelet-client-key need each other')
  }
  const isGiven = certificatePem !== '' && keyPem !== ''
  return {
    addressTypes,
    caPem: caPem === '' ? null : caPem,
    client: isGiven ? { certificatePem, keyPem } : null,
  }
}

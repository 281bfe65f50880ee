/** How the server connects to kubelets: which address of a node it uses, its client certificate, and the CA it trusts. */
import type { Values } from './values.ts'

export type KubeletConfig = {
  /** In order of preference: the first type that a node has an address of is used. */
  readonly addressTypes: readonly string[]
  /** The CA of the kubelets' serving certificates; null: they are not verified, as upstream. */
  readonly caPem: string | null
  /** The client certificate of the server; null: none. */
  readonly client: { readonly certificatePem: string; readonly keyPem: string } | null
  /** The port of kubelets whose nodes do not say theirs. */
  readonly port: number
}

const knownTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'] as const

export function readKubelet(values: Values, warn: (text: string) => void): KubeletConfig {
  const addressTypes = values.slice('kubelet-preferred-address-types')
  for (const type of addressTypes) {
    if (!knownTypes.some((known) => known === type)) {
      warn(`--kubelet-preferred-address-types: ${JSON.stringify(type)} is none of ${knownTypes.join(', ')}`)
    }
  }
  // Upstream says so when it installs its API.
  const before = 'problem initializing API group ""'
  const caPem = values.file('kubelet-certificate-authority', before)
  const certificatePem = values.file('kubelet-client-certificate', before)
  const keyPem = values.file('kubelet-client-key', before)
  if ((certificatePem === '') !== (keyPem === '')) {
    values.fault('--kubelet-client-certificate and --kubelet-client-key need each other')
  }
  const isGiven = certificatePem !== '' && keyPem !== ''
  return {
    addressTypes,
    caPem: caPem === '' ? null : caPem,
    client: isGiven ? { certificatePem, keyPem } : null,
    port: values.integer('kubelet-port'),
  }
}

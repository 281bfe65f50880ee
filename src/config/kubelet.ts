/**
 * How the server connects to kubelets: which address of a node it uses, its client certificate, and
 * the CA it trusts.
 */
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
      warn(
        `--kubelet-preferred-address-types: ${JSON.stringify(type)} is none of ${knownTypes.join(', ')}`,
      )
    }
  }
  const [caPem = '', certificatePem = '', keyPem = ''] = readFiles(values)
  if (
    (values.string('kubelet-client-certificate') === '') !==
    (values.string('kubelet-client-key') === '')
  ) {
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

/** As upstream, which ends with the first file that it cannot read, when it installs its API. */
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

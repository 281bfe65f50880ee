/**
 * Reads the --cluster-signing-* flags, which configure the CAs of the
 * certificatesigningrequest-signing-controller. Names, defaults and errors are those of
 * kube-controller-manager.
 */
import { messageOf } from '../lib/errors.ts'
import { SigningAuthority } from '../lib/x509/signing-authority.ts'
import type { Flag } from './flag.ts'
import { readFlagFile } from './flag-file.ts'

/** A CA, and the signer names for which it signs. */
export type SigningPair = {
  readonly signers: readonly string[]
  /**
   * Paths of the CA certificate and of its key. Both are empty if the CA does not come from files.
   */
  readonly certificatePath: string
  readonly keyPath: string
  readonly certificatePem: string
  readonly keyPem: string
}

export type SigningConfig = {
  /** The CAs. If empty, no certificates are signed. */
  readonly pairs: readonly SigningPair[]
  /** Maximum validity period of a certificate. */
  readonly durationMs: number
}

/**
 * For each signer, the part of its flag names that differs between signers, and the name of the
 * signer in kube-controller-manager's errors.
 */
const perSigner = [
  {
    flag: 'kubelet-serving',
    signer: 'kubernetes.io/kubelet-serving',
    fault: 'cluster-signing-kubelet-serving',
  },
  {
    flag: 'kubelet-client',
    signer: 'kubernetes.io/kube-apiserver-client-kubelet',
    fault: 'cluster-signing-kube-apiserver-client',
  },
  {
    flag: 'kube-apiserver-client',
    signer: 'kubernetes.io/kube-apiserver-client',
    fault: 'cluster-signing-kube-apiserver',
  },
  {
    flag: 'legacy-unknown',
    signer: 'kubernetes.io/legacy-unknown',
    fault: 'cluster-signing-legacy-unknown',
  },
] as const

const section = 'Controllers'
const file = (help: string): Flag => ({ section, type: 'file', help })

export const signingFlags = {
  'cluster-signing-cert-file': file(
    'PEM file with the CA certificate with which the certificatesigningrequest-signing-controller signs for all signers. keelson dev creates a CA if it is not set.',
  ),
  'cluster-signing-key-file': file('PEM file with the private key of --cluster-signing-cert-file.'),
  'cluster-signing-duration': {
    section,
    type: 'duration',
    default: '8760h0m0s',
    help: 'Maximum validity of signed certificates. A request can ask for a shorter validity.',
  },
  'cluster-signing-kubelet-serving-cert-file': file(
    'PEM file with the CA certificate for the signer kubernetes.io/kubelet-serving.',
  ),
  'cluster-signing-kubelet-serving-key-file': file(
    'PEM file with the private key of --cluster-signing-kubelet-serving-cert-file.',
  ),
  'cluster-signing-kubelet-client-cert-file': file(
    'PEM file with the CA certificate for the signer kubernetes.io/kube-apiserver-client-kubelet.',
  ),
  'cluster-signing-kubelet-client-key-file': file(
    'PEM file with the private key of --cluster-signing-kubelet-client-cert-file.',
  ),
  'cluster-signing-kube-apiserver-client-cert-file': file(
    'PEM file with the CA certificate for the signer kubernetes.io/kube-apiserver-client.',
  ),
  'cluster-signing-kube-apiserver-client-key-file': file(
    'PEM file with the private key of --cluster-signing-kube-apiserver-client-cert-file.',
  ),
  'cluster-signing-legacy-unknown-cert-file': file(
    'PEM file with the CA certificate for the signer kubernetes.io/legacy-unknown.',
  ),
  'cluster-signing-legacy-unknown-key-file': file(
    'PEM file with the private key of --cluster-signing-legacy-unknown-cert-file.',
  ),
} as const satisfies { readonly [name: string]: Flag }

/** The methods of `Values` that this file uses. */
type SigningValues = {
  readonly string: (name: keyof typeof signingFlags) => string
  readonly durationMs: (name: 'cluster-signing-duration') => number
  readonly fault: (text: string) => void
}

export function readSigning(values: SigningValues): SigningConfig {
  const durationMs = values.durationMs('cluster-signing-duration')
  const own = perSigner.flatMap(({ flag, signer, fault }) =>
    readPair(values, {
      signers: [signer],
      fault,
      certificatePath: values.string(`cluster-signing-${flag}-cert-file`),
      keyPath: values.string(`cluster-signing-${flag}-key-file`),
    }),
  )
  const common = readPair(values, {
    signers: perSigner.map(({ signer }) => signer),
    fault: 'cluster-signing',
    certificatePath: values.string('cluster-signing-cert-file'),
    keyPath: values.string('cluster-signing-key-file'),
  })
  if (common.length > 0 && own.length > 0) {
    values.fault(
      'cannot specify --cluster-signing-{cert,key}-file and other --cluster-signing-*-file flags at the same time',
    )
  }
  return { pairs: [...common, ...own], durationMs }
}

type NamedPair = Pick<SigningPair, 'signers' | 'certificatePath' | 'keyPath'> & {
  readonly fault: string
}

function readPair(
  values: SigningValues,
  { signers, fault, certificatePath, keyPath }: NamedPair,
): SigningPair[] {
  if (certificatePath === '' && keyPath === '') return []
  if (certificatePath === '') values.fault(`"${fault}": cannot specify key without cert`)
  else if (keyPath === '') values.fault(`"${fault}": cannot specify cert without key`)
  if (certificatePath === '' || keyPath === '') return []
  const certificatePem = readFlagFile(values, certificatePath)
  const keyPem = readFlagFile(values, keyPath)
  if (certificatePem === undefined || keyPem === undefined) return []
  try {
    // Creating a SigningAuthority fails if the certificate and key cannot be used.
    void new SigningAuthority(certificatePem, keyPem)
  } catch (error) {
    const why = messageOf(error)
    values.fault(`error reading CA cert file "${certificatePath}": ${why}`)
    return []
  }
  return [{ signers, certificatePath, keyPath, certificatePem, keyPem }]
}

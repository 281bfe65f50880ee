/**
 * --cluster-signing-*: the CAs with which the certificatesigningrequest-signing-controller signs.
 * Names, defaults and faults are kube-controller-manager's.
 */
import { messageOf } from '../lib/errors.ts'
import { SigningAuthority } from '../lib/x509/signing-authority.ts'
import type { Flag } from './flag.ts'
import { readFlagFile } from './flag-file.ts'

/** A CA, and who signs with it. */
export type SigningPair = {
  readonly signers: readonly string[]
  /** Both paths are empty if it comes from no files. */
  readonly certificatePath: string
  readonly keyPath: string
  readonly certificatePem: string
  readonly keyPem: string
}

export type SigningConfig = {
  /** Empty: nothing is signed. */
  readonly pairs: readonly SigningPair[]
  /** Of a certificate, at the most. */
  readonly durationMs: number
}

/** By the middle of their flags, with what upstream calls them in faults. */
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
const file = (help: string): Flag => ({ section, type: 'string', help })

export const signingFlags = {
  'cluster-signing-cert-file': file(
    'The CA certificate, PEM, with which the certificatesigningrequest-signing-controller signs for all signers. keelson dev: its own.',
  ),
  'cluster-signing-key-file': file('The private key of --cluster-signing-cert-file, PEM.'),
  'cluster-signing-duration': {
    section,
    type: 'duration',
    default: '8760h0m0s',
    help: 'How long certificates are valid, at the most. A request may ask for less.',
  },
  'cluster-signing-kubelet-serving-cert-file': file(
    'The same for kubernetes.io/kubelet-serving alone.',
  ),
  'cluster-signing-kubelet-serving-key-file': file('Its private key.'),
  'cluster-signing-kubelet-client-cert-file': file(
    'The same for kubernetes.io/kube-apiserver-client-kubelet alone.',
  ),
  'cluster-signing-kubelet-client-key-file': file('Its private key.'),
  'cluster-signing-kube-apiserver-client-cert-file': file(
    'The same for kubernetes.io/kube-apiserver-client alone.',
  ),
  'cluster-signing-kube-apiserver-client-key-file': file('Its private key.'),
  'cluster-signing-legacy-unknown-cert-file': file(
    'The same for kubernetes.io/legacy-unknown alone.',
  ),
  'cluster-signing-legacy-unknown-key-file': file('Its private key.'),
} as const satisfies { readonly [name: string]: Flag }

/** What is read of the flags. */
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
    // Fails if they cannot be used.
    void new SigningAuthority(certificatePem, keyPem)
  } catch (error) {
    const why = messageOf(error)
    values.fault(`error reading CA cert file "${certificatePath}": ${why}`)
    return []
  }
  return [{ signers, certificatePath, keyPath, certificatePem, keyPem }]
}

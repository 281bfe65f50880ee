/**
 * Flags that were added to kube-apiserver after 1.33, and defaults that changed after 1.33. They
 * were read from the published Go modules of each release.
 */
import type { Flag } from './flag.ts'

const generic = 'Generic'
const misc = 'Misc'
const everywhere = 'every server runs the controller of coordinated leader election'

export const laterFlags = {
  'coordinated-leadership-lease-duration': {
    section: misc,
    type: 'duration',
    default: '15s',
    since: 34,
    help: 'Duration of the Lease that is used for coordinated leader election.',
    unused: everywhere,
  },
  'coordinated-leadership-renew-deadline': {
    section: misc,
    type: 'duration',
    default: '10s',
    since: 34,
    help: 'If the server that holds the Lease for coordinated leader election cannot renew the Lease for this time, the server gives up its leadership.',
    unused: everywhere,
  },
  'coordinated-leadership-retry-period': {
    section: misc,
    type: 'duration',
    default: '2s',
    since: 34,
    help: 'Interval at which servers try to acquire or renew the Lease for coordinated leader election.',
    unused: everywhere,
  },
  'min-compatibility-version': {
    section: generic,
    type: 'list',
    since: 35,
    help: 'Oldest Kubernetes version of the servers that use the same database, such as 1.34 or kube=1.34. New CEL expressions can use only the libraries of this version. Default: the version before --emulated-version.',
  },
  'tls-curve-preferences': {
    section: 'Secure serving',
    type: 'list',
    since: 36,
    help: 'TLS key exchange mechanisms that clients can use, by their numbers in the IANA registry TLS Supported Groups, such as 29 for X25519. Default: the groups that OpenSSL enables.',
  },
} as const satisfies { readonly [name: string]: Flag }

/** Defaults that changed after 1.33, and the first release that has the new default. */
export const laterDefaults: ReadonlyMap<
  string,
  { readonly since: number; readonly value: string }
> = new Map([
  ['audit-log-maxage', { since: 36, value: '366' }],
  ['audit-log-maxbackup', { since: 36, value: '100' }],
])

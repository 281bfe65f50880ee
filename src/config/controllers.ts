/**
 * Reads --controllers, which selects the controllers that run inside the server. Syntax and
 * controller names are those of kube-controller-manager.
 */
import { didYouMean } from '../lib/text/suggest.ts'

/** The controllers that can run in this server. */
export const ownControllers = [
  'bootstrap-signer-controller',
  'certificatesigningrequest-approving-controller',
  'certificatesigningrequest-cleaner-controller',
  'certificatesigningrequest-signing-controller',
  'clusterrole-aggregation-controller',
  'garbage-collector-controller',
  'legacy-serviceaccount-token-cleaner-controller',
  'namespace-controller',
  'persistentvolume-protection-controller',
  'persistentvolumeclaim-protection-controller',
  'resourcequota-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
  'token-cleaner-controller',
  'ttl-after-finished-controller',
  'validatingadmissionpolicy-status-controller',
] as const

/**
 * Controllers that `*` does not include, as in kube-controller-manager. They run only if the flag
 * names them. Only clusters that use bootstrap tokens need them.
 */
const offByDefault: ReadonlySet<string> = new Set([
  'bootstrap-signer-controller',
  'token-cleaner-controller',
])

export type ControllerName = (typeof ownControllers)[number]

/** Former names of controllers, which kube-controller-manager still accepts. */
const aliases: ReadonlyMap<string, ControllerName> = new Map([
  ['bootstrapsigner', 'bootstrap-signer-controller'],
  ['csrapproving', 'certificatesigningrequest-approving-controller'],
  ['csrcleaner', 'certificatesigningrequest-cleaner-controller'],
  ['csrsigning', 'certificatesigningrequest-signing-controller'],
  ['clusterrole-aggregation', 'clusterrole-aggregation-controller'],
  ['garbagecollector', 'garbage-collector-controller'],
  ['legacy-service-account-token-cleaner', 'legacy-serviceaccount-token-cleaner-controller'],
  ['namespace', 'namespace-controller'],
  ['pv-protection', 'persistentvolume-protection-controller'],
  ['pvc-protection', 'persistentvolumeclaim-protection-controller'],
  ['resourcequota', 'resourcequota-controller'],
  ['root-ca-cert-publisher', 'root-ca-certificate-publisher-controller'],
  ['serviceaccount', 'serviceaccount-controller'],
  ['tokencleaner', 'token-cleaner-controller'],
  ['ttl-after-finished', 'ttl-after-finished-controller'],
])

/**
 * The names and aliases of controllers that kube-controller-manager 1.33 has and this server does
 * not.
 */
const otherControllers: ReadonlySet<string> = new Set(
  [
    'serviceaccount-token',
    'endpoints-controller endpoint',
    'endpointslice endpointslice-mirroring-controller endpointslicemirroring',
    'replicationcontroller',
    'pod-garbage-collector-controller podgc',
    'daemonset job deployment replicaset disruption statefulset cronjob ttl',
    'horizontal-pod-autoscaler-controller horizontalpodautoscaling',
    'node-ipam-controller nodeipam node-lifecycle-controller nodelifecycle',
    'taint-eviction-controller device-taint-eviction-controller',
    'service-lb-controller service node-route-controller route cloud-node-lifecycle',
    'persistentvolume-binder persistentvolume-expander',
    'persistentvolume-attach-detach-controller attachdetach',
    'kube-apiserver-serving-clustertrustbundle-publisher-controller',
    'ephemeral-volume',
    'storageversion-garbage-collector-controller storage-version-gc',
    'resourceclaim-controller resource-claim-controller',
    'volumeattributesclass-protection-controller service-cidr-controller',
    'storage-version-migrator-controller svm selinux-warning-controller',
  ].flatMap((names) => names.split(' ').flatMap((name) => [name, `${name}-controller`])),
)

export const controllersHelp = `Controllers of kube-controller-manager to run in this server, for clusters without a kube-controller-manager: NAME, \
-NAME to exclude a controller, or * for all. They do not run while a kube-controller-manager holds its Lease. Default: none; with keelson dev: all. Available controllers: ${ownControllers.join(', ')}. The value * does not include ${[...offByDefault].join(', ')}.`

/**
 * Controllers by short name; most of these are kubectl's short names. A misspelled controller name
 * is found by edit distance, but these names are too short for that.
 */
const shortNames: ReadonlyMap<string, string> = new Map([
  ['gc', 'garbage-collector'],
  ['ns', 'namespace'],
  ['pv', 'persistentvolume-protection'],
  ['pvc', 'persistentvolumeclaim-protection'],
  ['sa', 'serviceaccount'],
])

/** Returns hints for an unknown name: a similar name, and the list of all names. */
function hintsFor(given: string): readonly string[] {
  // Compare names without the ending `-controller`, which would make all of them look similar.
  const name = shortNames.get(given) ?? given.replace(/-cont\w*$/, '')
  const names = ownControllers.map((one) => one.replace(/-controller$/, ''))
  const meant = didYouMean(name, names, (one) => `${one}-controller`)
  return [
    ...(meant === undefined ? [] : [`--controllers: ${given}: ${meant}`]),
    `--controllers accepts ${ownControllers.join(', ')}, * for all, and -NAME to exclude one`,
  ]
}

/**
 * Returns the controllers that a list selects. An unknown name results in the error of
 * kube-controller-manager. The name of a controller that Keelson does not have results in an error
 * of Keelson.
 */
export function parseControllers(list: readonly string[]): {
  readonly controllers: readonly ControllerName[]
  readonly faults: readonly string[]
  readonly hints: readonly string[]
} {
  const faults: string[] = []
  const hints = new Set<string>()
  const on = new Set<ControllerName>()
  const off = new Set<ControllerName>()
  for (const text of list) {
    if (text === '*') continue
    const isOff = text.startsWith('-')
    const given = isOff ? text.slice(1) : text
    const name = aliases.get(given) ?? ownControllers.find((one) => one === given)
    if (name !== undefined) {
      // As in kube-controller-manager, the first entry for a name is used.
      if (!on.has(name) && !off.has(name)) (isOff ? off : on).add(name)
    } else if (!otherControllers.has(given)) {
      faults.push(`${JSON.stringify(given)} is not in the list of known controllers`)
      for (const hint of hintsFor(given)) hints.add(hint)
    }
    // A list may exclude a controller that this server does not have.
    else if (!isOff) {
      faults.push(
        `--controllers: ${given} does not run in Keelson: run kube-controller-manager for it, or leave it out`,
      )
    }
  }
  const isAll = list.includes('*')
  // Entries with a name take precedence over `*`.
  const controllers = ownControllers.filter(
    (name) => on.has(name) || (isAll && !off.has(name) && !offByDefault.has(name)),
  )
  return { controllers, faults, hints: [...hints] }
}

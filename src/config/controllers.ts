/**
 * --controllers: which controllers of kube-controller-manager run inside the server, in its words.
 */

/** Those that can run here. */
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

/** As upstream, the star does not turn these on: who uses bootstrap tokens names them. */
const offByDefault: ReadonlySet<string> = new Set([
  'bootstrap-signer-controller',
  'token-cleaner-controller',
])

export type ControllerName = (typeof ownControllers)[number]

/** Older names that kube-controller-manager still takes. */
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

/** The other controllers of kube-controller-manager 1.33, by their names and aliases. */
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

export const controllersHelp = `Controllers of kube-controller-manager that this server runs itself, for who has none: * for all, a name, or a name \
after - for all but that one. They stand back while a kube-controller-manager holds its Lease. Default: none; keelson dev: all. Known are ${ownControllers.join(', ')}; the star leaves out ${[...offByDefault].join(', ')}.`

/**
 * The controllers that a list names. Faults in kube-controller-manager's words, or about those that
 * only it has.
 */
export function parseControllers(list: readonly string[]): {
  readonly controllers: readonly ControllerName[]
  readonly faults: readonly string[]
} {
  const faults: string[] = []
  const on = new Set<ControllerName>()
  const off = new Set<ControllerName>()
  for (const text of list) {
    if (text === '*') continue
    const isOff = text.startsWith('-')
    const given = isOff ? text.slice(1) : text
    const name = aliases.get(given) ?? ownControllers.find((one) => one === given)
    if (name !== undefined) {
      // As upstream, the first entry that names it decides.
      if (!on.has(name) && !off.has(name)) (isOff ? off : on).add(name)
    } else if (!otherControllers.has(given))
      faults.push(`${JSON.stringify(given)} is not in the list of known controllers`)
    // What does not run here may well be turned off.
    else if (!isOff) {
      faults.push(
        `--controllers ${given} does not run here: run kube-controller-manager, or leave it out`,
      )
    }
  }
  const isAll = list.includes('*')
  // Names count more than the star.
  const controllers = ownControllers.filter(
    (name) => on.has(name) || (isAll && !off.has(name) && !offByDefault.has(name)),
  )
  return { controllers, faults }
}

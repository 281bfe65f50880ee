/**
 * Restricts how a kubelet writes Nodes. A kubelet can write only its own Node. It must not change
 * the owner references, or fields that affect scheduling: taints, and most Kubernetes labels.
 */
import { fieldsOf, type KubeObject } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { isSame } from '../../objects/schema/equal.ts'
import { type Attributes, refusal } from '../admission.ts'

export function admitNode(node: string, attributes: Attributes): void {
  const { operation, name, object, oldObject } = attributes
  const refuse = (why: string): void => {
    throw refusal(attributes, why)
  }
  if (name !== node) refuse(`node ${quote(node)} is not allowed to modify node ${quote(name)}`)
  if (object === undefined) return
  if (operation === 'CREATE') {
    // Reject `configSource`. The kubelet could read the object to which this field refers.
    if (fieldsOf(object['spec'])['configSource'] !== undefined) {
      refuse(`node ${quote(node)} is not allowed to create pods with a non-nil configSource`)
    }
    const labels = forbiddenLabels(changedLabels(object, undefined))
    if (labels !== '')
      refuse(`node ${quote(node)} is not allowed to set the following labels: ${labels}`)
    return
  }
  const [spec, before] = [fieldsOf(object['spec']), fieldsOf(oldObject?.['spec'])]
  // Removing `configSource` is allowed, because old kubelets omit the field.
  if (spec['configSource'] !== undefined && !isSame(spec['configSource'], before['configSource'])) {
    refuse(
      `node ${quote(node)} is not allowed to update configSource to a new non-nil configSource`,
    )
  }
  if (!isSame(spec['taints'], before['taints']))
    refuse(`node ${quote(node)} is not allowed to modify taints`)
  if (!isSame(object.metadata['ownerReferences'], oldObject?.metadata['ownerReferences'])) {
    refuse(`node ${quote(node)} is not allowed to modify ownerReferences`)
  }
  const labels = forbiddenLabels(changedLabels(object, oldObject))
  if (labels !== '') refuse(`is not allowed to modify labels: ${labels}`)
}

/** Returns the keys of labels that only one of the objects has, or that have different values. */
function changedLabels({ metadata }: KubeObject, oldObject: KubeObject | undefined): string[] {
  const now = new Map(Object.entries(metadata.labels ?? {}))
  const before = new Map(Object.entries(oldObject?.metadata.labels ?? {}))
  const keys = new Set([...now.keys(), ...before.keys()])
  return [...keys].filter((key) => now.get(key) !== before.get(key))
}

const kubeletLabels: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
])
/** Prefixes of labels that a kubelet may set. Subdomains of these prefixes are also allowed. */
const kubeletDomains = ['kubelet.kubernetes.io', 'node.kubernetes.io'] as const
/** Prefix of labels that a kubelet must not set. */
const restrictedDomain = 'node-restriction.kubernetes.io'
const kubernetesDomains = ['kubernetes.io', 'k8s.io'] as const

/** Returns the labels that a kubelet must not add, change or remove, separated by commas. */
const forbiddenLabels = (keys: readonly string[]): string =>
  keys.filter(isForbidden).toSorted().join(', ')

function isForbidden(key: string): boolean {
  const slash = key.indexOf('/')
  const domain = slash === -1 ? '' : key.slice(0, slash)
  if (isIn(domain, restrictedDomain)) return true
  const isOfKubernetes = kubernetesDomains.some((parent) => isIn(domain, parent))
  return (
    isOfKubernetes &&
    !kubeletLabels.has(key) &&
    !kubeletDomains.some((parent) => isIn(domain, parent))
  )
}

const isIn = (domain: string, parent: string): boolean =>
  domain === parent || domain.endsWith(`.${parent}`)

/**
 * Restricts how a kubelet writes pods. It can create mirror pods that do not refer to other
 * objects. It can evict and delete pods that are bound to it, and write their status.
 */
import { notFound } from '../../api/errors.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
} from '../../api/object.ts'
import type { Gates } from '../../api/gates.ts'
import { quote } from '../../api/quote.ts'
import { mirror } from '../../registry/kinds/core/pod/annotations.ts'
import { configMapNames, secretNames } from '../../registry/kinds/core/pod/references.ts'
import { isSame } from '../../objects/schema/equal.ts'
import { type Attributes, refusal } from '../admission.ts'
import type { Objects } from '../../api/object-access.ts'

export type PodRestrictionOptions = {
  readonly objects: Pick<Objects, 'get'>
  readonly gates: Pick<Gates, 'release'>
}

/** The first release in which mirror pods cannot refer to any object of the API. */
const NO_REFERENCES_SINCE = 34

const pods = { group: '', version: 'v1', plural: 'pods' } as const
const nodes = { group: '', version: 'v1', plural: 'nodes' } as const

export const nodeOf = (pod: KubeObject | undefined): string =>
  textOf(fieldsOf(pod?.['spec'])['nodeName'])

/**
 * Reads a pod. Fails with NotFound if the pod does not exist. As in kube-apiserver, the error names
 * the resource `pod` instead of `pods`.
 */
export async function readPod(
  { objects }: PodRestrictionOptions,
  namespace: string,
  name: string,
): Promise<KubeObject> {
  const pod = await objects.get(pods, { namespace, name }, 'latest')
  if (pod === undefined) throw notFound({ group: '', plural: 'pod' }, name)
  return pod
}

export async function admitPod(
  options: PodRestrictionOptions,
  node: string,
  attributes: Attributes,
): Promise<void> {
  const { operation, object, oldObject } = attributes
  if (operation === 'DELETE') {
    // kube-apiserver looks up the pod by the name in the request, which is empty for a
    // deletecollection. Pods that a kubelet deletes as a collection are therefore not deleted, and
    // the kubelet gets no error.
    if (attributes.name === '') throw notFound({ group: '', plural: 'pod' }, '')
    if (nodeOf(oldObject) === node) return
    throw refusal(
      attributes,
      `node ${quote(node)} can only delete pods with spec.nodeName set to itself`,
    )
  }
  if (operation !== 'CREATE' || object === undefined) {
    const why = `node ${quote(node)} can only create and delete mirror pods`
    throw refusal(attributes, `unexpected operation ${quote(operation)}, ${why}`)
  }
  const fault =
    mirrorFault(object, node) ??
    (await ownerFault(options, object, node)) ??
    referenceFault(object, node, options.gates)
  if (fault !== undefined) throw refusal(attributes, fault)
}

function mirrorFault(pod: KubeObject, node: string): string | undefined {
  if (pod.metadata.annotations?.[mirror] === undefined) {
    return `pod does not have ${quote(mirror)} annotation, node ${quote(node)} can only create mirror pods`
  }
  return nodeOf(pod) === node
    ? undefined
    : `node ${quote(node)} can only create pods with spec.nodeName set to itself`
}

async function ownerFault(
  { objects }: PodRestrictionOptions,
  { metadata }: KubeObject,
  node: string,
): Promise<string | undefined> {
  const who = `node ${quote(node)}`
  const [owner, ...others] = itemsOf(metadata['ownerReferences'])
  if (others.length > 0)
    return `${who} can only create pods with a single owner reference set to itself`
  if (owner?.['apiVersion'] !== 'v1' || owner['kind'] !== 'Node' || owner['name'] !== node) {
    return `${who} can only create pods with an owner reference set to itself`
  }
  if (owner['controller'] !== true) {
    return `${who} can only create pods with a controller owner reference set to itself`
  }
  if (owner['blockOwnerDeletion'] === true)
    return `${who} must not set blockOwnerDeletion on an owner reference`
  const found = await objects.get(nodes, { namespace: '', name: node }, 'latest')
  if (found === undefined) throw notFound({ group: '', plural: 'node' }, node)
  const { uid = '' } = found.metadata
  return owner['uid'] === uid
    ? undefined
    : `node ${node} UID mismatch: expected ${textOf(owner['uid'])} got ${uid}`
}

/**
 * Returns an error if the pod refers to other objects, because a node has access to the objects
 * that its pods refer to.
 */
function referenceFault(
  pod: KubeObject,
  node: string,
  { release }: PodRestrictionOptions['gates'],
): string | undefined {
  const spec = fieldsOf(pod['spec'])
  const what = release < NO_REFERENCES_SINCE ? referredBefore(spec) : referred(spec)
  if (what === undefined) return undefined
  if (typeof what === 'object') return `error checking mirror pod for API references: ${what.fault}`
  return `node ${quote(node)} can not create pods that reference ${what}`
}

/** Returns the kind of objects to which a pod refers, or an error if that is unknown. */
function referred(spec: Fields): string | { readonly fault: string } | undefined {
  if (textOf(spec['serviceAccountName']) !== '') return 'serviceaccounts'
  if (secretNames(spec).length > 0) return 'secrets'
  if (configMapNames(spec).length > 0) return 'configmaps'
  if (itemsOf(spec['resourceClaims']).length > 0) return 'resourceclaims'
  for (const volume of itemsOf(spec['volumes'])) {
    const what = referredByVolume(volume)
    if (what !== undefined) return what
  }
  return undefined
}

/** Objects of the API that volumes need, keyed by the source of the volume. */
const referredBySource: readonly (readonly [source: string, what: string])[] = [
  ['configMap', 'configmaps (via configmap volumes)'],
  ['secret', 'secrets (via secret volumes)'],
  ['csi', 'csidrivers (via CSI volumes)'],
  ['glusterfs', 'endpoints (via glusterFS volumes)'],
  ['persistentVolumeClaim', 'persistentvolumeclaims'],
  ['ephemeral', 'persistentvolumeclaims (via ephemeral volumes)'],
  ['azureFile', 'secrets (via azureFile volumes)'],
]

/** Objects of the API that projected volumes need, keyed by the field of the projection. */
const referredByProjection: readonly (readonly [source: string, what: string])[] = [
  ['configMap', 'configmaps (via projected volumes)'],
  ['secret', 'secrets (via projected volumes)'],
  ['serviceAccountToken', 'serviceaccounts (via projected volumes)'],
  ['clusterTrustBundle', 'clustertrustbundles'],
  ['podCertificate', 'podcertificates'],
]

function referredByVolume(volume: Fields): ReturnType<typeof referred> {
  for (const [source, what] of referredBySource) if (volume[source] !== undefined) return what
  for (const projection of itemsOf(fieldsOf(volume['projected'])['sources'])) {
    const [, what] = referredByProjection.find(([name]) => projection[name] !== undefined) ?? []
    if (what !== undefined) return what
    if (projection['downwardAPI'] === undefined)
      return { fault: `unknown source for projected volume ${quote(textOf(volume['name']))}` }
  }
  return undefined
}

function referredBefore(spec: Fields): string | undefined {
  if (textOf(spec['serviceAccountName']) !== '') return 'a service account'
  if (secretNames(spec).length > 0) return 'secrets'
  if (configMapNames(spec).length > 0) return 'configmaps'
  const volumes = itemsOf(spec['volumes'])
  const sources = volumes.flatMap(({ projected }) => itemsOf(fieldsOf(projected)['sources']))
  if (sources.some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined))
    return 'clustertrustbundles'
  if (volumes.some((volume) => volume['persistentVolumeClaim'] !== undefined))
    return 'persistentvolumeclaims'
  return itemsOf(spec['resourceClaims']).length > 0 ? 'resourceclaims' : undefined
}

export function admitPodStatus(node: string, attributes: Attributes): void {
  const { operation, object, oldObject } = attributes
  if (operation !== 'UPDATE') throw refusal(attributes, `unexpected operation ${quote(operation)}`)
  const who = `node ${quote(node)}`
  if (nodeOf(oldObject) !== node) {
    throw refusal(
      attributes,
      `${who} can only update pod status for pods with spec.nodeName set to itself`,
    )
  }
  if (!isSame(object?.metadata.labels, oldObject?.metadata.labels)) {
    throw refusal(attributes, `${who} cannot update labels through pod status`)
  }
  // The kubelet can read all claims that `resourceClaimStatuses` names, so it must not change this
  // field.
  if (!isSame(claimsOf(object), claimsOf(oldObject))) {
    throw refusal(attributes, `${who} cannot update resource claim statues`)
  }
  // The same is true of the claim for extended resources, a field since 1.34.
  if (!isSame(extendedClaimOf(object), extendedClaimOf(oldObject))) {
    throw refusal(attributes, `${who} cannot update extended resource claim status`)
  }
}

const claimsOf = (pod: KubeObject | undefined): Json | undefined =>
  fieldsOf(pod?.['status'])['resourceClaimStatuses']

const extendedClaimOf = (pod: KubeObject | undefined): Json | undefined =>
  fieldsOf(pod?.['status'])['extendedResourceClaimStatus']

export async function admitEviction(
  options: PodRestrictionOptions,
  node: string,
  attributes: Attributes,
): Promise<void> {
  const { operation, namespace, name } = attributes
  if (operation !== 'CREATE') throw refusal(attributes, `unexpected operation ${operation}`)
  if (name === '') throw refusal(attributes, 'could not determine pod from request data')
  if (nodeOf(await readPod(options, namespace, name)) === node) return
  throw refusal(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`)
}

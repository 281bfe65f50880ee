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
import { quote } from '../../api/quote.ts'
import { mirror } from '../../registry/kinds/core/pod/annotations.ts'
import { configMapNames, secretNames } from '../../registry/kinds/core/pod/references.ts'
import { isSame } from '../../objects/schema/equal.ts'
import { type Attributes, refusal } from '../admission.ts'
import type { Objects } from '../../api/object-access.ts'

export type PodRestrictionOptions = { readonly objects: Pick<Objects, 'get'> }

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
    referenceFault(object, node)
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
function referenceFault(pod: KubeObject, node: string): string | undefined {
  const spec = fieldsOf(pod['spec'])
  const what = referred(spec)
  return what && `node ${quote(node)} can not create pods that reference ${what}`
}

function referred(spec: Fields): string | undefined {
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
}

const claimsOf = (pod: KubeObject | undefined): Json | undefined =>
  fieldsOf(pod?.['status'])['resourceClaimStatuses']

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

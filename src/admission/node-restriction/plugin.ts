/**
 * Restricts what kubelets write in cases where the node authorizer cannot decide, because it does
 * not know the body of a request. A kubelet can change its own Node and the status of its pods,
 * create mirror pods, request tokens for its pods, and write its own lease, CSINode and
 * ResourceSlices.
 */
import type { Gates } from '../../api/gates.ts'
import { nodeNameOf } from '../../api/node-user.ts'
import { fieldsOf, type KubeObject, textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { readPemRequest, RequestError } from '../../lib/x509/request.ts'
import { type Attributes, type Plugin, refusal } from '../admission.ts'
import type { AskAuthorizer } from '../ask-authorizer.ts'
import { admitClaimStatus } from './claim-status.ts'
import { admitNode } from './nodes.ts'
import { admitEviction, admitPod, admitPodStatus } from './pods.ts'
import { admitToken } from './tokens.ts'
import type { Objects } from '../../api/object-access.ts'

export type NodeRestrictionOptions = {
  readonly objects: Pick<Objects, 'get'>
  readonly authorize: AskAuthorizer
  readonly gates: Gates
}

export function createNodeRestriction(options: NodeRestrictionOptions): Plugin {
  return {
    name: 'NodeRestriction',
    mutate: (attributes) => {
      const node = nodeNameOf(attributes.context.user)
      if (node === undefined || attributes.operation === 'CONNECT') return attributes.object
      return admit(options, node, attributes)
    },
  }
}

async function admit(
  options: NodeRestrictionOptions,
  node: string,
  attributes: Attributes,
): Promise<KubeObject | undefined> {
  if (node === '') {
    throw refusal(
      attributes,
      `could not determine node from user ${quote(attributes.context.user.name)}`,
    )
  }
  const { group, plural } = attributes.resource
  switch (group === '' ? plural : `${plural}.${group}`) {
    case 'pods':
      await admitPods(options, node, attributes)
      break
    case 'nodes':
      admitNode(node, attributes)
      break
    case 'persistentvolumeclaims':
      if (attributes.subresource !== 'status')
        throw refusal(attributes, 'may only update PVC status')
      admitClaimStatus(options.gates, node, attributes)
      break
    case 'serviceaccounts':
      if (attributes.operation === 'CREATE' && attributes.subresource === 'token') {
        await admitToken(options, node, attributes)
      }
      break
    case 'leases.coordination.k8s.io':
      admitLease(node, attributes)
      break
    case 'csinodes.storage.k8s.io':
      if (nameOf(attributes) !== node) {
        throw refusal(
          attributes,
          'can only access CSINode with the same name as the requesting node',
        )
      }
      break
    case 'resourceslices.resource.k8s.io':
      admitSlice(node, attributes)
      break
    case 'certificatesigningrequests.certificates.k8s.io':
      if (!options.gates.isOn('AllowInsecureKubeletCertificateSigningRequests'))
        admitRequest(node, attributes)
      break
  }
  return attributes.object
}

async function admitPods(
  options: NodeRestrictionOptions,
  node: string,
  attributes: Attributes,
): Promise<void> {
  const { subresource } = attributes
  switch (subresource) {
    case '':
      return admitPod(options, node, attributes)
    case 'status':
      return admitPodStatus(node, attributes)
    case 'eviction':
      return admitEviction(options, node, attributes)
    default:
      throw refusal(
        attributes,
        `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`,
      )
  }
}

/** Returns the name of the object. The name of a new object is only in the request body. */
const nameOf = ({ operation, object, name }: Attributes): string =>
  operation === 'CREATE' ? (object?.metadata.name ?? '') : name

const leaseNamespace = 'kube-node-lease'

function admitLease(node: string, attributes: Attributes): void {
  if (attributes.namespace !== leaseNamespace) {
    throw refusal(
      attributes,
      `can only access leases in the ${quote(leaseNamespace)} system namespace`,
    )
  }
  if (nameOf(attributes) !== node) {
    throw refusal(
      attributes,
      'can only access node lease with the same name as the requesting node',
    )
  }
}

/**
 * Checks creates and deletes of ResourceSlices. The node authorizer has already checked updates: it
 * knows the nodeName of the stored object, which no update can change.
 */
function admitSlice(node: string, attributes: Attributes): void {
  const { operation, object, oldObject } = attributes
  if (operation === 'UPDATE') return
  const slice = operation === 'CREATE' ? object : oldObject
  if (fieldsOf(slice?.['spec'])['nodeName'] === node) return
  const verb = operation === 'CREATE' ? 'create' : 'delete'
  throw refusal(
    attributes,
    `can only ${verb} ResourceSlice with the same NodeName as the requesting node`,
  )
}

/** Signers of the certificates with which kubelets identify themselves. */
const kubeletSigners: ReadonlySet<string> = new Set([
  'kubernetes.io/kubelet-serving',
  'kubernetes.io/kube-apiserver-client-kubelet',
])

function admitRequest(node: string, attributes: Attributes): void {
  const { operation, object } = attributes
  const { signerName, request } = fieldsOf(object?.['spec'])
  if (operation !== 'CREATE' || !kubeletSigners.has(textOf(signerName))) return
  if (commonNameOf(textOf(request), attributes) !== `system:node:${node}`) {
    throw refusal(attributes, `can only create a node CSR with CN=system:node:${node}`)
  }
}

function commonNameOf(request: string, attributes: Attributes): string {
  try {
    return readPemRequest(request).commonName
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    throw refusal(attributes, `unable to parse csr: ${error.message}`)
  }
}

/**
 * The node authorizer. A kubelet may read its own Node and the objects related to it (`graph.ts`),
 * and may do what is allowed for all nodes (`rules`). The authorizer has no opinion on anything
 * else, so that RBAC can still allow it.
 *
 * Some information is only in the body of a request, for example of a create request, or of an
 * update of another node. The NodeRestriction admission plugin checks such requests. Decisions are
 * synchronous, from memory.
 */
import type { AccessAttributes, AccessDecision } from '../../../api/access.ts'
import type { Gates } from '../../../api/gates.ts'
import { nodeNameOf } from '../../../api/node-user.ts'
import { quote } from '../../../api/quote.ts'
import type { User } from '../../../api/user.ts'
import { readVerbs } from '../../../api/verbs.ts'
import { questionOf, type Rule, ruleCovers } from '../../rbac/rule.ts'
import { allowed, noOpinion } from '../authorizer.ts'
import type { NodeGraph, RelatedResource } from './graph.ts'

export type NodeAuthorizerOptions = {
  readonly graph: NodeGraph
  /** The rules of the ClusterRole system:node, which apply to every node. */
  readonly rules: () => readonly Rule[]
  readonly gates: Gates
}

type ResourceAttributes = Extract<AccessAttributes, { kind: 'resource' }>

/**
 * Decides on a request of a node for a resource that needs special checks. Returns undefined if the
 * request depends only on the rules that apply to every node.
 */
type Decide = (
  options: NodeAuthorizerOptions,
  node: string,
  asked: ResourceAttributes,
) => AccessDecision | undefined

const because = (reason: string): AccessDecision => ({ verdict: 'no-opinion', reason })

export function authorizeNode(
  options: NodeAuthorizerOptions,
  user: User,
  attributes: AccessAttributes,
): AccessDecision {
  const node = nodeNameOf(user)
  if (node === undefined) return noOpinion
  if (node === '') return because(`unknown node for user ${quote(user.name)}`)
  if (attributes.kind === 'resource') {
    const { group, plural } = attributes
    const decide = decisions.get(group === '' ? plural : `${plural}.${group}`)
    const decision = decide?.(options, node, attributes)
    if (decision !== undefined) return decision
  }
  const question = questionOf(attributes)
  return options.rules().some((rule) => ruleCovers(rule, question)) ? allowed : noOpinion
}

/** Decides on a request for a named object: it is allowed if the object is related to the node. */
function ifRelated(
  node: string,
  { name }: ResourceAttributes,
  isRelated: () => boolean,
): AccessDecision {
  if (name === '') return because('No Object name found')
  return isRelated()
    ? allowed
    : because(`no relationship found between node '${node}' and this object`)
}

function getRelated(
  node: string,
  asked: ResourceAttributes,
  isRelated: () => boolean,
): AccessDecision {
  if (asked.verb !== 'get') return because('can only get individual resources of this type')
  if (asked.subresource !== '') return because('cannot get subresource')
  return ifRelated(node, asked, isRelated)
}

const readReferred =
  (resource: RelatedResource): Decide =>
  ({ graph }, node, asked) => {
    if (!readVerbs.has(asked.verb)) return because('can only read resources of this type')
    if (asked.subresource !== '') return because('cannot read subresource')
    if (asked.namespace === '') return because('can only read namespaced object of this type')
    return ifRelated(node, asked, () => graph.refersTo(node, resource, asked))
  }

const authorizeClaim: Decide = ({ graph }, node, asked) => {
  const { verb, subresource } = asked
  const isRelated = (): boolean => graph.hasClaim(node, asked)
  if (subresource !== 'status') return getRelated(node, asked, isRelated)
  if (verb !== 'update' && verb !== 'patch') return because('can only get/update/patch this type')
  return ifRelated(node, asked, isRelated)
}

const authorizeAccount: Decide = (parts, node, asked) => {
  const { verb, subresource, name } = asked
  if (verb === 'get' && subresource === '') {
    if (!parts.gates.isOn('KubeletServiceAccountTokenForCredentialProviders')) {
      return because('not allowed to get service accounts')
    }
    return readReferred('serviceaccounts')(parts, node, asked)
  }
  if (verb !== 'create' || name === '')
    return because('can only create tokens for individual service accounts')
  if (subresource !== 'token') return because('can only create token subresource of serviceaccount')
  return ifRelated(node, asked, () => parts.graph.refersTo(node, 'serviceaccounts', asked))
}

const ownVerbs: ReadonlySet<string> = new Set(['get', 'create', 'update', 'patch', 'delete'])
const leaseNamespace = 'kube-node-lease'

const authorizeLease: Decide = (_, node, { verb, namespace, name }) => {
  if (!ownVerbs.has(verb))
    return because('can only get, create, update, patch, or delete a node lease')
  if (namespace !== leaseNamespace) {
    return because(`can only access leases in the ${quote(leaseNamespace)} system namespace`)
  }
  // For a create request, the name of the new object is not known here. The NodeRestriction
  // admission plugin checks it.
  if (verb === 'create' || name === node) return allowed
  return because('can only access node lease with the same name as the requesting node')
}

const authorizeCsiNode: Decide = (_, node, { verb, subresource, name }) => {
  if (!ownVerbs.has(verb))
    return because('can only get, create, update, patch, or delete a CSINode')
  if (subresource !== '') return because('cannot authorize CSINode subresources')
  if (verb === 'create' || name === node) return allowed
  return because('can only access CSINode with the same name as the requesting node')
}

const authorizeSlice: Decide = ({ graph, gates }, node, asked) => {
  if (asked.subresource !== '') return because('cannot authorize ResourceSlice subresources')
  switch (asked.verb) {
    case 'create':
      return allowed
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return ifRelated(
        node,
        asked,
        () => asked.namespace === '' && graph.hasSlice(node, asked.name),
      )
    case 'list':
    case 'watch':
    case 'deletecollection':
      if (!limitsBySelectors(gates) || selectsNode(asked, node)) return allowed
      return because(
        'can only list/watch/deletecollection resourceslices with nodeName field selector',
      )
    default: {
      const verbs = 'get, watch, list, create, update, patch, delete, deletecollection'
      return because(`only the following verbs are allowed for a ResourceSlice: ${verbs}`)
    }
  }
}

const authorizeNodes: Decide = ({ gates }, node, { verb, subresource, name }) => {
  if (!limitsBySelectors(gates)) return undefined
  const isUpdate = verb === 'update' || verb === 'patch'
  if (subresource === 'status') return isUpdate ? allowed : noOpinion
  if (subresource !== '') return noOpinion
  if (isUpdate || verb === 'create') return allowed
  if (!readVerbs.has(verb)) return noOpinion
  // Allowed even if the Node does not exist: a kubelet queries its Node before it creates it.
  if (name === node) return allowed
  const what = name === '' ? 'all nodes' : `'${name}'`
  return because(`node '${node}' cannot read ${what}, only its own Node object`)
}

const authorizePods: Decide = ({ graph, gates }, node, asked) => {
  if (!limitsBySelectors(gates)) return undefined
  const { verb, subresource, namespace, name } = asked
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allowed : noOpinion
  if (subresource === 'eviction') return verb === 'create' ? allowed : noOpinion
  if (subresource !== '') return noOpinion
  const isRelated = (): boolean => graph.hasPod(node, namespace, name)
  switch (verb) {
    case 'get':
      return ifRelated(node, asked, isRelated)
    case 'list':
    case 'watch':
      if (selectsNode(asked, node)) return allowed
      if (name !== '') return ifRelated(node, asked, isRelated)
      return because('can only list/watch pods with spec.nodeName field selector')
    // Kubelets create and delete mirror pods. The NodeRestriction admission plugin checks which
    // pods a kubelet may create and delete.
    case 'create':
    case 'delete':
      return allowed
    default:
      return noOpinion
  }
}

const limitsBySelectors = (gates: Gates): boolean => gates.isOn('AuthorizeNodeWithSelectors')

/**
 * Whether the field selector limits the request to the node. All terms of the selector must match,
 * so one term for the node is enough.
 */
const selectsNode = ({ selectors }: ResourceAttributes, node: string): boolean =>
  selectors?.().fields.some(
    ({ field, isEqual, value }) => field === 'spec.nodeName' && isEqual && value === node,
  ) ?? false

const decisions: ReadonlyMap<string, Decide> = new Map<string, Decide>([
  ['secrets', readReferred('secrets')],
  ['configmaps', readReferred('configmaps')],
  ['persistentvolumeclaims', authorizeClaim],
  [
    'persistentvolumes',
    ({ graph }, node, asked) =>
      getRelated(node, asked, () => asked.namespace === '' && graph.hasVolume(node, asked.name)),
  ],
  [
    'resourceclaims.resource.k8s.io',
    ({ graph }, node, asked) =>
      getRelated(node, asked, () => graph.refersTo(node, 'resourceclaims', asked)),
  ],
  [
    'volumeattachments.storage.k8s.io',
    ({ graph }, node, asked) =>
      getRelated(
        node,
        asked,
        () => asked.namespace === '' && graph.hasAttachment(node, asked.name),
      ),
  ],
  ['serviceaccounts', authorizeAccount],
  ['leases.coordination.k8s.io', authorizeLease],
  ['csinodes.storage.k8s.io', authorizeCsiNode],
  ['resourceslices.resource.k8s.io', authorizeSlice],
  ['nodes', authorizeNodes],
  ['pods', authorizePods],
])

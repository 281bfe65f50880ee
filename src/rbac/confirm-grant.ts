/**
 * Nobody grants what he does not have: who writes a role needs all of its rights, and who binds one those of the role, unless he has the
 * verb `escalate` on the role or `bind` on the role that is bound. Looked at before the object is validated, as kube-apiserver does, and on
 * the latest state of all roles and bindings.
 */
import type { AccessAttributes, AccessDecision } from '../api/access.ts'
import { forbidden, notFound, unclassified } from '../api/errors.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject, omit, textOf } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import { mastersGroup, type User } from '../api/user.ts'
import { inSlices } from '../lib/slices.ts'
import { isSame } from '../schema/equal.ts'
import { heldRules, joined } from './authorizer.ts'
import { describeRule, joinVerbs, missingRights, quoteList } from './covers.ts'
import { rbacGroup, type RoleResource } from './followed-roles.ts'
import { readRules } from './read-objects.ts'
import type { RoleIndex } from './role-index.ts'
import type { Rule } from './rule.ts'

export type Grant = {
  readonly user: User
  readonly resource: RoleResource
  /** Of the path; empty: of the cluster. */
  readonly namespace: string
  /** In the path: a create has none. */
  readonly name: string
  readonly object: KubeObject
  /** Undefined: the object is new. */
  readonly current: KubeObject | undefined
  readonly signal: AbortSignal
}

export type GrantParts = {
  readonly index: RoleIndex
  /** Comes back when the index has everything that was written before. */
  readonly latest: (signal: AbortSignal) => Promise<void>
  /** The whole chain of authorizers. */
  readonly authorize: (user: User, attributes: AccessAttributes) => AccessDecision | Promise<AccessDecision>
}

/** Fails with Forbidden; with NotFound where the role to bind is not there. */
export async function confirmGrant(parts: GrantParts, grant: Grant): Promise<void> {
  if (grant.user.groups.includes(mastersGroup)) return
  const isBinding = grant.resource === 'rolebindings' || grant.resource === 'clusterrolebindings'
  await (isBinding ? confirmBinding(parts, grant) : confirmRole(parts, grant))
}

async function confirmRole(parts: GrantParts, grant: Grant): Promise<void> {
  const { user, resource, namespace, name, object, current, signal } = grant
  if (await isAuthorized(parts, user, { verb: 'escalate', group: rbacGroup, plural: resource, namespace, name })) return
  if (isHousekeeping(object, current)) return
  await parts.latest(signal)
  await confirmHeld(parts, grant, readRules(object['rules']))
  if (!aggregates(object) && !aggregates(current)) return
  const { rights } = await lacking(parts, grant, fullAuthority)
  if (rights.length > 0) throw refused(grant, 'must have cluster-admin privileges to use the aggregationRule')
}

async function confirmBinding(parts: GrantParts, grant: Grant): Promise<void> {
  const { user, resource, namespace, object, current, signal } = grant
  if (isHousekeeping(object, current)) return
  const { apiGroup, kind, name } = fieldsOf(object['roleRef'])
  const roleKind = textOf(kind)
  const roleName = textOf(name)
  if (roleKind !== 'Role' && roleKind !== 'ClusterRole') {
    throw unclassified(`unsupported role reference kind: ${quote(roleKind)}`)
  }
  const plural = roleKind === 'Role' ? 'roles' : 'clusterroles'
  const bind = { verb: 'bind', group: textOf(apiGroup), plural, namespace, name: roleName }
  if (await isAuthorized(parts, user, bind)) return
  await parts.latest(signal)
  const rules = parts.index.rulesOf(roleKind, { namespace, name: roleName })
  // Told as if the binding were missing.
  if (rules === undefined) throw notFound({ group: rbacGroup, plural: resource }, roleName)
  await confirmHeld(parts, grant, rules)
}

type Asked = Pick<Extract<AccessAttributes, { kind: 'resource' }>, 'verb' | 'group' | 'plural' | 'namespace' | 'name'>

async function isAuthorized({ authorize }: GrantParts, user: User, asked: Asked): Promise<boolean> {
  const { verdict } = await authorize(user, { kind: 'resource', version: '*', subresource: '', ...asked })
  return verdict === 'allow'
}

const fullAuthority: readonly Rule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
]

const aggregates = (role: KubeObject | undefined): boolean =>
  itemsOf(fieldsOf(role?.['aggregationRule'])['clusterRoleSelectors']).length > 0

async function confirmHeld(parts: GrantParts, grant: Grant, wanted: readonly Rule[]): Promise<void> {
  const { user } = grant
  const { rights, isAll, errors } = await lacking(parts, grant, wanted)
  if (isAll && rights.length === 0) return
  const lines = [...new Set(joinVerbs(rights).map(describeRule))].toSorted()
  if (!isAll) lines.push('more than can be checked at once: write roles with fewer rights each')
  const who = `user ${quote(user.name)} (groups=${quoteList(user.groups)})`
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`
  throw refused(grant, errors.size === 0 ? why : `${why}; resolution errors: [${joined(errors)}]`)
}

async function lacking({ index }: GrantParts, { user, namespace }: Grant, wanted: readonly Rule[]) {
  // The rules stay as they are, whatever becomes of the index while they are looked at.
  const { rules, errors } = heldRules(index, user, { namespace, names: 'plural' })
  return { ...(await inSlices(missingRights(rules, wanted))), errors }
}

const refused = ({ resource, object }: Grant, why: string): Error =>
  forbidden({ group: rbacGroup, plural: resource }, object.metadata.name ?? '', why)

/** Nothing but what garbage collection needs is changed, or nothing at all. */
function isHousekeeping(object: KubeObject, current: KubeObject | undefined): boolean {
  if (current === undefined) return false
  return isSame(withoutHousekeeping(object), withoutHousekeeping(current))
}

const withoutHousekeeping = (object: KubeObject): Fields => ({
  ...object,
  metadata: omit(object.metadata, 'ownerReferences', 'finalizers', 'selfLink', 'managedFields'),
})

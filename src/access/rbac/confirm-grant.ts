/**
 * The escalation check. A user who writes a role must have all permissions in the role, or the
 * `escalate` verb on the role. A user who writes a binding must have all permissions of the bound
 * role, or the `bind` verb on that role. As in kube-apiserver, the check precedes validation. It
 * uses the latest state of all roles and bindings.
 */
import type { AccessAttributes, AccessDecision } from '../../api/access.ts'
import { forbidden, notFound, unclassified } from '../../api/errors.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  omit,
  textOf,
} from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { mastersGroup, type User } from '../../api/user.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { inParts } from '../../lib/scheduling/parts.ts'
import { inSlices, Slices } from '../../lib/scheduling/slices.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { isSame } from '../../objects/schema/equal.ts'
import { heldRules } from './authorizer.ts'
import { describeRights, missingRights, quoteList } from './covers.ts'
import { readRules } from './read-objects.ts'
import { rbacGroup, type RoleResource } from './role.ts'
import type { RoleIndex } from './role-index.ts'
import type { Rule } from './rule.ts'

/**
 * Maximum length of the list of missing permissions in a message, because names in the list can be
 * long.
 */
const LIST_CHARACTERS_MAX = 64 * 1024

export type Grant = {
  readonly user: User
  readonly resource: RoleResource
  /** The namespace from the path; empty for cluster-scoped resources. */
  readonly namespace: string
  /** The name from the path; empty for a create. */
  readonly name: string
  readonly object: KubeObject
  /** The stored object; undefined if the object does not exist yet. */
  readonly current: KubeObject | undefined
  readonly signal: AbortSignal
}

export type ConfirmGrantOptions = {
  readonly index: RoleIndex
  /** Resolves when the index contains everything that was written before the call. */
  readonly latest: (signal: AbortSignal) => Promise<void>
  /** Decides with the whole chain of authorizers. */
  readonly authorize: (
    user: User,
    attributes: AccessAttributes,
    waiting: { readonly signal: AbortSignal },
  ) => MaybePromise<AccessDecision>
}

/**
 * Rejects with Forbidden if the user lacks permissions, or with NotFound if the role of a binding
 * does not exist.
 */
export async function confirmGrant(options: ConfirmGrantOptions, grant: Grant): Promise<void> {
  if (grant.user.groups.includes(mastersGroup) || isHousekeeping(grant.object, grant.current))
    return
  await options.latest(grant.signal)
  const isBinding = grant.resource === 'rolebindings' || grant.resource === 'clusterrolebindings'
  await (isBinding ? confirmBinding(options, grant) : confirmRole(options, grant))
}

async function confirmRole(options: ConfirmGrantOptions, grant: Grant): Promise<void> {
  const { resource, namespace, name, object, current } = grant
  if (
    await isAuthorized(options, grant, {
      verb: 'escalate',
      group: rbacGroup,
      plural: resource,
      namespace,
      name,
    })
  )
    return
  await confirmHeld(options, grant, await readInTurns(object['rules']))
  if (!aggregates(object) && !aggregates(current)) return
  const { rights, isAll } = await lacking(options, grant, fullAuthority)
  if (!isAll || rights.length > 0)
    throw refused(grant, 'must have cluster-admin privileges to use the aggregationRule')
}

/** A long list of rules is read in steps, over several ticks of the event loop. */
const SHORT_RULES = 1000

async function readInTurns(list: Json | undefined): Promise<readonly Rule[]> {
  if (!Array.isArray(list) || list.length <= SHORT_RULES) return readRules(list)
  return inParts(() => readRules(list), new Slices(systemTime, { isExpensive: true }))
}

async function confirmBinding(options: ConfirmGrantOptions, grant: Grant): Promise<void> {
  const { resource, namespace, object } = grant
  const { apiGroup, kind, name } = fieldsOf(object['roleRef'])
  const roleKind = textOf(kind)
  const roleName = textOf(name)
  if (roleKind !== 'Role' && roleKind !== 'ClusterRole') {
    throw unclassified(`unsupported role reference kind: ${quote(roleKind)}`)
  }
  const plural = roleKind === 'Role' ? 'roles' : 'clusterroles'
  const bind = { verb: 'bind', group: textOf(apiGroup), plural, namespace, name: roleName }
  if (await isAuthorized(options, grant, bind)) return
  const rules = options.index.rulesOf(roleKind, { namespace, name: roleName })
  // As in kube-apiserver, the error has the resource of the request but the name of the role.
  if (rules === undefined) throw notFound({ group: rbacGroup, plural: resource }, roleName)
  await confirmHeld(options, grant, rules)
}

type GrantAttributes = Pick<
  Extract<AccessAttributes, { kind: 'resource' }>,
  'verb' | 'group' | 'plural' | 'namespace' | 'name'
>

async function isAuthorized(
  { authorize }: ConfirmGrantOptions,
  { user, signal }: Grant,
  asked: GrantAttributes,
): Promise<boolean> {
  const { verdict } = await authorize(
    user,
    { kind: 'resource', version: '*', subresource: '', ...asked },
    { signal },
  )
  return verdict === 'allow'
}

const fullAuthority: readonly Rule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
]

const aggregates = (role: KubeObject | undefined): boolean =>
  itemsOf(fieldsOf(role?.['aggregationRule'])['clusterRoleSelectors']).length > 0

async function confirmHeld(
  options: ConfirmGrantOptions,
  grant: Grant,
  wanted: readonly Rule[],
): Promise<void> {
  const { user } = grant
  const { rights, isAll, error } = await lacking(options, grant, wanted)
  if (isAll && rights.length === 0) return
  const who = `user ${quote(user.name)} (groups=${quoteList(user.groups)})`
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${await listOf(rights, isAll)}`
  throw refused(grant, error === '' ? why : `${why}; resolution errors: [${error}]`)
}

async function listOf(rights: readonly Rule[], isAll: boolean): Promise<string> {
  const lines = await inSlices(describeRights(rights))
  const shown: string[] = []
  let characters = 0
  for (const line of lines) {
    characters += line.length
    if (characters > LIST_CHARACTERS_MAX) break
    shown.push(line)
  }
  if (!isAll || shown.length < lines.length)
    shown.push('and more: split the permissions into smaller roles')
  return shown.join('\n')
}

type GrantFailure = {
  readonly rights: readonly Rule[]
  readonly isAll: boolean
  readonly error: string
}

/**
 * Returns the requested permissions that the user lacks. If the user has too many rules, only the
 * first ones are compared. The check can then reject too much, but it never allows too much.
 */
async function lacking(
  { index }: ConfirmGrantOptions,
  { user, namespace }: Grant,
  wanted: readonly Rule[],
): Promise<GrantFailure> {
  const { rules, error } = heldRules(index, user, { namespace, each: 'role' })
  return { ...(await inSlices(missingRights(rules, wanted))), error }
}

const refused = ({ resource, object }: Grant, why: string): Error =>
  forbidden({ group: rbacGroup, plural: resource }, object.metadata.name ?? '', why)

/** Whether an update changes nothing, or only fields that the garbage collector changes. */
function isHousekeeping(object: KubeObject, current: KubeObject | undefined): boolean {
  if (current === undefined) return false
  return isSame(withoutHousekeeping(object), withoutHousekeeping(current))
}

const withoutHousekeeping = (object: KubeObject): Fields => ({
  ...object,
  metadata: omit(object.metadata, 'ownerReferences', 'finalizers', 'selfLink', 'managedFields'),
})

/**
 * The escalation check. Users that write a role need all of its permissions, and users that write a
 * binding need those of the role, unless they have the verb `escalate` on the role, or `bind` on
 * the role of the binding. As in kube-apiserver the check precedes validation. It is made on the
 * latest state of all roles and bindings.
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
import { describeRule, joinVerbs, missingRights, quoteList } from './covers.ts'
import { readRules } from './read-objects.ts'
import { rbacGroup, type RoleResource } from './role.ts'
import type { RoleIndex } from './role-index.ts'
import type { Rule } from './rule.ts'

/** Of the list of missing permissions in a message; names in it may be long. */
const LIST_CHARACTERS_MAX = 64 * 1024

export type Grant = {
  readonly user: User
  readonly resource: RoleResource
  /** From the path; empty for cluster-scoped resources. */
  readonly namespace: string
  /** From the path; empty for a create. */
  readonly name: string
  readonly object: KubeObject
  /** Undefined if the object is new. */
  readonly current: KubeObject | undefined
  readonly signal: AbortSignal
}

export type ConfirmGrantOptions = {
  readonly index: RoleIndex
  /** Resolves when the index has everything that was written before the call. */
  readonly latest: (signal: AbortSignal) => Promise<void>
  /** All authorizers. */
  readonly authorize: (
    user: User,
    attributes: AccessAttributes,
    waiting: { readonly signal: AbortSignal },
  ) => MaybePromise<AccessDecision>
}

/** Fails with Forbidden; with NotFound if the role of a binding does not exist. */
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

/** Longer lists of rules are read in several turns of the event loop. */
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
  // Upstream's error names the resource of the request, with the name of the role.
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
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${listOf(rights, isAll)}`
  throw refused(grant, error === '' ? why : `${why}; resolution errors: [${error}]`)
}

function listOf(rights: readonly Rule[], isAll: boolean): string {
  const lines = [...new Set(joinVerbs(rights).map(describeRule))].toSorted()
  const shown: string[] = []
  let characters = 0
  for (const line of lines) {
    characters += line.length
    if (characters > LIST_CHARACTERS_MAX) break
    shown.push(line)
  }
  if (!isAll || shown.length < lines.length)
    shown.push('and more: write roles with fewer permissions each')
  return shown.join('\n')
}

type GrantFailure = {
  readonly rights: readonly Rule[]
  readonly isAll: boolean
  readonly error: string
}

/**
 * A user with too many rules is taken to have only the first of them: the check may refuse more,
 * never less.
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

/** Whether an update changes only what garbage collection needs, or nothing. */
function isHousekeeping(object: KubeObject, current: KubeObject | undefined): boolean {
  if (current === undefined) return false
  return isSame(withoutHousekeeping(object), withoutHousekeeping(current))
}

const withoutHousekeeping = (object: KubeObject): Fields => ({
  ...object,
  metadata: omit(object.metadata, 'ownerReferences', 'finalizers', 'selfLink', 'managedFields'),
})

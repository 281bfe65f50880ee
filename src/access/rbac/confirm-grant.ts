/**
 * The escalation check. A user who writes a role must have all permissions in the role, or the
 * `escalate` verb on the role. A user who writes a binding must have all permissions of the bound
 * role, or the `bind` verb on that role. As in kube-apiserver, the check precedes validation. It
 * uses the latest state of all roles and bindings.
 */
import type { AccessAttributes, AccessDecision } from '../../api/access.ts'
import { forbidden, notFound, unclassified } from '../../api/errors.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject, omit, textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { mastersGroup, type User } from '../../api/user.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import { inSlices, Slices } from '../../lib/scheduling/slices.ts'
import { isSame } from '../../objects/schema/equal.ts'
import { heldRules, ResolutionErrors } from './authorizer.ts'
import {
  COMPARED_ENTRIES_MAX,
  describeRights,
  type MissingRights,
  missingRights,
  quoteList,
} from './covers.ts'
import { readRules } from './read-objects.ts'
import { rbacGroup, type RoleResource } from './role.ts'
import type { RoleIndex } from './role-index.ts'
import type { KeptRule } from './rule.ts'

/**
 * Maximum length of the list of missing permissions in a message. The list can contain long names.
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
  /** Aborts the check when the request ends. */
  readonly signal: AbortSignal
  /**
   * Processes a large object in parts, so that other requests do not have to wait. Undefined if the
   * object is small. The promise rejects when the request ends.
   */
  readonly inParts: (<T>(work: () => T) => Promise<T>) | undefined
  /** Reserves memory for the request, in bytes. Throws if there is not enough memory. */
  readonly reserve: (bytes: number) => void
}

export type ConfirmGrantOptions = {
  readonly index: RoleIndex
  /** Resolves when the index contains everything that was written before the call. */
  readonly latest: (signal: AbortSignal) => Promise<void>
  /** Asks the whole chain of authorizers whether the user has a permission. */
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
  if (grant.user.groups.includes(mastersGroup)) return
  const { object, current } = grant
  if (current !== undefined && (await work(grant, () => isHousekeeping(object, current)))) return
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
  await confirmHeld(options, grant, await work(grant, () => readRules(object['rules'])))
  if (!aggregates(object) && !aggregates(current)) return
  const { rights } = await lacking(options, grant, fullAuthority)
  if (rights.length > 0)
    throw refused(grant, 'must have cluster-admin privileges to use the aggregationRule')
}

/**
 * Runs a function that processes the object of the request. A large object is processed in parts,
 * so that other requests do not have to wait.
 */
const work = <T>({ inParts }: Grant, run: () => T): MaybePromise<T> =>
  inParts === undefined ? run() : inParts(run)

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
  // As in kube-apiserver, this error names the resource that is written, such as `rolebindings`,
  // but the name in it is that of the missing role.
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

const fullAuthority: readonly KeptRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
]

const aggregates = (role: KubeObject | undefined): boolean =>
  itemsOf(fieldsOf(role?.['aggregationRule'])['clusterRoleSelectors']).length > 0

async function confirmHeld(
  options: ConfirmGrantOptions,
  grant: Grant,
  wanted: readonly KeptRule[],
): Promise<void> {
  const { user } = grant
  const { rights, limit, error } = await lacking(options, grant, wanted)
  if (rights.length === 0) return
  const who = `user ${quote(user.name)} (groups=${quoteList(user.groups)})`
  const lines = await inSlices(describeRights(rights), new Slices(), grant.signal)
  const list = shownLines(lines, limit !== 'none')
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${list}`
  throw refused(grant, error === '' ? why : `${why}; resolution errors: [${error}]`)
}

function shownLines(lines: readonly string[], hasMore: boolean): string {
  const shown: string[] = []
  let characters = 0
  for (const line of lines) {
    characters += line.length
    if (characters > LIST_CHARACTERS_MAX) break
    shown.push(line)
  }
  if (hasMore || shown.length < lines.length)
    shown.push('and more: split the permissions into smaller roles')
  return shown.join('\n')
}

type GrantFailure = MissingRights & { readonly error: string }

/**
 * Returns the requested permissions that the user lacks. If the comparison reaches a limit before
 * it finds a missing permission, rejects. A write may thus be rejected without need, but a missing
 * permission never goes unnoticed.
 */
async function lacking(
  { index }: ConfirmGrantOptions,
  grant: Grant,
  wanted: readonly KeptRule[],
): Promise<GrantFailure> {
  const { user, namespace, signal, reserve } = grant
  const errors = new ResolutionErrors()
  const held = heldRules(index, user, { namespace, each: 'role', errors })
  const missing = await inSlices(missingRights(held, wanted, { reserve }), new Slices(), signal)
  if (missing.limit === 'compared' && missing.rights.length === 0) {
    const why = `the permissions cannot be checked, because the check compares at most ${COMPARED_ENTRIES_MAX} entries of rules`
    throw refused(grant, `${why}: split the permissions into smaller roles`)
  }
  return { ...missing, error: errors.text() }
}

const refused = ({ resource, object }: Grant, why: string): Error =>
  forbidden({ group: rbacGroup, plural: resource }, object.metadata.name ?? '', why)

/** Whether an update changes nothing, or only fields that the garbage collector changes. */
const isHousekeeping = (object: KubeObject, current: KubeObject): boolean =>
  isSame(withoutHousekeeping(object), withoutHousekeeping(current))

const withoutHousekeeping = (object: KubeObject): Fields => ({
  ...object,
  metadata: omit(object.metadata, 'ownerReferences', 'finalizers', 'selfLink', 'managedFields'),
})

/**
 * Authorization. Members of system:masters may do everything; for others the authorizers of `--authorization-mode` are tried in turn, and the
 * first that has an opinion decides. All of them decide synchronously, from memory.
 */
import type { AccessAttributes, AccessDecision, AuthorizationMode } from '../api/access.ts'
import type { RequestInfo } from '../api/context.ts'
import { type ApiError, escapeHtml, forbidden } from '../api/errors.ts'
import { type Fields, present } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import { mastersGroup, type User } from '../api/user.ts'
import { authorizeByRoles, heldRules } from '../rbac/authorizer.ts'
import type { RoleIndex } from '../rbac/role-index.ts'

export type Authorize = (user: User, attributes: AccessAttributes) => AccessDecision | Promise<AccessDecision>

/** All that a user may do in a namespace, as a SelfSubjectRulesReview lists it. */
export type Rights = {
  readonly resourceRules: readonly Fields[]
  readonly nonResourceRules: readonly Fields[]
  /** True if an authorizer may allow more than it can list. */
  readonly incomplete: boolean
  readonly evaluationError?: string
}

export type Authorizer = {
  readonly authorize: Authorize
  readonly rightsOf: (user: User, namespace: string) => Rights
}

/** Decides synchronously, from memory. */
type AuthorizeNow = (user: User, attributes: AccessAttributes) => AccessDecision

/** The authorizer of one mode. */
type ModeAuthorizer = {
  readonly authorize: AuthorizeNow
  readonly rightsOf: (user: User, namespace: string) => Rights
}

const allowed: AccessDecision = { verdict: 'allow', reason: '' }
const noOpinion: AccessDecision = { verdict: 'no-opinion', reason: '' }

const everything: Rights = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
}
const nothing: Rights = { resourceRules: [], nonResourceRules: [], incomplete: false }

/** `index`: the roles that RBAC decides by. */
export function createAuthorizer(modes: readonly AuthorizationMode[], index: RoleIndex): Authorizer {
  const chain = modes.map((mode) => authorizerOf(mode, index))
  return {
    authorize: (user, attributes) =>
      user.groups.includes(mastersGroup) ? allowed : firstOpinion(chain, user, attributes),
    rightsOf: (user, namespace) => joinRights(chain.map(({ rightsOf }) => rightsOf(user, namespace))),
  }
}

function authorizerOf(mode: AuthorizationMode, index: RoleIndex): ModeAuthorizer {
  switch (mode) {
    case 'AlwaysAllow':
      return { authorize: () => allowed, rightsOf: () => everything }
    case 'AlwaysDeny':
      return {
        authorize: () => ({ verdict: 'no-opinion', reason: 'Everything is forbidden.' }),
        rightsOf: () => nothing,
      }
    case 'RBAC':
      return {
        authorize: (user, attributes) => authorizeByRoles(index, user, attributes),
        rightsOf: (user, namespace) => rightsByRoles(index, user, namespace),
      }
    case 'Node':
      // TODO(#16): the node authorizer. Until then a kubelet may do what its roles allow.
      return { authorize: () => noOpinion, rightsOf: (user) => (isNode(user) ? unknownOfNodes : nothing) }
  }
}

/** The decision of the first authorizer that has an opinion; if none has, the reasons of all. */
function firstOpinion(chain: readonly ModeAuthorizer[], user: User, attributes: AccessAttributes): AccessDecision {
  const reasons: string[] = []
  for (const { authorize } of chain) {
    const decision = authorize(user, attributes)
    if (decision.verdict !== 'no-opinion') return decision
    if (decision.reason !== '') reasons.push(decision.reason)
  }
  return reasons.length === 0 ? noOpinion : { verdict: 'no-opinion', reason: reasons.join('\n') }
}

function rightsByRoles(index: RoleIndex, user: User, namespace: string): Rights {
  const { rules, isComplete, error } = heldRules(index, user, { namespace, each: 'binding' })
  const errors = [error, isComplete ? '' : 'the user has too many rules to list all of them'].filter(Boolean)
  return {
    resourceRules: rules
      .filter(({ resources }) => resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) =>
        present({ verbs, apiGroups: orNone(apiGroups), resources, resourceNames: orNone(resourceNames) }),
      ),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: !isComplete,
    ...(errors.length === 0 ? {} : { evaluationError: errors.join('; ') }),
  }
}

const orNone = (list: readonly string[]): readonly string[] | undefined => (list.length === 0 ? undefined : list)

const isNode = ({ name, groups }: User): boolean => name.startsWith('system:node:') && groups.includes('system:nodes')

const unknownOfNodes: Rights = {
  ...nothing,
  incomplete: true,
  evaluationError: 'node authorizer does not support user rule resolution',
}

function joinRights(all: readonly Rights[]): Rights {
  const errors = all.flatMap(({ evaluationError }) => evaluationError ?? [])
  return {
    resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
    nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
    incomplete: all.some(({ incomplete }) => incomplete),
    ...(errors.length === 0 ? {} : { evaluationError: errors.join('; ') }),
  }
}

/** The 403, with upstream's text. */
export function refusal(user: User, attributes: AccessAttributes | RequestInfo, reason: string): ApiError {
  const who = `User ${quote(user.name)} cannot ${attributes.verb}`
  const because = reason === '' ? '' : `: ${reason}`
  if (attributes.kind === 'path') {
    return forbidden({ group: '', plural: '' }, '', escapeHtml(`${who} path ${quote(attributes.path)}`) + because)
  }
  const { group, plural, subresource, namespace, name } = attributes
  const resource = subresource === '' ? plural : `${plural}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`
  const what = `resource ${quote(resource)} in API group ${quote(group)} ${where}`
  return forbidden({ group, plural }, name, escapeHtml(`${who} ${what}`) + because)
}

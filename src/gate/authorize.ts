/**
 * Authorization. Authorizers are tried in turn and the first that has an opinion decides; members of system:masters may do everything,
 * whatever the mode. `authorizeByBootstrapRoles` knows the default roles of every cluster: `bootstrapRoles`.
 */
import type { AccessAttributes, AccessDecision } from '../api/access.ts'
import type { RequestInfo } from '../api/context.ts'
import { type ApiError, escapeHtml, forbidden } from '../api/errors.ts'
import type { Fields } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import { authenticatedGroup, mastersGroup, unauthenticatedGroup, type User } from '../api/user.ts'

export type Authorize = (user: User, attributes: AccessAttributes) => AccessDecision | Promise<AccessDecision>

/** How an authorization mode decides, and all that it allows to a user, as a SelfSubjectRulesReview lists it. */
export type Authorizer = { readonly authorize: Authorize; readonly rightsOf: (user: User) => Rights }

type Rights = { readonly resourceRules: readonly Fields[]; readonly nonResourceRules: readonly Fields[] }

/** A default ClusterRole, and the groups to which the ClusterRoleBinding of the same name grants it. */
type BootstrapRole = {
  readonly name: string
  readonly groups: readonly string[]
  readonly resourceRules?: readonly ResourceRule[]
  readonly paths?: readonly string[]
}
type ResourceRule = { readonly verbs: readonly string[]; readonly group: string; readonly resources: readonly string[] }

const publicPaths: readonly string[] = ['/healthz', '/livez', '/readyz', '/version', '/version/']
const discoveryPaths: readonly string[] = [
  ...['/api', '/api/*', '/apis', '/apis/*', '/healthz', '/livez', '/openapi', '/openapi/*', '/readyz'],
  ...['/version', '/version/'],
]
const issuerPaths: readonly string[] = [
  ...['/.well-known/openid-configuration', '/.well-known/openid-configuration/'],
  ...['/openid/v1/jwks', '/openid/v1/jwks/'],
]

/** Sorted by name: the first role that allows the request gives the reason. */
const bootstrapRoles: readonly BootstrapRole[] = [
  {
    name: 'system:basic-user',
    groups: [authenticatedGroup],
    resourceRules: [
      {
        verbs: ['create'],
        group: 'authorization.k8s.io',
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
      { verbs: ['create'], group: 'authentication.k8s.io', resources: ['selfsubjectreviews'] },
    ],
  },
  { name: 'system:discovery', groups: [authenticatedGroup], paths: discoveryPaths },
  {
    name: 'system:public-info-viewer',
    groups: [authenticatedGroup, unauthenticatedGroup],
    paths: publicPaths,
  },
  { name: 'system:service-account-issuer-discovery', groups: ['system:serviceaccounts'], paths: issuerPaths },
]

/** Decides synchronously, from memory. */
type AuthorizeNow = (user: User, attributes: AccessAttributes) => AccessDecision

const allowed: AccessDecision = { verdict: 'allow', reason: '' }
const noOpinion: AccessDecision = { verdict: 'no-opinion', reason: '' }

const allowMasters: AuthorizeNow = ({ groups }) => (groups.includes(mastersGroup) ? allowed : noOpinion)

/** The decision of the first authorizer that has an opinion; if none has, that of the last one. */
const firstOpinion =
  (...authorizers: readonly AuthorizeNow[]): AuthorizeNow =>
  (user, attributes) => {
    let decision = noOpinion
    for (const authorize of authorizers) {
      decision = authorize(user, attributes)
      if (decision.verdict !== 'no-opinion') break
    }
    return decision
  }

const authorizeByBootstrapRoles: AuthorizeNow = ({ groups }, attributes) => {
  for (const role of bootstrapRoles) {
    const group = role.groups.find((one) => groups.includes(one))
    if (group === undefined || !allows(role, attributes)) continue
    const { name } = role
    const reason = `RBAC: allowed by ClusterRoleBinding ${quote(name)} of ClusterRole ${quote(name)} to Group ${quote(group)}`
    return { verdict: 'allow', reason }
  }
  return noOpinion
}

function allows({ resourceRules = [], paths = [] }: BootstrapRole, attributes: AccessAttributes): boolean {
  const { verb } = attributes
  if (attributes.kind === 'path') return verb === 'get' && paths.some((one) => matchesPath(one, attributes.path))
  const { group, plural, subresource } = attributes
  return resourceRules.some(
    (rule) =>
      subresource === '' && rule.group === group && rule.verbs.includes(verb) && rule.resources.includes(plural),
  )
}

const matchesPath = (pattern: string, path: string): boolean =>
  pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern

const everything: Rights = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}
const nothing: Rights = { resourceRules: [], nonResourceRules: [] }

function rightsByBootstrapRoles({ groups }: User): Rights {
  const { resourceRules, nonResourceRules } = groups.includes(mastersGroup) ? everything : nothing
  const roles = bootstrapRoles.filter((role) => role.groups.some((group) => groups.includes(group)))
  return {
    resourceRules: [
      ...resourceRules,
      ...roles.flatMap(({ resourceRules: rules = [] }) =>
        rules.map(({ verbs, group, resources }) => ({ verbs, apiGroups: [group], resources })),
      ),
    ],
    nonResourceRules: [
      ...nonResourceRules,
      ...roles.flatMap(({ paths }) => (paths === undefined ? [] : [{ verbs: ['get'], nonResourceURLs: paths }])),
    ],
  }
}

const denyAll: AuthorizeNow = () => ({ verdict: 'no-opinion', reason: 'Everything is forbidden.' })

export const authorizers: { readonly [mode in 'roles' | 'always-allow' | 'always-deny']: Authorizer } = {
  roles: { authorize: firstOpinion(allowMasters, authorizeByBootstrapRoles), rightsOf: rightsByBootstrapRoles },
  'always-allow': { authorize: () => allowed, rightsOf: () => everything },
  'always-deny': { authorize: firstOpinion(allowMasters, denyAll), rightsOf: () => nothing },
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

/**
 * Whether the user may do it. `Authorize` is the seam: role-based access takes the place of `authorizeByBootstrapRoles`,
 * which knows what every cluster begins with: members of system:masters may do everything, everybody else only what the
 * roles system:discovery, system:public-info-viewer and system:basic-user give.
 */
import type { RequestInfo } from '../api/context.ts'
import { type ApiError, escapeHtml, forbidden } from '../api/errors.ts'
import { quote } from '../api/quote.ts'
import { authenticatedGroup, mastersGroup, type User } from '../api/user.ts'

/** What access is decided on; a part of RequestInfo, so that verbs can also ask about what is not in the path. */
export type Attributes =
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }
  | {
      readonly kind: 'resource'
      readonly verb: string
      readonly group: string
      readonly plural: string
      readonly subresource: string
      readonly namespace: string
      readonly name: string
    }

/** The reason goes to the audit log, and into the refusal where there is one. */
export type Decision = { readonly isAllowed: boolean; readonly reason: string }

export type Authorize = (user: User, attributes: Attributes) => Decision | Promise<Decision>

const publicPaths: readonly string[] = ['/healthz', '/livez', '/readyz', '/version', '/version/']
const discoveryPaths: readonly string[] = ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*']
/** Group and resource of the questions about oneself. */
const ownReviews: ReadonlySet<string> = new Set([
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authentication.k8s.io/selfsubjectreviews',
])

const allowed: Decision = { isAllowed: true, reason: '' }
const refused: Decision = { isAllowed: false, reason: '' }

export const authorizeByBootstrapRoles: Authorize = (user, attributes) => {
  if (user.groups.includes(mastersGroup)) return allowed
  const isKnown = user.groups.includes(authenticatedGroup)
  return mayWithoutRoles(attributes, isKnown) ? allowed : refused
}

function mayWithoutRoles(attributes: Attributes, isKnown: boolean): boolean {
  if (attributes.kind === 'resource') {
    const { verb, group, plural, subresource } = attributes
    return isKnown && verb === 'create' && subresource === '' && ownReviews.has(`${group}/${plural}`)
  }
  if (attributes.verb !== 'get') return false
  if (publicPaths.includes(attributes.path)) return true
  return isKnown && discoveryPaths.some((pattern) => matchesPath(pattern, attributes.path))
}

const matchesPath = (pattern: string, path: string): boolean =>
  pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern

/** The refusal, in upstream's words. */
export function refusal(user: User, attributes: Attributes | RequestInfo, reason: string): ApiError {
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

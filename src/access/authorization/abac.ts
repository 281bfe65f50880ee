/**
 * The ABAC authorizer. It reads its policies from a file once, at startup. A policy does not name
 * verbs: it allows either all verbs or only reading. The first policy that matches allows the
 * request. A policy cannot deny a request.
 */
import type { AccessAttributes, AccessDecision } from '../../api/access.ts'
import { pathPrefix } from '../../api/path-prefix.ts'
import type { User } from '../../api/user.ts'
import { readVerbs } from '../../api/verbs.ts'
import type { AbacRule } from '../../config/files/abac.ts'
import { allowed, type Authorizer, type Rights } from './authorizer.ts'

/** Maximum number of policies that the explanation of a decision lists. */
const POLICIES_MAX = 10

const notMatched: AccessDecision = { verdict: 'no-opinion', reason: 'No policy matched.' }

export const createAbacAuthorizer = (rules: readonly AbacRule[]): Authorizer => ({
  authorize: (user, attributes) =>
    rules.some((rule) => matches(rule, user, attributes)) ? allowed : notMatched,
  rightsOf: (user, namespace) => rightsByPolicies(rules, user, namespace),
  explain: async (user, attributes) => {
    const policy = rules.find((rule) => matches(rule, user, attributes))
    return policy === undefined
      ? { policies: rules.filter((rule) => isFor(rule, user)).slice(0, POLICIES_MAX) }
      : { grantedBy: { policy } }
  },
})

const matches = (rule: AbacRule, user: User, attributes: AccessAttributes): boolean =>
  isFor(rule, user) &&
  (!rule.isReadOnly || readVerbs.has(attributes.verb)) &&
  isAbout(rule, attributes)

/**
 * Whether a policy applies to the user. If the policy names both a user and a group, both must
 * match. A policy that names neither never applies.
 */
function isFor({ user: name, group }: AbacRule, user: User): boolean {
  if (name === '' && group === '') return false
  const isUser = name === '' || name === '*' || name === user.name
  return isUser && (group === '' || group === '*' || user.groups.includes(group))
}

function isAbout(rule: AbacRule, attributes: AccessAttributes): boolean {
  if (attributes.kind === 'path') return isPath(rule.nonResourcePath, attributes.path)
  const { namespace, plural, group } = attributes
  return (
    isAny(rule.namespace, namespace) && isAny(rule.resource, plural) && isAny(rule.apiGroup, group)
  )
}

const isAny = (pattern: string, value: string): boolean => pattern === '*' || pattern === value

/** Whether a path matches; `/logs/*` matches all paths that begin with `/logs/`. */
function isPath(pattern: string, path: string): boolean {
  if (isAny(pattern, path)) return true
  return pattern.endsWith('*') && path.startsWith(pathPrefix(pattern))
}

function rightsByPolicies(rules: readonly AbacRule[], user: User, namespace: string): Rights {
  const own = rules.filter((rule) => isFor(rule, user) && isAny(rule.namespace, namespace))
  return {
    resourceRules: own
      .filter(({ resource }) => resource !== '')
      .map(({ apiGroup, resource, isReadOnly }) => ({
        verbs: verbsOf(isReadOnly),
        apiGroups: [apiGroup],
        resources: [resource],
      })),
    nonResourceRules: own
      .filter(({ nonResourcePath }) => nonResourcePath !== '')
      .map(({ nonResourcePath, isReadOnly }) => ({
        verbs: verbsOf(isReadOnly),
        nonResourceURLs: [nonResourcePath],
      })),
    incomplete: false,
  }
}

const verbsOf = (isReadOnly: boolean): readonly string[] =>
  isReadOnly ? ['get', 'list', 'watch'] : ['*']

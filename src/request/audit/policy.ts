/**
 * Evaluates the audit policy, which determines for each request which events are recorded and how
 * much they contain. Rules are compiled once. The first matching rule applies. If no rule matches a
 * request, it is not recorded.
 */
import type { RequestInfo, ResourceInfo } from '../../api/context.ts'
import { pathPrefix } from '../../api/path-prefix.ts'
import type { User } from '../../api/user.ts'
import type {
  AuditLevel,
  AuditPolicy,
  AuditResources,
  AuditRule,
  AuditStage,
} from '../../config/files/audit-policy.ts'

/**
 * How a request is recorded. All requests that match the same rule share one object of this type.
 */
export type Recording = {
  readonly level: AuditLevel
  readonly omitsStage: { readonly [stage in AuditStage]: boolean }
  readonly omitsManagedFields: boolean
}

/**
 * Evaluates the policy for a request. `user` is the authenticated user, not the impersonated user.
 * It is undefined if authentication failed.
 */
export type EvaluatePolicy = (user: User | undefined, info: RequestInfo) => Recording

export function compilePolicy(policy: AuditPolicy): EvaluatePolicy {
  const rules = policy.rules.map((rule) => ({
    matches: compileRule(rule),
    recording: recordingOf(rule, policy),
  }))
  const unmatched = recordingOf({ level: 'None', omitStages: [], omitsManagedFields: null }, policy)
  return (user, info) => {
    for (const { matches, recording } of rules) if (matches(user, info)) return recording
    return unmatched
  }
}

function recordingOf(
  {
    level,
    omitStages,
    omitsManagedFields,
  }: Pick<AuditRule, 'level' | 'omitStages' | 'omitsManagedFields'>,
  policy: AuditPolicy,
): Recording {
  const omits = (stage: AuditStage): boolean =>
    omitStages.includes(stage) || policy.omitStages.includes(stage)
  return {
    level,
    omitsStage: {
      RequestReceived: omits('RequestReceived'),
      ResponseStarted: omits('ResponseStarted'),
      ResponseComplete: omits('ResponseComplete'),
      Panic: omits('Panic'),
    },
    omitsManagedFields: omitsManagedFields ?? policy.omitsManagedFields,
  }
}

type Matches = (user: User | undefined, info: RequestInfo) => boolean

/** Compiles a rule. If a rule does not set a field, any value of this field matches. */
function compileRule(rule: AuditRule): Matches {
  const conditions: Matches[] = []
  const users = setOf(rule.users)
  const groups = setOf(rule.userGroups)
  const verbs = setOf(rule.verbs)
  if (users !== undefined) conditions.push((user) => user !== undefined && users.has(user.name))
  if (groups !== undefined)
    conditions.push((user) => user?.groups.some((group) => groups.has(group)) ?? false)
  if (verbs !== undefined) conditions.push((_, { verb }) => verbs.has(verb))
  if (rule.namespaces.length > 0 || rule.resources.length > 0) {
    const matches = compileResources(rule)
    conditions.push((_, info) => info.kind === 'resource' && matches(info))
  } else if (rule.nonResourceUrls.length > 0) {
    const matches = compilePaths(rule.nonResourceUrls)
    conditions.push((_, info) => info.kind === 'path' && matches(info.path))
  }
  return (user, info) => {
    for (const holds of conditions) if (!holds(user, info)) return false
    return true
  }
}

const setOf = (list: readonly string[]): ReadonlySet<string> | undefined =>
  list.length === 0 ? undefined : new Set(list)

function compileResources({ namespaces, resources }: AuditRule): (info: ResourceInfo) => boolean {
  // Cluster-scoped resources have the empty namespace. A rule with namespaces matches them only if
  // it lists the empty string.
  const inNamespaces = setOf(namespaces)
  const entries = resources.map(compileEntry)
  return (info) => {
    if (inNamespaces !== undefined && !inNamespaces.has(info.namespace)) return false
    if (entries.length === 0) return true
    for (const { group, matches } of entries) if (group === info.group && matches(info)) return true
    return false
  }
}

type Entry = { readonly group: string; readonly matches: (info: ResourceInfo) => boolean }

/**
 * Compiles an entry of a rule's resources. As in kube-apiserver, `pods` does not match `pods/log`,
 * but `pods/*` also matches `pods`. If the entry lists no resources, its names are ignored.
 */
function compileEntry({ group, resources, resourceNames }: AuditResources): Entry {
  if (resources.length === 0) return { group, matches: () => true }
  const names = setOf(resourceNames)
  const exact = new Set(resources)
  const isAll = exact.has('*')
  return {
    group,
    matches: ({ plural, subresource, name }) => {
      if (names !== undefined && !names.has(name)) return false
      if (isAll || exact.has(`${plural}/*`)) return true
      if (subresource === '') return exact.has(plural)
      return exact.has(`${plural}/${subresource}`) || exact.has(`*/${subresource}`)
    },
  }
}

function compilePaths(urls: readonly string[]): (path: string) => boolean {
  const exact = new Set(urls)
  if (exact.has('*')) return () => true
  const prefixes = urls.filter((url) => url.endsWith('*')).map(pathPrefix)
  return (path) => exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix))
}

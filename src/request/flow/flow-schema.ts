/**
 * A FlowSchema in a form that is efficient to match: the users and requests to which it applies.
 */
import type { RequestInfo, ResourceInfo } from '../../api/context.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
  textsOf,
} from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import { accountUserName } from '../../api/service-account.ts'

export type FlowSchema = {
  readonly name: string
  readonly uid: string
  /**
   * Flow schemas with a lower number are matched first. Flow schemas with the same number are
   * matched in the order of their names.
   */
  readonly precedence: number
  /** Name of the priority level. */
  readonly level: string
  /**
   * Property of a request that determines its flow. Undefined if the flow schema has only one flow.
   */
  readonly distinguishedBy: 'user' | 'namespace' | undefined
  readonly rules: readonly FlowRule[]
}

/** Returns the string that identifies the flow of a request within the flow schema. */
export function distinguisherOf(
  { distinguishedBy }: FlowSchema,
  user: User,
  info: RequestInfo,
): string {
  if (distinguishedBy === undefined) return ''
  if (distinguishedBy === 'user') return user.name
  return info.kind === 'resource' ? info.namespace : ''
}

export type FlowRule = {
  readonly subjects: readonly Subject[]
  readonly resources: readonly ResourceRule[]
  readonly paths: readonly PathRule[]
}

type Subject =
  /** Matches a user or a group. An undefined `name` matches every user. */
  | { readonly kind: 'User' | 'Group'; readonly name: string | undefined }
  /**
   * Matches ServiceAccounts. `prefix` is the prefix of the user names of all ServiceAccounts in a
   * namespace.
   */
  | { readonly kind: 'accounts'; readonly prefix: string }

/** A set of names. Undefined means that all names match. */
type Names = ReadonlySet<string> | undefined

type ResourceRule = {
  readonly verbs: Names
  readonly groups: Names
  /**
   * Resources such as `pods` or `pods/status`. Unlike in roles, `*` cannot replace only a part of a
   * name.
   */
  readonly resources: Names
  readonly namespaces: Names
  /** Whether the rule applies to requests without a namespace. */
  readonly isOfCluster: boolean
}

/** A rule for paths. Unlike in roles, each path in `prefixes` also covers the paths below it. */
type PathRule = {
  readonly verbs: Names
  readonly paths: Names
  readonly prefixes: readonly string[]
}

const everything: FlowRule['resources'] = [
  {
    verbs: undefined,
    groups: undefined,
    resources: undefined,
    namespaces: undefined,
    isOfCluster: true,
  },
]
const anyPath: FlowRule['paths'] = [{ verbs: undefined, paths: undefined, prefixes: [] }]
const groupsNamed = (...names: readonly string[]): readonly Subject[] =>
  names.map((name) => ({ kind: 'Group', name }))

/** Flow schemas that apply even if their FlowSchema objects do not exist, as in kube-apiserver. */
export const mandatorySchemas: readonly FlowSchema[] = [
  {
    name: 'exempt',
    uid: '',
    precedence: 1,
    level: 'exempt',
    distinguishedBy: undefined,
    rules: [{ subjects: groupsNamed('system:masters'), resources: everything, paths: anyPath }],
  },
  {
    name: 'catch-all',
    uid: '',
    precedence: 10_000,
    level: 'catch-all',
    distinguishedBy: 'user',
    rules: [
      {
        subjects: groupsNamed('system:unauthenticated', 'system:authenticated'),
        resources: everything,
        paths: anyPath,
      },
    ],
  },
]

export function readSchema({ metadata, spec }: KubeObject): FlowSchema {
  const { matchingPrecedence, priorityLevelConfiguration, distinguisherMethod, rules } =
    fieldsOf(spec)
  const method = fieldsOf(distinguisherMethod)['type']
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    precedence: numberOf(matchingPrecedence),
    level: textOf(fieldsOf(priorityLevelConfiguration)['name']),
    distinguishedBy:
      method === 'ByUser' ? 'user' : method === 'ByNamespace' ? 'namespace' : undefined,
    rules: itemsOf(rules).map(readRule),
  }
}

const readRule = ({ subjects, resourceRules, nonResourceRules }: Fields): FlowRule => ({
  subjects: itemsOf(subjects).flatMap((subject) => readSubject(subject) ?? []),
  resources: itemsOf(resourceRules).map((rule) => ({
    verbs: namesOf(rule['verbs']),
    groups: namesOf(rule['apiGroups']),
    resources: namesOf(rule['resources']),
    namespaces: namesOf(rule['namespaces']),
    isOfCluster: rule['clusterScope'] === true,
  })),
  paths: itemsOf(nonResourceRules).map((rule) => ({
    verbs: namesOf(rule['verbs']),
    paths: textsOf(rule['nonResourceURLs']).includes('*')
      ? undefined
      : new Set(textsOf(rule['nonResourceURLs'])),
    prefixes: textsOf(rule['nonResourceURLs']).map(prefixOf),
  })),
})

/** Reads a subject of a FlowSchema. Returns undefined for a subject that matches no user. */
function readSubject({ kind, user, group, serviceAccount }: Fields): Subject | undefined {
  if (kind === 'User' || kind === 'Group') {
    const who = kind === 'User' ? user : group
    if (who === undefined) return undefined
    const name = textOf(fieldsOf(who)['name'])
    return { kind, name: name === '*' ? undefined : name }
  }
  if (kind !== 'ServiceAccount' || serviceAccount === undefined) return undefined
  const { namespace, name } = fieldsOf(serviceAccount)
  const prefix = accountUserName({ namespace: textOf(namespace), name: '' })
  return name === '*'
    ? { kind: 'accounts', prefix }
    : { kind: 'User', name: `${prefix}${textOf(name)}` }
}

/**
 * Returns the names in a list, or undefined if all names match. Validation ensures that `*` is the
 * only item if it is present.
 */
function namesOf(list: Fields[string]): Names {
  const names = textsOf(list)
  return names.length === 1 && names[0] === '*' ? undefined : new Set(names)
}

function prefixOf(path: string): string {
  const start = path.endsWith('*') ? path.slice(0, -1) : path
  return start.endsWith('/') ? start : `${start}/`
}

/** Whether the rule applies to this user. */
export function isFor({ subjects }: FlowRule, { name, groups }: User): boolean {
  for (const subject of subjects) {
    if (subject.kind === 'accounts') {
      if (name.startsWith(subject.prefix)) return true
    } else if (subject.name === undefined) return true
    // Bounded: a FlowSchema has few subjects, because only administrators write them.
    else if (subject.kind === 'User' ? subject.name === name : groups.includes(subject.name))
      return true
  }
  return false
}

/**
 * Whether a rule that applies to the user also applies to the request. The function uses loops
 * instead of closures for speed, because it checks several rules for every request.
 */
export function takes({ resources, paths }: FlowRule, info: RequestInfo): boolean {
  if (info.kind === 'resource') {
    for (const rule of resources) if (takesResource(rule, info)) return true
  } else
    for (const rule of paths)
      if (has(rule.verbs, info.verb) && takesPath(rule, info.path)) return true
  return false
}

function takesResource(
  rule: ResourceRule,
  { verb, group, plural, subresource, namespace }: ResourceInfo,
): boolean {
  if (!has(rule.verbs, verb) || !has(rule.groups, group)) return false
  if (
    rule.resources !== undefined &&
    !rule.resources.has(subresource === '' ? plural : `${plural}/${subresource}`)
  ) {
    return false
  }
  return namespace === '' ? rule.isOfCluster : has(rule.namespaces, namespace)
}

const takesPath = ({ paths, prefixes }: PathRule, path: string): boolean =>
  has(paths, path) || prefixes.some((prefix) => path.startsWith(prefix))

const has = (names: Names, name: string): boolean => names === undefined || names.has(name)

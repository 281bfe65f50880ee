/**
 * Explains why RBAC allows a request, or which bindings of the user come closest: bindings that
 * would allow the request in another namespace, with another verb, or for another name or resource.
 * The work is divided into steps, and the length of every list is limited.
 */
import type { AccessAttributes } from '../../api/access.ts'
import type { Fields } from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import { type Binding, firstSubject, type Subject } from './binding.ts'
import { Role } from './role.ts'
import type { RoleIndex } from './role-index.ts'
import {
  coversResource,
  hasOrAll,
  hasText,
  type KeptRule,
  type Question,
  questionOf,
  type TextList,
  ruleCovers,
  urlCovers,
} from './rule.ts'

/**
 * Maximum number of bindings of the user that are examined per namespace, and maximum number of
 * examined rules in total.
 */
const BINDINGS_MAX = 10_000
const RULES_MAX = 1_000_000
/**
 * Maximum number of bindings in the explanation of a rejected request. At most this many are
 * collected for each kind of difference between a rule and the request.
 */
const NEAREST_MAX = 10
/**
 * A list of a rule is shown with at most ENTRIES_MAX entries, and each entry with at most
 * ENTRY_CHARACTERS_MAX characters.
 */
const ENTRIES_MAX = 20
const ENTRY_CHARACTERS_MAX = 256

/** Kinds of differences between a rule and a request, beginning with the smallest difference. */
const differences = ['namespace', 'verb', 'name', 'resource', 'path'] as const
type Difference = (typeof differences)[number]

export function* explainByRoles(
  index: RoleIndex,
  user: User,
  attributes: AccessAttributes,
): Steps<Fields> {
  const question = questionOf(attributes)
  const namespace = attributes.kind === 'path' ? '' : attributes.namespace
  const granted = grantOf(index, user, { namespace, question })
  if (granted !== undefined) return { grantedBy: granted }
  const near = new Map<Difference, Fields[]>()
  const missing: Fields[] = []
  let rules = 0
  for (const bounds of index.bindingsOf(user, BINDINGS_MAX)) {
    for (const { binding, subject } of bounds) {
      const { role } = binding
      if (!(role instanceof Role) || role.rules === undefined) {
        if (missing.length < NEAREST_MAX) missing.push(grantFields(binding, subject))
        continue
      }
      for (const rule of role.rules) {
        if (++rules > RULES_MAX) return explanationOf(near, missing)
        const difference = differenceOf(rule, question, isElsewhere(binding, namespace))
        if (difference !== undefined) add(near, difference, grantFields(binding, subject, rule))
      }
      yield
    }
    yield
  }
  return explanationOf(near, missing)
}

type NamespacedQuestion = { readonly namespace: string; readonly question: Question }

/**
 * Returns the grant on which the decision is based: the first binding whose role covers the
 * request.
 */
function grantOf(
  index: RoleIndex,
  user: User,
  { namespace, question }: NamespacedQuestion,
): Fields | undefined {
  let granted: Fields | undefined
  index.visit(user, namespace, (binding) => {
    const { role } = binding
    if (!(role instanceof Role) || !role.covers(question)) return false
    const subject = firstSubject(binding, user)
    if (subject === undefined) return false
    granted = grantFields(
      binding,
      subject,
      role.rules?.find((rule) => ruleCovers(rule, question)),
    )
    return true
  })
  return granted
}

function explanationOf(
  near: ReadonlyMap<Difference, readonly Fields[]>,
  missing: readonly Fields[],
): Fields {
  const nearest = differences.flatMap((differs) =>
    (near.get(differs) ?? []).map((grant) => ({ differs, ...grant })),
  )
  return {
    nearest: nearest.slice(0, NEAREST_MAX),
    ...(missing.length === 0 ? {} : { missingRoles: missing }),
  }
}

function add(near: Map<Difference, Fields[]>, difference: Difference, grant: Fields): void {
  const list = near.get(difference) ?? []
  if (list.length < NEAREST_MAX) list.push(grant)
  near.set(difference, list)
}

/** Whether the binding is a RoleBinding in another namespace. */
const isElsewhere = (binding: Binding, namespace: string): boolean =>
  binding.namespace !== '' && binding.namespace !== namespace

/**
 * Returns the attribute in which the rule and the request differ, or undefined unless they differ
 * in exactly one attribute.
 */
function differenceOf(
  rule: KeptRule,
  question: Question,
  isInOther: boolean,
): Difference | undefined {
  const hasVerb = hasOrAll(rule.verbs, question.verb)
  if (question.kind === 'path') {
    // Rules for paths have no effect in a RoleBinding, so a RoleBinding in another namespace is not
    // listed.
    if (isInOther) return undefined
    const hasPath = rule.nonResourceURLs.some((url) => urlCovers(url, question.path))
    if (hasPath) return 'verb'
    return hasVerb && rule.nonResourceURLs.some((url) => isBeside(url, question.path))
      ? 'path'
      : undefined
  }
  const { group, resource, ofAny, name } = question
  const hasGroup = hasOrAll(rule.apiGroups, group)
  const hasResource = coversResource(rule.resources, resource, ofAny)
  const hasName = rule.resourceNames.length === 0 || hasText(rule.resourceNames, name)
  const faults: Difference[] = []
  if (isInOther) faults.push('namespace')
  if (!hasVerb) faults.push('verb')
  if (!hasName) faults.push('name')
  if (!hasGroup || !hasResource) {
    // A rule for another resource in another group is not close enough to the request to be listed.
    if (!hasGroup && !hasResource) return undefined
    faults.push('resource')
  }
  return faults.length === 1 ? faults[0] : undefined
}

/** Whether the first segments of two paths are equal. */
const isBeside = (url: string, path: string): boolean => url.split('/')[1] === path.split('/')[1]

function grantFields(
  { name, namespace, role }: Binding,
  subject: Subject,
  rule?: KeptRule,
): Fields {
  const isRole = role instanceof Role
  return {
    binding: {
      kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
      ...(namespace === '' ? {} : { namespace }),
      name,
    },
    role: { kind: isRole ? role.kind : role.unknownKind, name: isRole ? role.name : '' },
    subject: {
      kind: subject.kind,
      ...(subject.namespace === '' ? {} : { namespace: subject.namespace }),
      name: subject.name,
    },
    ...(rule === undefined ? {} : { rule: ruleFields(rule) }),
  }
}

function ruleFields(rule: KeptRule): Fields {
  const lists = Object.entries(rule).filter(([, list]) => list.length > 0)
  return Object.fromEntries(lists.map(([field, list]) => [field, shortened(list)]))
}

function shortened(list: TextList): string[] {
  const shown: string[] = []
  for (const entry of list) {
    if (shown.length === ENTRIES_MAX) return [...shown, `… ${list.length - ENTRIES_MAX} more`]
    shown.push(entry.slice(0, ENTRY_CHARACTERS_MAX))
  }
  return shown
}

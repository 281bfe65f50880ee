/** Reads roles and bindings from objects into the form that the role index stores. */
import {
  type Fields,
  fieldsOf,
  hasNoKeys,
  itemsOf,
  type Json,
  textOf,
  textsOf,
} from '../../api/object.ts'
import { accountUserName } from '../../api/service-account.ts'
import { ownText } from '../../lib/text/own-text.ts'
import { mapEach } from '../../lib/scheduling/parts.ts'
import { PackedTexts } from '../../lib/bytes/packed-texts.ts'
import type { SharedLists } from '../../lib/collections/shared-lists.ts'
import { atOnce, type Steps } from '../../lib/scheduling/slices.ts'
import type { Subject } from './binding.ts'
import type { BindingContent } from './role-index.ts'
import type { KeptRule, Rule, TextList } from './rule.ts'

/** Reads rules without copying their lists. */
export const readRules = (list: Json | undefined): Rule[] =>
  mapEach('rules of a role', itemsOf(list), readRule)

function readRule(rule: Fields): Rule {
  if (hasNoKeys(rule)) return emptyRule
  return {
    verbs: textsOf(rule['verbs']),
    apiGroups: textsOf(rule['apiGroups']),
    resources: textsOf(rule['resources']),
    resourceNames: textsOf(rule['resourceNames']),
    nonResourceURLs: textsOf(rule['nonResourceURLs']),
  }
}

/** All empty rules share one object, because a role can contain a million of them. */
const emptyRule: Rule = {
  verbs: [],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
}

/** Reads the rules of a role into the form that the role index stores. */
export const keptRules = (role: Fields, shared: SharedLists): Rule[] =>
  readRules(role['rules']).map(
    ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }) => ({
      verbs: shared.list(verbs),
      apiGroups: shared.list(apiGroups),
      resources: shared.list(resources),
      // Roles rarely have resource names in common, so these strings are not added to the pool of
      // shared strings.
      resourceNames:
        resourceNames.length === 0 ? shared.list(resourceNames) : resourceNames.map(ownText),
      nonResourceURLs: shared.list(nonResourceURLs),
    }),
  )

/**
 * Reads the rules of a large role in steps, between which other work can run. Returns the same
 * rules as `keptRules`, which reads all rules at once.
 */
export function* keptInSteps(role: Fields, shared: SharedLists): Steps<KeptRule[]> {
  const { rules } = role
  const kept: KeptRule[] = []
  let entries = 0
  for (const sent of Array.isArray(rules) ? rules : []) {
    const rule = readRule(fieldsOf(sent))
    const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule
    kept.push({
      verbs: yield* keptList(verbs, shared),
      apiGroups: yield* keptList(apiGroups, shared),
      resources: yield* keptList(resources, shared),
      // As in `keptRules`, resource names are not added to the pool of shared strings, so that they
      // do not evict strings that many roles have in common.
      resourceNames:
        resourceNames.length === 0 ? shared.list(resourceNames) : yield* ownTexts(resourceNames),
      nonResourceURLs: yield* ownUrls(nonResourceURLs, shared),
    })
    entries += entriesOf(rule)
    if (entries < ITEMS_PER_STEP) continue
    entries = 0
    yield undefined
  }
  return kept
}

const entriesOf = (rule: Rule): number =>
  Object.values(rule).reduce((entries, list) => entries + list.length, 1)

/** Number of rules, list entries of rules, or subjects that are read before other work can run. */
const ITEMS_PER_STEP = 256
/**
 * Minimum length of a list of strings that is stored in packed form, which needs less memory.
 * Shorter lists are stored as arrays, which can be searched faster.
 */
const PACKED_MIN = 256

function* keptList(list: readonly string[], shared: SharedLists): Steps<TextList> {
  return list.length <= ITEMS_PER_STEP ? shared.list(list) : yield* ownTexts(list)
}

function* ownTexts(list: readonly string[]): Steps<TextList> {
  const packed = list.length <= PACKED_MIN ? undefined : yield* PackedTexts.of(list)
  return packed ?? (yield* copyTexts(list))
}

function* ownUrls(list: readonly string[], shared: SharedLists): Steps<readonly string[]> {
  return list.length <= ITEMS_PER_STEP ? shared.list(list) : yield* copyTexts(list)
}

function* copyTexts(list: readonly string[]): Steps<readonly string[]> {
  const own: string[] = []
  for (const text of list) if (own.push(ownText(text)) % ITEMS_PER_STEP === 0) yield undefined
  return own
}

/** Reads the subjects and the role of a binding into the form that the role index stores. */
export function keptBinding(
  binding: Fields,
  namespace: string,
  shared: SharedLists,
): BindingContent {
  return atOnce(keptBindingInSteps(binding, namespace, shared))
}

/** Reads the subjects and the role of a large binding in steps, like `keptBinding`. */
export function* keptBindingInSteps(
  binding: Fields,
  namespace: string,
  shared: SharedLists,
): Steps<BindingContent> {
  const roleRef = fieldsOf(binding['roleRef'])
  const { subjects } = binding
  const kept: Subject[] = []
  let count = 0
  for (const subject of Array.isArray(subjects) ? subjects : []) {
    const read = readSubject(fieldsOf(subject), namespace, shared)
    if (read !== undefined) kept.push(read)
    if (++count % ITEMS_PER_STEP === 0) yield undefined
  }
  return {
    roleKind: shared.text(textOf(roleRef['kind'])),
    roleName: shared.text(textOf(roleRef['name'])),
    subjects: kept,
  }
}

/** Reads a subject. Returns undefined if the subject cannot match any user. */
function readSubject(
  subject: Fields,
  bindingNamespace: string,
  shared: SharedLists,
): Subject | undefined {
  const kind = textOf(subject['kind'])
  const name = shared.text(textOf(subject['name']))
  if (kind === 'User' || kind === 'Group') return { kind, name, namespace: '', matches: name }
  if (kind !== 'ServiceAccount') return undefined
  // A ServiceAccount subject without a namespace is in the namespace of the binding. A
  // ClusterRoleBinding has no namespace.
  const namespace = shared.text(textOf(subject['namespace']) || bindingNamespace)
  if (namespace === '') return undefined
  return {
    kind,
    name,
    namespace,
    matches: shared.text(accountUserName({ namespace, name })),
  }
}

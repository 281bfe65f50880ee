/**
 * Determines which permissions of one list of rules are missing in another list. Used by the
 * escalation check and by the reconciliation of default roles. Each rule is split into single
 * permissions. A permission is a verb with a group, a resource and, if the rule has names, a name;
 * or a verb with a path.
 */
import { shownValue } from '../../api/field-fault.ts'
import { shownItems } from '../../api/go-value.ts'
import { addAll } from '../../lib/scheduling/long-lists.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import { type Rule, urlCovers } from './rule.ts'

/**
 * Maximum number of comparisons between permissions and rules. This number of comparisons takes
 * about half a second. Without a limit, a rule whose lists have a few hundred entries each could
 * have billions of permissions.
 */
const LOOKS_MAX = 10_000_000
/** Maximum number of missing permissions to find, which is enough for any error message. */
const MISSING_MAX = 1_000
/** Maximum size of a rule that is compared as a whole, in list entries. */
const WHOLE_MAX = 1_000
/** Number of comparisons in one step. A step takes a few tens of microseconds. */
const STEP_LOOKS = 64
/** Maximum length of a list that is scanned. Longer lists are looked up in a Set. */
const SCAN_MAX = 16
/**
 * Maximum length of a name in a message. A thousand missing permissions can share a name of
 * megabytes, which would be quoted for each of them.
 */
const SHOWN_NAME_MAX = 1024
/** Number of missing permissions that one step joins or formats. */
const STEP_SHOWN = 8

export type MissingRights = {
  /** The missing permissions, as rules that each grant a single permission. */
  readonly rights: readonly Rule[]
  /** False if a limit was reached, so that more permissions might be missing. */
  readonly isAll: boolean
}

export type CoversLimits = { readonly looksMax: number; readonly missingMax: number }

const checkLimits: CoversLimits = { looksMax: LOOKS_MAX, missingMax: MISSING_MAX }

export function* missingRights(
  held: readonly Rule[],
  wanted: readonly Rule[],
  { looksMax, missingMax }: CoversLimits = checkLimits,
): Steps<MissingRights> {
  const lists = new Lists()
  const rights: Rule[] = []
  let looks = 0
  let yieldAt = STEP_LOOKS
  for (const rule of wanted) {
    let isCovered = false
    if (isShort(rule)) {
      // In most cases, a single rule in `held` covers the whole rule, so first compare whole rules.
      for (const owner of held) {
        if (++looks >= yieldAt) {
          yieldAt = looks + STEP_LOOKS
          yield
        }
        isCovered = coversWhole(owner, rule, lists)
        if (isCovered || looks > looksMax) break
      }
    }
    if (isCovered) continue
    for (const right of rightsOf(rule)) {
      let isHeld = false
      looks++
      for (const owner of held) {
        looks += 'url' in right ? 1 + owner.nonResourceURLs.length : 1
        if (looks >= yieldAt) {
          yieldAt = looks + STEP_LOOKS
          yield
        }
        isHeld = covers(owner, right, lists)
        if (isHeld || looks > looksMax) break
      }
      if (looks > looksMax || rights.length >= missingMax) return { rights, isAll: false }
      if (!isHeld) rights.push(ruleOf(right))
    }
  }
  return { rights, isAll: looks <= looksMax }
}

/** Formats missing permissions as sorted lines, without duplicates. */
export function* describeRights(rights: readonly Rule[]): Steps<readonly string[]> {
  const lines = new Set<string>()
  let count = 0
  for (const rule of yield* joinVerbs(rights)) {
    lines.add(describeRule(rule))
    if (++count % STEP_SHOWN === 0) yield
  }
  return [...lines].toSorted()
}

/**
 * Joins permissions that differ only in the verb into one rule. Permissions on paths stay separate.
 */
function* joinVerbs(rights: readonly Rule[]): Steps<readonly Rule[]> {
  const joined = new Map<string, Rule & { readonly verbs: string[] }>()
  const ofPaths: Rule[] = []
  let count = 0
  for (const right of rights) {
    if (++count % STEP_SHOWN === 0) yield
    if (right.nonResourceURLs.length > 0) {
      ofPaths.push(right)
      continue
    }
    // Names are compared as they are shown. The key would otherwise contain names of megabytes.
    const key = describeRule({ ...right, verbs: [] })
    const known = joined.get(key)
    if (known === undefined) joined.set(key, { ...right, verbs: [...right.verbs] })
    else addAll(known.verbs, right.verbs)
  }
  return [...ofPaths, ...joined.values()]
}

/** Formats a rule like `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}`. */
function describeRule({
  apiGroups,
  resources,
  nonResourceURLs,
  resourceNames,
  verbs,
}: Rule): string {
  const parts = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ] as const
  const shown = parts
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name}:${quoteList(list)}`)
  return `{${shown.join(', ')}}`
}

/** Formats a list as Go's %q formats a slice of strings. */
export const quoteList = (list: readonly string[]): string =>
  `[${shownItems(list, (name) => shownValue(name, SHOWN_NAME_MAX), ' ')}]`

type Right =
  | {
      readonly verb: string
      readonly group: string
      readonly resource: string
      readonly name: string | undefined
    }
  | { readonly verb: string; readonly url: string }

function* rightsOf({
  verbs,
  apiGroups,
  resources,
  resourceNames,
  nonResourceURLs,
}: Rule): Generator<Right> {
  // A rule without verbs grants no permission. Returning early avoids iterating over its other
  // lists, which may be long.
  if (verbs.length === 0) return
  const names = resourceNames.length === 0 ? [undefined] : resourceNames
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) for (const name of names) yield { verb, group, resource, name }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) yield { verb, url }
}

function covers(owner: Rule, right: Right, lists: Lists): boolean {
  if (!lists.hasOrAll(owner.verbs, right.verb)) return false
  if ('url' in right) {
    return (
      owner.resourceNames.length === 0 &&
      owner.nonResourceURLs.some((url) => urlCovers(url, right.url))
    )
  }
  return (
    lists.hasOrAll(owner.apiGroups, right.group) &&
    lists.hasResource(owner.resources, right.resource) &&
    (owner.resourceNames.length === 0 ||
      (right.name !== undefined && lists.has(owner.resourceNames, right.name)))
  )
}

function coversWhole(owner: Rule, rule: Rule, lists: Lists): boolean {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule
  return (
    verbs.every((verb) => lists.hasOrAll(owner.verbs, verb)) &&
    apiGroups.every((group) => lists.hasOrAll(owner.apiGroups, group)) &&
    resources.every((resource) => lists.hasResource(owner.resources, resource)) &&
    (owner.resourceNames.length === 0 ||
      (resourceNames.length > 0 &&
        resourceNames.every((name) => lists.has(owner.resourceNames, name)))) &&
    // If the lists of paths are long, the rules are not compared as a whole, but permission by
    // permission.
    nonResourceURLs.length * owner.nonResourceURLs.length <= WHOLE_MAX &&
    // limit: the condition above ensures that there are at most WHOLE_MAX comparisons
    nonResourceURLs.every((path) => owner.nonResourceURLs.some((url) => urlCovers(url, path)))
  )
}

/**
 * Looks up values in lists. Builds a Set for each long list, because many values are looked up in
 * the same list.
 */
class Lists {
  readonly #sets = new Map<readonly string[], ReadonlySet<string>>()

  has(list: readonly string[], value: string): boolean {
    if (list.length <= SCAN_MAX) return list.includes(value)
    let set = this.#sets.get(list)
    if (set === undefined) {
      set = new Set(list)
      this.#sets.set(list, set)
    }
    return set.has(value)
  }

  hasOrAll(list: readonly string[], value: string): boolean {
    return this.has(list, value) || this.has(list, '*')
  }

  /**
   * Whether the list contains the resource, `*`, or, for a subresource such as `pods/log`, the same
   * subresource of any resource (`*\/log`).
   */
  hasResource(list: readonly string[], resource: string): boolean {
    if (this.hasOrAll(list, resource)) return true
    const slash = resource.indexOf('/')
    return slash !== -1 && this.has(list, `*${resource.slice(slash)}`)
  }
}

const isShort = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Rule): boolean =>
  verbs.length +
    apiGroups.length +
    resources.length +
    resourceNames.length +
    nonResourceURLs.length <=
  WHOLE_MAX

function ruleOf(right: Right): Rule {
  const none = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] }
  const verbs = [right.verb]
  if ('url' in right) return { ...none, verbs, nonResourceURLs: [right.url] }
  const { group, resource, name } = right
  return {
    ...none,
    verbs,
    apiGroups: [group],
    resources: [resource],
    resourceNames: name === undefined ? [] : [name],
  }
}

/**
 * Determines which permissions one list of rules has and another list lacks. The escalation check
 * and the reconciliation of default roles use it.
 *
 * Each rule is split into single permissions. A permission is either a verb with a path, or a verb
 * with a group, a resource and, if the rule has names, a name.
 */
import { quoteWhole } from '../../api/quote.ts'
import { shownItems } from '../../api/go-value.ts'
import { addAll } from '../../lib/scheduling/long-lists.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import { cutText } from '../../lib/text/cut-text.ts'
import {
  ComparedEntries,
  hasNumber,
  type HeldRule,
  type NumberList,
  RuleNumbers,
  type WantedRule,
} from './numbered-rules.ts'
import type { KeptRule, Rule } from './rule.ts'

/**
 * Maximum number of comparisons between list entries; they take about a second. Without a limit, a
 * rule whose lists have a few hundred entries each could have billions of permissions.
 */
export const COMPARED_ENTRIES_MAX = 50_000_000
/** Maximum number of missing permissions to find, which is enough for any error message. */
const MISSING_MAX = 1_000
/** Maximum size of a rule that is compared as a whole, in list entries. */
const WHOLE_MAX = 1_000
/**
 * Comparing one permission counts as this number of comparisons: its verb, group, resource and
 * name.
 */
const RIGHT_ENTRIES = 4
/**
 * Maximum length of a name in a message. A thousand missing permissions can share a name of
 * megabytes, which would be quoted for each of them.
 */
const SHOWN_NAME_MAX = 1024
/** Number of missing permissions that are joined or formatted before other work can run. */
const STEP_SHOWN = 8

export type MissingRights = {
  /** The missing permissions, as rules that each grant a single permission. */
  readonly rights: readonly Rule[]
  /** The limit that was reached, so that more permissions might be missing. */
  readonly limit: 'none' | 'missing' | 'compared'
}

export type CoversOptions = {
  readonly comparedMax?: number
  readonly missingMax?: number
  /** Reserves memory, in bytes. Throws if there is not enough memory. */
  readonly reserve?: (bytes: number) => void
}

/**
 * Returns those permissions of the `wanted` rules that the `held` rules do not grant. `held` has
 * one list of rules for each role of the user, and is read only as far as necessary.
 */
export function* missingRights(
  held: Iterable<readonly KeptRule[]>,
  wanted: readonly KeptRule[],
  {
    comparedMax = COMPARED_ENTRIES_MAX,
    missingMax = MISSING_MAX,
    reserve = () => undefined,
  }: CoversOptions = {},
): Steps<MissingRights> {
  const compared = new ComparedEntries(comparedMax, reserve)
  const numbers = new RuleNumbers(compared)
  const wantedRules: WantedRule[] = []
  for (const rule of wanted) {
    compared.add(1)
    if (compared.isStepOver()) yield
    // A rule without verbs grants no permission.
    if (rule.verbs.length > 0) wantedRules.push(yield* numbers.wanted(rule))
  }
  const owners = new Owners(held, numbers, compared)
  const rights: Rule[] = []
  for (const rule of wantedRules) {
    // In most cases, a single rule of the user covers a whole `wanted` rule, so whole rules are
    // compared first.
    if (isShort(rule) && (yield* owners.cover((owner) => owners.coversWhole(owner, rule)))) continue
    for (const right of rightsOf(rule)) {
      const isHeld = yield* owners.cover((owner) => owners.covers(owner, right))
      if (compared.isOver) return { rights, limit: 'compared' }
      if (isHeld) continue
      if (rights.length >= missingMax) return { rights, limit: 'missing' }
      rights.push(ruleOf(right, numbers))
    }
  }
  return { rights, limit: compared.isOver ? 'compared' : 'none' }
}

/** The rules that the user has, which are converted when they are first compared. */
class Owners {
  readonly #compared: ComparedEntries
  readonly #numbers: RuleNumbers
  readonly #rest: Iterator<HeldRule | undefined>
  /**
   * The converted rules of the user. Rules that cannot cover a permission of the `wanted` rules are
   * left out.
   */
  readonly #rules: HeldRule[] = []

  constructor(
    held: Iterable<readonly KeptRule[]>,
    numbers: RuleNumbers,
    compared: ComparedEntries,
  ) {
    this.#compared = compared
    this.#numbers = numbers
    this.#rest = this.#convert(held)
  }

  /**
   * Whether `test` returns true for one of the user's rules. Stops early if the maximum number of
   * comparisons is reached.
   */
  *cover(test: (owner: HeldRule) => boolean): Steps<boolean> {
    for (const owner of this.#rules) {
      if (test(owner)) return true
      if (this.#compared.isStepOver()) yield
      if (this.#compared.isOver) return false
    }
    for (;;) {
      const { done, value: owner } = this.#rest.next()
      if (done === true) return false
      if (owner === undefined) yield
      else if (test(owner)) return true
    }
  }

  coversWhole(owner: HeldRule, rule: WantedRule): boolean {
    return (
      this.#haveAll(owner.verbs, rule.verbs) &&
      this.#haveAll(owner.apiGroups, rule.apiGroups) &&
      this.#haveResources(owner.resources, rule.resources) &&
      (owner.resourceNames === 'all' ||
        (rule.resourceNames.length > 0 &&
          this.#haveAll(owner.resourceNames, rule.resourceNames))) &&
      this.#haveAll(owner.nonResourceURLs, rule.nonResourceURLs)
    )
  }

  covers(owner: HeldRule, right: Right): boolean {
    this.#compared.add(RIGHT_ENTRIES)
    if (!hasNumber(owner.verbs, right.verb)) return false
    if ('path' in right) return hasNumber(owner.nonResourceURLs, right.path)
    return (
      hasNumber(owner.apiGroups, right.group) &&
      this.#numbers.hasResource(owner.resources, right.resource) &&
      (right.name === undefined
        ? owner.resourceNames === 'all'
        : hasNumber(owner.resourceNames, right.name))
    )
  }

  #haveAll(held: NumberList, wanted: readonly number[]): boolean {
    for (const number of wanted) {
      this.#compared.add(1)
      if (!hasNumber(held, number)) return false
    }
    return true
  }

  #haveResources(held: NumberList, wanted: readonly number[]): boolean {
    for (const resource of wanted) {
      this.#compared.add(1)
      if (!this.#numbers.hasResource(held, resource)) return false
    }
    return true
  }

  /** Converts the rules one by one. Yields undefined where the caller can pause. */
  *#convert(held: Iterable<readonly KeptRule[]>): Generator<HeldRule | undefined> {
    for (const rules of held) {
      // Reserve memory for each list of rules, because the generator behind `held` remembers which
      // roles it has returned.
      this.#compared.addStored()
      if (this.#compared.isStepOver()) yield undefined
      for (const rule of rules) {
        const owner = yield* this.#numbers.held(rule)
        if (this.#compared.isOver) return
        if (owner === undefined) continue
        this.#compared.addStored()
        this.#rules.push(owner)
        yield owner
      }
    }
  }
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
    // Permissions with the same key are joined. The key contains the names as they are shown in
    // messages, because a full name can have megabytes.
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
  `[${shownItems(list, (name) => cutText(name, SHOWN_NAME_MAX, quoteWhole), ' ')}]`

type Right =
  | {
      readonly verb: number
      readonly group: number
      readonly resource: number
      readonly name: number | undefined
    }
  | { readonly verb: number; readonly path: number }

function* rightsOf({
  verbs,
  apiGroups,
  resources,
  resourceNames,
  nonResourceURLs,
}: WantedRule): Generator<Right> {
  const names = resourceNames.length === 0 ? [undefined] : resourceNames
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) for (const name of names) yield { verb, group, resource, name }
    }
  }
  for (const path of nonResourceURLs) for (const verb of verbs) yield { verb, path }
}

const isShort = ({
  verbs,
  apiGroups,
  resources,
  resourceNames,
  nonResourceURLs,
}: WantedRule): boolean =>
  verbs.length +
    apiGroups.length +
    resources.length +
    resourceNames.length +
    nonResourceURLs.length <=
  WHOLE_MAX

function ruleOf(right: Right, numbers: RuleNumbers): Rule {
  const none = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] }
  const verbs = [numbers.textOf(right.verb)]
  if ('path' in right) return { ...none, verbs, nonResourceURLs: [numbers.textOf(right.path)] }
  const { group, resource, name } = right
  return {
    ...none,
    verbs,
    apiGroups: [numbers.textOf(group)],
    resources: [numbers.textOf(resource)],
    resourceNames: name === undefined ? [] : [numbers.textOf(name)],
  }
}

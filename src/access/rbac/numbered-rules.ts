/**
 * Converts rules for the escalation check: strings are replaced by numbers. `wanted` rules are
 * those that the user wants to grant. `held` rules are those that the user has.
 *
 * Only the strings of the `wanted` rules get numbers. All other strings of `held` rules are left
 * out, because they cannot cover a permission of a `wanted` rule. Thus they need no memory, and the
 * time of a comparison does not depend on the length of strings.
 */
import type { Steps } from '../../lib/scheduling/slices.ts'
import { type KeptRule, type Rule, type TextList, urlPrefixOf } from './rule.ts'

/** Maximum length of a list that is scanned. Longer lists are looked up in a Set. */
const SCAN_MAX = 16
/** Number of comparisons before other work can run. They take a few tens of microseconds. */
const STEP_ENTRIES = 1024
/** Reading this number of characters takes as long as one comparison between two list entries. */
const ENTRY_CHARACTERS = 256
/**
 * Matching a path with a pattern takes as long as this number of comparisons between list entries.
 */
const PATH_ENTRIES = 4
/** Storing a list entry takes as long as this number of comparisons between list entries. */
const STORED_ENTRIES = 8
/** Memory of a stored entry: a number in a list or a Set, or a string in a Map. */
const STORED_BYTES = 64
/** Number of stored entries for which memory is reserved at a time. */
const RESERVED_ENTRIES = 16_384

/**
 * Counts the comparisons of a check. Also reserves memory for the list entries that the check
 * stores.
 */
export class ComparedEntries {
  readonly #max: number
  readonly #reserve: (bytes: number) => void
  #count = 0
  #stored = 0
  #stepEnd = STEP_ENTRIES

  /**
   * Creates a counter. `reserve` is called to reserve memory. It throws if there is not enough
   * memory.
   */
  constructor(max: number, reserve: (bytes: number) => void) {
    this.#max = max
    this.#reserve = reserve
  }

  get isOver(): boolean {
    return this.#count > this.#max
  }

  add(entries: number): void {
    this.#count += entries
  }

  addText(text: string): void {
    this.#count += 1 + Math.floor(text.length / ENTRY_CHARACTERS)
  }

  addStored(): void {
    this.#count += STORED_ENTRIES
    if (++this.#stored % RESERVED_ENTRIES === 0) this.#reserve(RESERVED_ENTRIES * STORED_BYTES)
  }

  /**
   * Whether the current step has compared enough entries, so that the caller should yield to other
   * work. If so, the next step begins.
   */
  isStepOver(): boolean {
    if (this.#count < this.#stepEnd) return false
    this.#stepEnd = this.#count + STEP_ENTRIES
    return true
  }
}

export type WantedRule = { readonly [list in keyof Rule]: readonly number[] }

/**
 * The numbers of the strings in a list, or `all` for a list that matches any value. Strings without
 * a number are left out.
 */
export type NumberList = 'all' | readonly number[] | ReadonlySet<number>

/**
 * A converted rule that the user has. Its list of paths contains no patterns, but those paths of
 * the `wanted` rules that match its patterns.
 */
export type HeldRule = { readonly [list in keyof Rule]: NumberList }

export const hasNumber = (list: NumberList, number: number): boolean =>
  list === 'all' || ('has' in list ? list.has(number) : list.includes(number))

const none: readonly number[] = []
const isNone = (list: NumberList): boolean => list === none

export class RuleNumbers {
  readonly #compared: ComparedEntries
  readonly #numbers = new Map<string, number>()
  readonly #texts: string[] = []
  /** Maps the number of a resource such as `pods/log` to the number of the pattern `*\/log`. */
  readonly #patterns = new Map<number, number>()
  readonly #paths = new Set<number>()
  readonly #star: number

  constructor(compared: ComparedEntries) {
    this.#compared = compared
    this.#star = this.#add('*')
  }

  textOf(number: number): string {
    return this.#texts[number] ?? ''
  }

  hasResource(list: NumberList, resource: number): boolean {
    if (hasNumber(list, resource)) return true
    const pattern = this.#patterns.get(resource)
    return pattern !== undefined && hasNumber(list, pattern)
  }

  /**
   * Converts a rule that the user wants to grant. Call this for all such rules before the first
   * call of `held`.
   */
  *wanted(rule: KeptRule): Steps<WantedRule> {
    const resources = yield* this.#numbersOf(rule.resources)
    for (const resource of resources) {
      this.#addPattern(resource)
      if (this.#compared.isStepOver()) yield
    }
    const nonResourceURLs = yield* this.#numbersOf(rule.nonResourceURLs)
    for (const path of nonResourceURLs) this.#paths.add(path)
    return {
      verbs: yield* this.#numbersOf(rule.verbs),
      apiGroups: yield* this.#numbersOf(rule.apiGroups),
      resources,
      resourceNames: yield* this.#numbersOf(rule.resourceNames),
      nonResourceURLs,
    }
  }

  /**
   * Converts a rule that the user has. Returns undefined if the rule covers no permission of the
   * `wanted` rules.
   */
  *held(rule: KeptRule): Steps<HeldRule | undefined> {
    const verbs = yield* this.#known(rule.verbs)
    if (isNone(verbs)) return undefined
    const apiGroups = yield* this.#known(rule.apiGroups)
    const resources = isNone(apiGroups) ? none : yield* this.#known(rule.resources)
    const hasNames = rule.resourceNames.length > 0
    const resourceNames = hasNames ? yield* this.#known(rule.resourceNames, false) : 'all'
    const nonResourceURLs = hasNames ? none : yield* this.#covered(rule.nonResourceURLs)
    if ((isNone(resources) || isNone(resourceNames)) && isNone(nonResourceURLs)) return undefined
    return { verbs, apiGroups, resources, resourceNames, nonResourceURLs }
  }

  #add(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    const number = this.#texts.push(text) - 1
    this.#numbers.set(text, number)
    this.#compared.addStored()
    return number
  }

  #addPattern(resource: number): void {
    const text = this.textOf(resource)
    const slash = text.indexOf('/')
    if (slash !== -1) this.#patterns.set(resource, this.#add(`*${text.slice(slash)}`))
  }

  *#numbersOf(list: TextList): Steps<readonly number[]> {
    const numbers: number[] = []
    for (const text of list) {
      this.#compared.addText(text)
      if (this.#compared.isStepOver()) yield
      if (this.#compared.isOver) break
      this.#compared.addStored()
      numbers.push(this.#add(text))
    }
    return numbers
  }

  /**
   * Returns the numbers of the strings in a list, or `all` if one string is a star that matches
   * every value.
   */
  *#known(list: TextList, hasStar = true): Steps<NumberList> {
    const known = new NumberCollection(this.#compared)
    for (const text of list) {
      this.#compared.addText(text)
      if (this.#compared.isStepOver()) yield
      if (this.#compared.isOver) break
      const number = this.#numbers.get(text)
      if (number === this.#star && hasStar) return 'all'
      if (number !== undefined) known.add(number)
    }
    return known.list
  }

  /** Returns those paths of the `wanted` rules that match one of the patterns. */
  *#covered(patterns: readonly string[]): Steps<NumberList> {
    const covered = new NumberCollection(this.#compared)
    for (const pattern of patterns) {
      this.#compared.addText(pattern)
      if (this.#compared.isStepOver()) yield
      if (this.#compared.isOver) break
      const number = this.#numbers.get(pattern)
      if (number !== undefined && this.#paths.has(number)) covered.add(number)
      const prefix = urlPrefixOf(pattern)
      if (prefix === undefined) continue
      for (const path of this.#paths) {
        this.#compared.addText(prefix)
        this.#compared.add(PATH_ENTRIES)
        if (this.#compared.isStepOver()) yield
        if (this.textOf(path).startsWith(prefix)) covered.add(path)
      }
    }
    return covered.list
  }
}

/** Collects distinct numbers. A few numbers are stored in an array, and more numbers in a Set. */
class NumberCollection {
  readonly #compared: ComparedEntries
  #few: number[] | undefined
  #many: Set<number> | undefined

  constructor(compared: ComparedEntries) {
    this.#compared = compared
  }

  get list(): readonly number[] | ReadonlySet<number> {
    return this.#many ?? this.#few ?? none
  }

  add(number: number): void {
    if (hasNumber(this.list, number)) return
    this.#compared.addStored()
    this.#few ??= []
    if (this.#many !== undefined) this.#many.add(number)
    else if (this.#few.push(number) > SCAN_MAX) this.#many = new Set(this.#few)
  }
}

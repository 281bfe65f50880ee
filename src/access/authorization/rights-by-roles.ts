/**
 * Lists the rules of all roles of a user, for a SelfSubjectRulesReview. The list shares its strings
 * with the index of roles. Its length is limited, because a few roles can have millions of entries.
 */
import { type Fields, present } from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import { PackedTexts } from '../../lib/bytes/packed-texts.ts'
import type { Steps } from '../../lib/scheduling/slices.ts'
import { heldRules, ResolutionErrors } from '../rbac/authorizer.ts'
import type { RoleIndex } from '../rbac/role-index.ts'
import type { KeptRule, TextList } from '../rbac/rule.ts'
import type { Rights } from './authorizer.ts'

/**
 * Limit for the sum of three numbers: the listed rules, the entries of their lists, and the
 * bindings that were visited. Clusters with thousands of roles stay far below this limit.
 */
const ENTRIES_MAX = 400_000
/** Maximum length of the rules in JSON, which is the maximum length of an object in a request. */
const BYTES_MAX = 3 << 20
/**
 * Number of bytes that a visited binding counts toward the limit. RESERVED_TIMES as much memory is
 * reserved for the binding.
 */
const BINDING_BYTES = 10
/**
 * RULE_BYTES is the JSON length of a rule whose lists are empty. ENTRY_BYTES is the length of the
 * quotes and the comma of a list entry.
 */
const RULE_BYTES = 80
const ENTRY_BYTES = 3
/**
 * Memory to reserve for each byte of the rules in JSON. It holds the rules, their JSON as a string,
 * and the bytes of the response.
 */
const RESERVED_TIMES = 4
/**
 * Memory is reserved in units of this many bytes. Nothing is reserved for a list of rules that
 * needs less.
 */
const RESERVED_BYTES = 64 << 10
/** Number of list entries that are read before other work can run. */
const STEP_ENTRIES = 512

export type RightsByRolesOptions = {
  readonly index: RoleIndex
  readonly user: User
  readonly namespace: string
  readonly reserve: (bytes: number) => void
}

export function* rightsByRoles({
  index,
  user,
  namespace,
  reserve,
}: RightsByRolesOptions): Steps<Rights> {
  const errors = new ResolutionErrors()
  const rules = new ListedRules(reserve)
  for (const list of heldRules(index, user, { namespace, each: 'binding', errors })) {
    rules.addBinding()
    if (rules.isStepOver()) yield
    for (const rule of list) {
      if (rules.isCut) break
      yield* rules.add(rule)
    }
    if (rules.isCut) break
  }
  return rules.rights(errors.text())
}

class ListedRules {
  readonly #reserve: (bytes: number) => void
  readonly #resourceRules: Fields[] = []
  readonly #nonResourceRules: Fields[] = []
  #entries = 0
  #bytes = 0
  #reservedTo = RESERVED_BYTES
  #stepEnd = STEP_ENTRIES
  /** Whether rules are missing from the list because a limit was reached. */
  isCut = false

  constructor(reserve: (bytes: number) => void) {
    this.#reserve = reserve
  }

  /**
   * Counts a binding that was visited, because `heldRules` remembers every binding that it visits.
   */
  addBinding(): void {
    this.#count(BINDING_BYTES)
    this.#reserveMore()
  }

  *add(rule: KeptRule): Steps<void> {
    this.#count(RULE_BYTES)
    if (this.isStepOver()) yield
    const verbs = yield* this.#read(rule.verbs)
    const apiGroups = yield* this.#read(rule.apiGroups)
    const resources = yield* this.#read(rule.resources)
    const resourceNames = yield* this.#read(rule.resourceNames)
    const nonResourceURLs = yield* this.#read(rule.nonResourceURLs)
    if (this.isCut) return
    this.#reserveMore()
    if (resources.length > 0) {
      const names = {
        apiGroups: orNone(apiGroups),
        resources,
        resourceNames: orNone(resourceNames),
      }
      this.#resourceRules.push(present({ verbs, ...names }))
    }
    if (nonResourceURLs.length > 0) this.#nonResourceRules.push({ verbs, nonResourceURLs })
  }

  /** Counts the entries of a list, and returns them as an array. */
  *#read(list: TextList): Steps<readonly string[]> {
    const unpacked: string[] = []
    for (const text of list) {
      if (this.isCut) break
      this.#count(jsonBytes(text))
      if (list instanceof PackedTexts) unpacked.push(text)
      if (this.isStepOver()) yield
    }
    return list instanceof PackedTexts ? unpacked : list
  }

  /**
   * Whether the current step has read enough entries, so that the caller should yield to other
   * work. If so, the next step begins.
   */
  isStepOver(): boolean {
    if (this.#entries < this.#stepEnd) return false
    this.#stepEnd = this.#entries + STEP_ENTRIES
    return true
  }

  #count(bytes: number): void {
    this.#entries++
    this.#bytes += bytes
    if (this.#entries > ENTRIES_MAX || this.#bytes > BYTES_MAX) this.isCut = true
  }

  #reserveMore(): void {
    for (; this.#bytes > this.#reservedTo; this.#reservedTo += RESERVED_BYTES)
      this.#reserve(RESERVED_BYTES * RESERVED_TIMES)
  }

  rights(error: string): Rights {
    const cut = `the list of rules is incomplete: it has at most ${ENTRIES_MAX} entries and ${BYTES_MAX} bytes`
    const errors = [error, this.isCut ? cut : ''].filter(Boolean)
    return {
      resourceRules: this.#resourceRules,
      nonResourceRules: this.#nonResourceRules,
      incomplete: this.isCut,
      ...(errors.length === 0 ? {} : { evaluationError: errors.join('; ') }),
    }
  }
}

/** Returns the maximum length of a string in JSON. */
const jsonBytes = (text: string): number =>
  text.length * (unescaped.test(text) ? 1 : ESCAPED_BYTES) + ENTRY_BYTES

const unescaped = /^[ !#-[\]-~]*$/
/** Maximum length of an escaped character, such as `\u0000`. */
const ESCAPED_BYTES = 6

const orNone = (list: readonly string[]): readonly string[] | undefined =>
  list.length === 0 ? undefined : list

/** A role that exists, or a missing role that a binding references. */
import { atOnce } from '../../lib/scheduling/slices.ts'
import { Grants } from './grants.ts'
import { type KeptRule, type Question, ruleCovers } from './rule.ts'

/**
 * The rules of a role are checked one by one if their lists have at most this many entries
 * together. Otherwise they are looked up by resource.
 */
const SCAN_MAX = 64

export const rbacGroup = 'rbac.authorization.k8s.io'

/** The resources of the API group rbac.authorization.k8s.io. */
export const roleResources = [
  'clusterroles',
  'clusterrolebindings',
  'roles',
  'rolebindings',
] as const
export type RoleResource = (typeof roleResources)[number]

type NamedResource = { readonly group: string; readonly plural: string }

export const isOfRoles = <T extends NamedResource>(
  resource: T,
): resource is T & { readonly plural: RoleResource } =>
  resource.group === rbacGroup && roleResources.some((plural) => plural === resource.plural)

export type RoleKind = 'Role' | 'ClusterRole'

export class Role {
  readonly kind: RoleKind
  readonly name: string
  /**
   * The number of bindings that reference the role. A missing role stays in the index while this
   * number is not zero.
   */
  bindings = 0
  #rules: readonly KeptRule[] | undefined
  /** The rules with nonResourceURLs. Most roles have no such rules. */
  #pathRules: readonly KeptRule[] = none
  /** The rules of a long role by resource. Built when the role is evaluated for the first time. */
  #grants: Grants | undefined
  #isLong = false
  /**
   * The last request that this role does not allow. Several bindings of the user may reference the
   * role. Without this cache, its rules would be checked for each of them.
   */
  #refused: Question | undefined

  constructor(kind: RoleKind, name: string) {
    this.kind = kind
    this.name = name
  }

  /** The rules of the role, or undefined if the role does not exist. */
  get rules(): readonly KeptRule[] | undefined {
    return this.#rules
  }

  /**
   * Sets the rules. `rules` are undefined if the role was deleted. `grants` are the same rules by
   * resource, if the caller has already built them.
   */
  setRules(rules: readonly KeptRule[] | undefined, grants?: Grants): void {
    this.#rules = rules
    this.#grants = grants
    this.#refused = undefined
    this.#pathRules = rules?.some(isOfPaths) === true ? rules.filter(isOfPaths) : none
    this.#isLong = rules !== undefined && entriesOf(rules) > SCAN_MAX
  }

  covers(question: Question): boolean {
    if (this.#rules === undefined || question === this.#refused) return false
    if (this.#coversBy(this.#rules, question)) return true
    this.#refused = question
    return false
  }

  #coversBy(rules: readonly KeptRule[], question: Question): boolean {
    if (question.kind === 'path') return anyCovers(this.#pathRules, question)
    if (!this.#isLong) return anyCovers(rules, question)
    this.#grants ??= atOnce(Grants.of(rules))
    return this.#grants.cover(question)
  }
}

const none: readonly KeptRule[] = []

const isOfPaths = ({ nonResourceURLs }: KeptRule): boolean => nonResourceURLs.length > 0

function anyCovers(rules: readonly KeptRule[], question: Question): boolean {
  for (const rule of rules) if (ruleCovers(rule, question)) return true
  return false
}

function entriesOf(rules: readonly KeptRule[]): number {
  let entries = 0
  for (const { verbs, apiGroups, resources, resourceNames } of rules) {
    entries += verbs.length + apiGroups.length + resources.length + resourceNames.length
  }
  return entries
}

/** A role that is there, or that a binding names. */
import { hasOrAll, type Question, type Rule, ruleCovers } from './rule.ts'

/** Entries in the lists of a role, above which its rules are looked up by resource rather than gone through. */
const SCAN_MAX = 64

export type RoleKind = 'Role' | 'ClusterRole'

type ResourceQuestion = Extract<Question, { kind: 'resource' }>

/** What a rule says of one of its resources. Undefined: all names. */
type Grant = {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly names: ReadonlySet<string> | undefined
}

export class Role {
  readonly kind: RoleKind
  readonly name: string
  /** How many bindings name it: one that is not there is known for as long as there are any. */
  bindings = 0
  #rules: readonly Rule[] | undefined
  /** Those of paths, which most roles have none of. */
  #pathRules: readonly Rule[] = none
  /** Made when a long role is first asked. */
  #grants: ReadonlyMap<string, readonly Grant[]> | undefined
  #isLong = false

  constructor(kind: RoleKind, name: string) {
    this.kind = kind
    this.name = name
  }

  /** Undefined: there is no such role. */
  get rules(): readonly Rule[] | undefined {
    return this.#rules
  }

  set rules(rules: readonly Rule[] | undefined) {
    this.#rules = rules
    this.#grants = undefined
    this.#pathRules = rules?.some(isOfPaths) === true ? rules.filter(isOfPaths) : none
    this.#isLong = rules !== undefined && entriesOf(rules) > SCAN_MAX
  }

  covers(question: Question): boolean {
    const rules = this.#rules
    if (rules === undefined) return false
    if (question.kind === 'path') return anyCovers(this.#pathRules, question)
    if (!this.#isLong) return anyCovers(rules, question)
    const grants = (this.#grants ??= grantsOf(rules))
    const { resource, ofAny } = question
    return (
      anyGives(grants.get(resource), question) ||
      anyGives(grants.get('*'), question) ||
      (ofAny !== '' && anyGives(grants.get(ofAny), question))
    )
  }
}

const none: readonly Rule[] = []

const isOfPaths = ({ nonResourceURLs }: Rule): boolean => nonResourceURLs.length > 0

function anyCovers(rules: readonly Rule[], question: Question): boolean {
  for (const rule of rules) if (ruleCovers(rule, question)) return true
  return false
}

function entriesOf(rules: readonly Rule[]): number {
  let entries = 0
  for (const { verbs, apiGroups, resources, resourceNames } of rules) {
    entries += verbs.length + apiGroups.length + resources.length + resourceNames.length
  }
  return entries
}

function anyGives(grants: readonly Grant[] | undefined, { verb, group, name }: ResourceQuestion): boolean {
  if (grants === undefined) return false
  for (const { verbs, apiGroups, names } of grants) {
    if (hasOrAll(verbs, verb) && hasOrAll(apiGroups, group) && (names === undefined || names.has(name))) return true
  }
  return false
}

function grantsOf(rules: readonly Rule[]): Map<string, Grant[]> {
  const byResource = new Map<string, Grant[]>()
  for (const { verbs, apiGroups, resources, resourceNames } of rules) {
    const grant = { verbs, apiGroups, names: resourceNames.length === 0 ? undefined : new Set(resourceNames) }
    for (const resource of new Set(resources)) {
      const known = byResource.get(resource)
      if (known === undefined) byResource.set(resource, [grant])
      else known.push(grant)
    }
  }
  return byResource
}

/** Match criteria of a webhook or policy, parsed once from its configuration. */
import { internalError } from '../../api/errors.ts'
import { matchesLabels, type Requirement } from '../../api/label-selector.ts'
import { type Fields, fieldsOf, type KubeObject } from '../../api/object.ts'
import { requirementsOf } from '../../registry/rules/label-selector.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { allowsName, concerns, readRules, type Rule, type Target } from './rules.ts'

export type MatchCriteria = {
  /**
   * Rules, of which at least one must match. Undefined if every request matches, as in a binding
   * without rules.
   */
  readonly rules: readonly Rule[] | undefined
  readonly excluded: readonly Rule[]
  /**
   * Requirements on the labels of the namespace. An empty list matches every namespace. Undefined
   * if the selector is not valid.
   */
  readonly namespaceSelector: readonly Requirement[] | undefined
  readonly objectSelector: readonly Requirement[] | undefined
  /** Whether a rule also matches other versions of its resources. */
  readonly isEquivalent: boolean
  /** Whether any rule has resourceNames. */
  readonly hasNames: boolean
  /**
   * Whether every request matches. This is true if there are no rules and both selectors match
   * everything.
   */
  readonly isEverything: boolean
}

/** Reads the criteria of a webhook. A webhook without rules matches no request. */
export const readWebhookCriteria = (webhook: Fields): MatchCriteria =>
  read(webhook, readRules(webhook['rules']))

/**
 * Reads the matchConstraints of a policy or the matchResources of a binding. Without rules, they
 * match every request.
 */
export function readPolicyCriteria(match: Fields): MatchCriteria {
  const rules = readRules(match['resourceRules'])
  return read(match, rules.length === 0 ? undefined : rules)
}

function read(match: Fields, rules: readonly Rule[] | undefined): MatchCriteria {
  const excluded = readRules(match['excludeResourceRules'])
  const namespaceSelector = requirementsOf(fieldsOf(match['namespaceSelector']))
  const objectSelector = requirementsOf(fieldsOf(match['objectSelector']))
  return {
    rules,
    excluded,
    namespaceSelector,
    objectSelector,
    isEquivalent: match['matchPolicy'] === 'Equivalent',
    hasNames: [...(rules ?? []), ...excluded].some(({ names }) => names !== undefined),
    isEverything:
      rules === undefined &&
      excluded.length === 0 &&
      namespaceSelector?.length === 0 &&
      objectSelector?.length === 0,
  }
}

/** A request, and the other versions in which the server serves the resource of the request. */
export type Versions = { readonly target: Target; readonly equivalents: readonly Resource[] }

/**
 * Returns the resource in the version that the matching rule names, or undefined if no rule
 * matches. Compares all rules with the version of the request, and then with the other versions.
 */
export function matchRules(
  { rules, excluded, isEquivalent }: MatchCriteria,
  versions: Versions,
): Resource | undefined {
  const { target } = versions
  const others = isEquivalent ? versions.equivalents : []
  if (matchAny(excluded, target, others) !== undefined) return undefined
  return rules === undefined ? target.resource : matchAny(rules, target, others)
}

function matchAny(
  rules: readonly Rule[],
  target: Target,
  others: readonly Resource[],
): Resource | undefined {
  const named = rules.filter((rule) => allowsName(rule, target.name))
  if (named.some((rule) => concerns(rule, target))) return target.resource
  for (const rule of named) {
    // Bounded: `others` has only the few served versions of a resource, so each search is short.
    const other = others.find((resource) => concerns(rule, { ...target, resource }))
    if (other !== undefined) return other
  }
  return undefined
}

/**
 * Returns whether the selector matches the labels of the object or of the old object. The object of
 * a CONNECT has no labels, because it contains the options of the request.
 */
export function matchesObjectSelector(
  { objectSelector }: MatchCriteria,
  { object, oldObject, operation }: Pick<Attributes, 'object' | 'oldObject' | 'operation'>,
): boolean {
  if (objectSelector === undefined) throw invalidSelector('objectSelector')
  if (objectSelector.length === 0) return true
  if (operation === 'CONNECT') return false
  const isSelected = (one: KubeObject | undefined): boolean =>
    one !== undefined && matchesLabels(objectSelector, one.metadata.labels)
  return isSelected(object) || isSelected(oldObject)
}

export const invalidSelector = (name: string): Error => internalError(`invalid ${name}`)

/** Match criteria of a webhook or policy, parsed once from its configuration. */
import { internalError } from '../../api/errors.ts'
import { matchesLabels, type Requirement } from '../../api/label-selector.ts'
import { type Fields, fieldsOf, type KubeObject } from '../../api/object.ts'
import { requirementsOf } from '../../registry/rules/label-selector.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { allowsName, concerns, readRules, type Rule, type Target } from './rules.ts'

export type MatchCriteria = {
  /** Rules to match. Undefined if every request matches, as in a binding without rules. */
  readonly rules: readonly Rule[] | undefined
  readonly excluded: readonly Rule[]
  /**
   * Requirements on the namespace; without any, it selects everything. Undefined if the selector is
   * not valid.
   */
  readonly namespaceSelector: readonly Requirement[] | undefined
  readonly objectSelector: readonly Requirement[] | undefined
  /** Whether a rule also matches other versions of the resource that it names. */
  readonly isEquivalent: boolean
  /** Whether any rule is limited to objects with certain names. */
  readonly hasNames: boolean
  /** Whether every request matches: there are no rules, and the selectors select everything. */
  readonly isEverything: boolean
}

/** Reads the criteria of a webhook. Without rules it matches nothing. */
export const readWebhookCriteria = (webhook: Fields): MatchCriteria =>
  read(webhook, readRules(webhook['rules']))

/**
 * Reads matchConstraints or matchResources of a policy or binding. Without rules they match
 * everything.
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

/** A request, and its resource in the other served versions. */
export type Versions = { readonly target: Target; readonly equivalents: readonly Resource[] }

/**
 * Returns the resource in the version that the rules ask for, or undefined if they do not match.
 * All rules are first tried with the version of the request.
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
    // limit: the served versions of a resource
    const other = others.find((resource) => concerns(rule, { ...target, resource }))
    if (other !== undefined) return other
  }
  return undefined
}

/**
 * Returns whether the object or the old object has the labels. The object of a CONNECT has no
 * labels, because it holds the options of the request.
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

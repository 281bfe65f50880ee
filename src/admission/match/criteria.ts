/** What a webhook or a policy matches, read once from its configuration. */
import { internalError } from '../../api/errors.ts'
import { matchesLabels, type Requirement } from '../../api/label-selector.ts'
import { type Fields, fieldsOf, type KubeObject } from '../../api/object.ts'
import { requirementsOf } from '../../registry/rules/label-selector.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { allowsName, concerns, readRules, type Rule, type Target } from './rules.ts'

export type MatchCriteria = {
  /** Undefined: everything, as in a binding without rules. */
  readonly rules: readonly Rule[] | undefined
  readonly excluded: readonly Rule[]
  /** Undefined: it is not valid; no requirements: everything. */
  readonly namespaceSelector: readonly Requirement[] | undefined
  readonly objectSelector: readonly Requirement[] | undefined
  /** Whether other versions of a resource that a rule names match, too. */
  readonly isEquivalent: boolean
  /** Whether any rule is about objects of some names only. */
  readonly hasNames: boolean
  /** Whether they match every request: there are no rules, and the selectors select everything. */
  readonly isEverything: boolean
}

/** Of a webhook: without rules it matches nothing. */
export const readWebhookCriteria = (webhook: Fields): MatchCriteria =>
  read(webhook, readRules(webhook['rules']))

/**
 * Of matchConstraints or matchResources of policies and bindings: without rules everything is
 * matched.
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

/** `equivalents`: the resource in the other versions that are served. */
export type Versions = { readonly target: Target; readonly equivalents: readonly Resource[] }

/**
 * The resource in the version that the rules ask for; undefined: they do not match. The version of
 * the request is tried with all rules first.
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
 * The object or the old object has to have the labels. The options of a CONNECT are no object with
 * labels.
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

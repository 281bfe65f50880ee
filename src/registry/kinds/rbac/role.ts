/**
 * Rules for Role and ClusterRole. access/rbac/confirm-grant.ts checks for privilege escalation.
 */
import {
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  required,
} from '../../../api/field-fault.ts'
import { goStrings } from '../../../api/go-value.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject, textsOf } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateLabelSelector } from '../../rules/label-selector.ts'
import { type Strategy, VALIDATED_ONCE_SINCE } from '../../strategy.ts'

/** Steps in the validation of an update since 1.35. */
export const laterUpdateChecks: NonNullable<Strategy['laterUpdateChecks']> = {
  since: VALIDATED_ONCE_SINCE,
  checks: ['metadata', 'change', 'rules'],
}

export const roleRules: KindRules = {
  strategy: {
    names: 'path',
    updateChecks: ['metadata', 'metadata', 'change', 'rules'],
    laterUpdateChecks,
    createsOnUpdate: true,
  },
  validate: validateRole,
  // As in kube-apiserver, an update is validated twice in releases before 1.35.
  validateUpdate: (role, _current, { release }) =>
    release < VALIDATED_ONCE_SINCE
      ? [...validateRole(role), ...validateRole(role)]
      : validateRole(role),
}

export const clusterRoleRules: KindRules = {
  strategy: {
    names: 'path',
    updateChecks: ['metadata', 'metadata', 'change', 'rules'],
    laterUpdateChecks,
    createsOnUpdate: true,
  },
  validate: validateClusterRole,
  validateUpdate: (role, _current, { release }) =>
    release < VALIDATED_ONCE_SINCE
      ? [...validateClusterRole(role), ...validateClusterRole(role)]
      : validateClusterRole(role),
}

function validateRole(role: KubeObject): FieldFault[] {
  return [
    ...faultsOfEach(itemsOf(role['rules']), (rule, at) =>
      validateRule(rule, `rules[${at}]`, { isNamespaced: true }),
    ),
  ]
}

function validateClusterRole(role: KubeObject): FieldFault[] {
  return [
    ...faultsOfEach(itemsOf(role['rules']), (rule, at) =>
      validateRule(rule, `rules[${at}]`, { isNamespaced: false }),
    ),
    ...validateAggregation(role),
  ]
}

function validateRule(
  rule: Fields,
  path: string,
  { isNamespaced }: { readonly isNamespaced: boolean },
): FieldFault[] {
  const [verbs, groups, resources] = [
    textsOf(rule['verbs']),
    textsOf(rule['apiGroups']),
    textsOf(rule['resources']),
  ]
  const urls = textsOf(rule['nonResourceURLs'])
  const faults =
    verbs.length === 0 ? [required(`${path}.verbs`, 'verbs must contain at least one value')] : []
  if (urls.length > 0) {
    const refuse = (why: string): FieldFault =>
      invalidShown(`${path}.nonResourceURLs`, goStrings(urls), why)
    if (isNamespaced) faults.push(refuse('namespaced rules cannot apply to non-resource URLs'))
    const ofResources = [groups, resources, textsOf(rule['resourceNames'])].some(
      (list) => list.length > 0,
    )
    if (ofResources)
      faults.push(refuse('rules cannot apply to both regular resources and non-resource URLs'))
    return faults
  }
  if (groups.length === 0) {
    faults.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'))
  }
  if (resources.length === 0) {
    faults.push(required(`${path}.resources`, 'resource rules must supply at least one resource'))
  }
  return faults
}

function validateAggregation({ aggregationRule }: KubeObject): FieldFault[] {
  if (aggregationRule === undefined) return []
  const path = 'aggregationRule.clusterRoleSelectors'
  const selectors = itemsOf(fieldsOf(aggregationRule)['clusterRoleSelectors'])
  if (selectors.length === 0) {
    return [
      required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil'),
    ]
  }
  return faultsOfEach(selectors, (selector, at) => {
    const faults = validateLabelSelector(selector, `${path}[${at}]`)
    return faults.length === 0
      ? []
      : [...faults, invalidValue(`${path}[${at}]`, null, 'invalid label selector.')]
  })
}

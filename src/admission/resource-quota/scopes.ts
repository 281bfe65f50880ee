/** Scopes of a quota, which restrict the objects to which the quota applies. */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  textOf,
  textsOf,
} from '../../api/object.ts'

export type Scope = {
  readonly name: string
  readonly operator: string
  readonly values: readonly string[]
}

export function scopesOf({ spec }: KubeObject): Scope[] {
  const { scopes, scopeSelector } = fieldsOf(spec)
  return [
    ...textsOf(scopes).map((name) => ({ name, operator: 'Exists', values: [] })),
    ...itemsOf(fieldsOf(scopeSelector)['matchExpressions']).map(
      ({ scopeName, operator, values }) => ({
        name: textOf(scopeName),
        operator: textOf(operator),
        values: textsOf(values),
      }),
    ),
  ]
}

export function isPodInScope(pod: KubeObject, scope: Scope): boolean {
  const { spec, status } = pod
  const fields = fieldsOf(spec)
  const isTerminating = hasDeadline(pod)
  const isBestEffort = fieldsOf(status)['qosClass'] === 'BestEffort'
  switch (scope.name) {
    case 'Terminating':
      return isTerminating
    case 'NotTerminating':
      return !isTerminating
    case 'BestEffort':
      return isBestEffort
    case 'NotBestEffort':
      return !isBestEffort
    case 'PriorityClass':
      return isSelected(
        textOf(fields['priorityClassName']) === '' ? [] : [textOf(fields['priorityClassName'])],
        scope,
      )
    case 'CrossNamespacePodAffinity':
      return looksAbroad(fields)
    default:
      return false
  }
}

export const hasDeadline = (pod: KubeObject | undefined): boolean =>
  fieldsOf(pod?.['spec'])['activeDeadlineSeconds'] !== undefined

/**
 * Returns whether the scope selects one of the classes of an object. An object without a class
 * matches NotIn.
 */
export function isSelected(classes: readonly string[], { operator, values }: Scope): boolean {
  switch (operator) {
    case 'In':
      // Bounded: `classes` has at most three entries, so `values` is searched at most three times.
      return classes.some((name) => values.includes(name))
    case 'NotIn':
      // Bounded: `classes` has at most three entries, so `values` is searched at most three times.
      return classes.length === 0 || classes.some((name) => !values.includes(name))
    case 'Exists':
      return classes.length > 0
    default:
      return classes.length === 0
  }
}

/** Returns whether the pod has affinity or anti-affinity terms for pods in other namespaces. */
function looksAbroad({ affinity }: Fields): boolean {
  const terms = ['podAffinity', 'podAntiAffinity'].flatMap((side) => {
    const {
      requiredDuringSchedulingIgnoredDuringExecution,
      preferredDuringSchedulingIgnoredDuringExecution,
    } = fieldsOf(fieldsOf(affinity)[side])
    return [
      ...itemsOf(requiredDuringSchedulingIgnoredDuringExecution),
      ...itemsOf(preferredDuringSchedulingIgnoredDuringExecution).map((one) =>
        fieldsOf(one['podAffinityTerm']),
      ),
    ]
  })
  return terms.some(
    ({ namespaces, namespaceSelector }) =>
      textsOf(namespaces).length > 0 || namespaceSelector !== undefined,
  )
}

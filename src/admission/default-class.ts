/**
 * Finds the default class of a kind. A default class is marked with an annotation. If several
 * classes are marked, selects the newest one. If several of them have the same age, selects the
 * first one by name.
 */
import type { KubeObject } from '../api/object.ts'

export function defaultClass(
  classes: readonly KubeObject[],
  annotations: readonly string[],
): KubeObject | undefined {
  const isDefault = ({ metadata }: KubeObject): boolean =>
    annotations.some(
      (key) => metadata.annotations !== undefined && metadata.annotations[key] === 'true',
    )
  return classes.filter(isDefault).toSorted(byAge)[0]
}

function byAge({ metadata: one }: KubeObject, { metadata: other }: KubeObject): number {
  const [made, otherMade] = [one.creationTimestamp ?? '', other.creationTimestamp ?? '']
  if (made !== otherMade) return made > otherMade ? -1 : 1
  return (one.name ?? '') < (other.name ?? '') ? -1 : 1
}

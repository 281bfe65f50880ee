/** Whether a webhook whose rules match is to be called: its selectors, then its conditions. */
import type { Attributes } from '../admission.ts'
import { matchesObjectSelector } from '../match/criteria.ts'
import { matchesNamespaceSelector } from '../match/namespaces.ts'
import type { Objects } from '../objects.ts'
import type { Hook } from './hook.ts'

/** A namespace that does not exist fails only requests that the webhook would see otherwise. */
export async function matchesSelectors(
  { criteria }: Hook,
  attributes: Attributes,
  objects: Pick<Objects, 'get'>,
): Promise<boolean> {
  if (!matchesObjectSelector(criteria, attributes)) return false
  return matchesNamespaceSelector(criteria, attributes, objects)
}

/** Whether a webhook whose rules match is to be called: its selectors, then its conditions. */
import { matchesObjectSelector } from '../match/criteria.ts'
import { matchesNamespaceSelector } from '../match/namespaces.ts'
import { type Asked, matchesConditions } from './conditions.ts'
import type { Hook } from './hook.ts'
import type { HookParts } from './parts.ts'

/** A namespace that does not exist fails only what the webhook would see otherwise. */
export async function isToBeCalled(hook: Hook, asked: Asked, parts: HookParts): Promise<boolean> {
  const { attributes } = asked
  if (!matchesObjectSelector(hook.criteria, attributes)) return false
  if (!(await matchesNamespaceSelector(hook.criteria, attributes, parts.objects))) return false
  return matchesConditions(hook, asked, parts)
}

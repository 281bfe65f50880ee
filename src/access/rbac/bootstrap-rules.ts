/**
 * Returns the built-in rules of a ClusterRole that every new cluster has, regardless of how the
 * stored role has changed.
 */
import type { Gates } from '../../api/gates.ts'
import { bootstrapPolicy } from './bootstrap-policy.ts'
import { readRules } from './read-objects.ts'
import { readPolicy } from './read-policy.ts'
import type { Rule } from './rule.ts'

export function bootstrapRules(name: string, gates: Gates): readonly Rule[] {
  const roles = readPolicy(bootstrapPolicy, gates).filter(
    ({ resource }) => resource === 'clusterroles',
  )
  return readRules(roles.find(({ object }) => object.metadata.name === name)?.object['rules'])
}

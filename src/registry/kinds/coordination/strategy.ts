import { checked, type FieldFault, notSupported } from '../../../api/field-fault.ts'
import { checkQualifiedName } from '../../../api/names.ts'

/** The candidate with the lowest emulation version becomes the leader. */
export const OLDEST_EMULATION_VERSION = 'OldestEmulationVersion'

const strategies = [OLDEST_EMULATION_VERSION]

/**
 * A leader election strategy: one that Kubernetes defines, or a name with a domain,
 * `example.com/x`. The path is upstream's.
 */
export function validateStrategy(strategy: string): FieldFault[] {
  const path = 'spec.strategy.strategy'
  if (strategy.includes('/')) return checked(path, strategy, checkQualifiedName)
  return strategies.includes(strategy) ? [] : [notSupported(path, strategy, strategies)]
}

import { checked, type FieldFault, notSupported } from '../../../api/field-fault.ts'
import { checkQualifiedName } from '../../../api/names.ts'

/** Strategy that elects the candidate with the lowest emulation version. */
export const OLDEST_EMULATION_VERSION = 'OldestEmulationVersion'

const strategies = [OLDEST_EMULATION_VERSION]

/**
 * Validates a leader election strategy: either one that Kubernetes defines, or a name with a domain
 * such as `example.com/x`. The error path is that of kube-apiserver.
 */
export function validateStrategy(strategy: string): FieldFault[] {
  const path = 'spec.strategy.strategy'
  if (strategy.includes('/')) return checked(path, strategy, checkQualifiedName)
  return strategies.includes(strategy) ? [] : [notSupported(path, strategy, strategies)]
}

import { checked, type FieldFault, notSupported } from '../../../api/field-fault.ts'
import { checkQualifiedName } from '../../../api/names.ts'

/** The oldest version that a candidate can act as wins. */
export const OLDEST_EMULATION_VERSION = 'OldestEmulationVersion'

const strategies = [OLDEST_EMULATION_VERSION]

/** How a leader is chosen: a way of ours, or of somebody's domain. The path is upstream's. */
export function validateStrategy(strategy: string): FieldFault[] {
  const path = 'spec.strategy.strategy'
  if (strategy.includes('/')) return checked(path, strategy, checkQualifiedName)
  return strategies.includes(strategy) ? [] : [notSupported(path, strategy, strategies)]
}

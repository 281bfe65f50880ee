import { type FieldFault, forbiddenField } from '../../../api/field-fault.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'

/** The server's own, with their values. */
const systemClasses: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2_000_000_000],
  ['system-node-critical', 2_000_001_000],
])
/** What users may give is below all of those. */
const USER_VALUE_MAX = 1_000_000_000

export const priorityClassRules: KindRules = { validate, validateUpdate: () => [] }

function validate({ metadata: { name = '' }, value = 0, globalDefault = false }: KubeObject): FieldFault[] {
  if (!name.startsWith('system-')) {
    if (typeof value === 'number' && value <= USER_VALUE_MAX) return []
    return [forbiddenField('value', `maximum allowed value of a user defined priority is ${USER_VALUE_MAX}`)]
  }
  const known = systemClasses.get(name)
  const why =
    known === undefined
      ? `${name} is not a known system priority class`
      : value !== known
        ? `value of ${name} PriorityClass must be ${known}`
        : globalDefault === true
          ? `globalDefault of ${name} PriorityClass must be false`
          : undefined
  if (why === undefined) return []
  const reserved = "priority class names with 'system-' prefix are reserved for system use only."
  return [forbiddenField('metadata.name', `${reserved} error: ${why}`)]
}

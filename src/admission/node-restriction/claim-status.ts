/**
 * Restricts the fields that a kubelet can change in a claim whose volume it has expanded. These are
 * the capacity, the conditions and, with RecoverVolumeExpansionFailure, the allocated resources.
 */
import type { Gates } from '../../api/gates.ts'
import { type Fields, fieldsOf, type KubeObject, omit } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { isSame } from '../../objects/schema/equal.ts'
import { type Attributes, refusal } from '../admission.ts'

export function admitClaimStatus(gates: Gates, node: string, attributes: Attributes): void {
  const { operation, object, oldObject } = attributes
  if (operation !== 'UPDATE' || object === undefined || oldObject === undefined) {
    throw refusal(attributes, `unexpected operation ${quote(operation)}`)
  }
  const changed = changedFields(fixedFields(object, gates), fixedFields(oldObject, gates))
  if (changed.length === 0) return
  const allowed = 'fields other than status.quantity and status.conditions'
  throw refusal(
    attributes,
    `node ${quote(node)} is not allowed to update ${allowed}: ${changed.join(', ')}`,
  )
}

/**
 * Returns the fields that the kubelet must not change. The resourceVersion is left out, because it
 * is absent in an update without a precondition.
 */
function fixedFields({ metadata, status, ...rest }: KubeObject, gates: Gates): Fields {
  const expansion = gates.isOn('RecoverVolumeExpansionFailure')
    ? ['allocatedResources', 'allocatedResourceStatuses']
    : []
  return {
    ...rest,
    metadata: omit(metadata, 'resourceVersion', 'managedFields'),
    status: omit(fieldsOf(status), 'capacity', 'conditions', ...expansion),
  }
}

/** Returns the paths of the changed fields, such as `metadata.labels` or `spec.volumeName`. */
function changedFields(now: Fields, before: Fields): string[] {
  const parts = new Set([...Object.keys(now), ...Object.keys(before)])
  return [...parts].flatMap((part) => {
    if (isSame(now[part], before[part])) return []
    const [fields, others] = [fieldsOf(now[part]), fieldsOf(before[part])]
    const names = new Set([...Object.keys(fields), ...Object.keys(others)])
    return [...names]
      .filter((name) => !isSame(fields[name], others[name]))
      .map((name) => `${part}.${name}`)
  })
}

/**
 * Validation rules of Pods that are less strict if a feature gate is on. If the gate is off, values
 * that are already stored stay valid.
 */
import type { Gates } from '../../../../api/gates.ts'
import { checkDnsSubdomain, checkVariableName } from '../../../../api/names.ts'
import { type Fields, fieldsOf, itemsOf, textOf, textsOf } from '../../../../api/object.ts'
import type { PodTemplateSpec } from '../../../pod-specs.ts'
import { deletionCost, isDeletionCost } from './annotations.ts'
import { restartsAll, usesRestartRules } from './restart-rules.ts'
import { containersOf } from './windows.ts'

/**
 * Name of a condition that is on if the stored Pod has both a user namespace and raw block volumes.
 * Updates of such a Pod can keep both.
 */
export const keptDevices = 'keeps volume devices'

const uses: { readonly [gate: string]: (spec: Fields) => boolean } = {
  RelaxedEnvironmentVariableValidation: (spec) =>
    containersOf(spec).some(
      ({ container: { env, envFrom } }) =>
        itemsOf(env).some(({ name }) => isOdd(name)) ||
        itemsOf(envFrom).some(({ prefix }) => isOdd(prefix)),
    ),
  RelaxedDNSSearchValidation: (spec) =>
    textsOf(fieldsOf(spec['dnsConfig'])['searches']).some(
      (search) => checkDnsSubdomain(search.replace(/\.$/, '')).length > 0,
    ),
  PodLifecycleSleepActionAllowZero: (spec) =>
    containersOf(spec).some(({ container: { lifecycle } }) =>
      ['preStop', 'postStart'].some((handler) => {
        const { sleep } = fieldsOf(fieldsOf(lifecycle)[handler])
        return sleep !== undefined && (fieldsOf(sleep)['seconds'] ?? 0) === 0
      }),
    ),
  ContainerRestartRules: usesRestartRules,
  EnvFiles: (spec) =>
    containersOf(spec).some(({ container: { env } }) =>
      itemsOf(env).some(({ valueFrom }) => fieldsOf(valueFrom)['fileKeyRef'] !== undefined),
    ),
  TaintTolerationComparisonOperators: (spec) =>
    itemsOf(spec['tolerations']).some(({ operator }) => operator === 'Gt' || operator === 'Lt'),
  UserNamespacesHostNetworkSupport: (spec) =>
    spec['hostUsers'] === false && spec['hostNetwork'] === true,
  RestartAllContainersOnContainerExits: restartsAll,
  [keptDevices]: (spec) =>
    spec['hostUsers'] === false &&
    containersOf(spec).some(({ container }) => itemsOf(container['volumeDevices']).length > 0),
  SELinuxMount: (spec) => fieldsOf(spec['securityContext'])['seLinuxChangePolicy'] !== undefined,
}

const isOdd = (name: Fields[string]): boolean =>
  textOf(name) !== '' && checkVariableName(textOf(name)).length > 0

/**
 * Returns the gates for an update of the stored Pod or template. A gate counts as on if the stored
 * object is valid only with this gate.
 */
export function relaxedBy(gates: Gates, { metadata, spec }: PodTemplateSpec): Gates {
  const kept = Object.entries(uses).flatMap(([gate, isUsed]) =>
    !gates.isOn(gate) && isUsed(spec) ? [gate] : [],
  )
  const isFree = gates.isOn('PodDeletionCost') && hasOddCost(metadata)
  if (kept.length === 0 && !isFree) return gates
  return {
    ...gates,
    isOn: (name) =>
      kept.includes(name) || (gates.isOn(name) && !(isFree && name === 'PodDeletionCost')),
  }
}

/**
 * Whether the stored Pod has an invalid deletion cost. Such a value can be stored while the feature
 * gate PodDeletionCost is off, and does not prevent updates.
 */
function hasOddCost({ annotations }: Fields): boolean {
  const cost = fieldsOf(annotations)[deletionCost]
  return cost !== undefined && !isDeletionCost(textOf(cost))
}

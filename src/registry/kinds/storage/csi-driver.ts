import {
  duplicate,
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  notSupported,
} from '../../../api/field-fault.ts'
import { goStrings } from '../../../api/go-value.ts'
import { fieldsOf, itemsOf, type KubeObject, textOf, textsOf } from '../../../api/object.ts'
import { repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { mapEach } from '../../../lib/scheduling/parts.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateTokenLifetime } from '../../rules/token.ts'

/** Minimum update interval. A shorter interval would overload nodes. */
const UPDATE_SECONDS_MIN = 10
const lifecycleModes = ['Persistent', 'Ephemeral']
const fsGroupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']

export const csiDriverRules: KindRules = {
  strategy: {
    needsResourceVersion: true,
    returnsDeleted: true,
    generation: { fields: ['spec'], kept: true },
  },
  validate,
  validateUpdate: (object, current) => [...validate(object), ...validateChange(object, current)],
  warnings: (object, current, gates) => (gates.isOn(secretsGate) ? warnings(object, current) : []),
}

/** Feature gate of the field `serviceAccountTokenInSecrets`. */
const secretsGate = 'CSIServiceAccountTokenSecrets'

/** Warns about token requests that put tokens in the volume context instead of the secrets. */
function warnings(object: KubeObject, current: KubeObject | undefined): string[] {
  const { tokenRequests, serviceAccountTokenInSecrets } = fieldsOf(object['spec'])
  const isAsked = itemsOf(tokenRequests).length > 0 && serviceAccountTokenInSecrets === undefined
  const isKept =
    current !== undefined && isSame(tokenRequests, fieldsOf(current['spec'])['tokenRequests'])
  return isAsked && !isKept
    ? [
        'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
      ]
    : []
}

function validate(object: KubeObject): FieldFault[] {
  const {
    fsGroupPolicy,
    tokenRequests,
    volumeLifecycleModes,
    nodeAllocatableUpdatePeriodSeconds: period,
    serviceAccountTokenInSecrets: inSecrets,
  } = fieldsOf(object['spec'])
  const repeats = repeatsIn(
    mapEach('audiences', itemsOf(tokenRequests), ({ audience }) => textOf(audience)),
  )
  const faults: FieldFault[] = []
  if (!fsGroupPolicies.includes(textOf(fsGroupPolicy))) {
    faults.push(notSupported('spec.fsGroupPolicy', textOf(fsGroupPolicy), fsGroupPolicies))
  }
  const ofRequests = faultsOfEach(itemsOf(tokenRequests), ({ audience, expirationSeconds }, at) => {
    const path = `spec.tokenRequests[${at}]`
    if (repeats.has(at)) return [duplicate(`${path}.audience`, textOf(audience))]
    return validateTokenLifetime(`${path}.expirationSeconds`, expirationSeconds)
  })
  const ofModes = faultsOfEach(textsOf(volumeLifecycleModes), (mode) =>
    lifecycleModes.includes(mode)
      ? []
      : [notSupported('spec.volumeLifecycleModes', mode, lifecycleModes)],
  )
  faults.push(...ofRequests, ...ofModes)
  if (typeof period === 'number' && period < UPDATE_SECONDS_MIN) {
    const why = `must be greater than or equal to ${UPDATE_SECONDS_MIN} seconds`
    faults.push(invalidValue('spec.nodeAllocatableUpdatePeriodSeconds', period, why))
  }
  if (typeof inSecrets === 'boolean' && itemsOf(tokenRequests).length === 0) {
    const why = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'
    faults.push(invalidValue('spec.serviceAccountTokenInSecrets', inSecrets, why))
  }
  return faults
}

function validateChange(object: KubeObject, current: KubeObject): FieldFault[] {
  const { attachRequired, volumeLifecycleModes } = fieldsOf(object['spec'])
  const was = fieldsOf(current['spec'])
  const faults: FieldFault[] = []
  if (attachRequired !== was['attachRequired']) {
    faults.push(
      invalidValue('spec.attachedRequired', attachRequired === true, 'field is immutable'),
    )
  }
  if (!isSame(volumeLifecycleModes, was['volumeLifecycleModes'])) {
    const shown = goStrings(textsOf(volumeLifecycleModes), 'storage.VolumeLifecycleMode')
    faults.push(invalidShown('spec.volumeLifecycleModes', shown, 'field is immutable'))
  }
  return faults
}

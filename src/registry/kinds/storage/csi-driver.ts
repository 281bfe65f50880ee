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
}

function validate(object: KubeObject): FieldFault[] {
  const {
    fsGroupPolicy,
    tokenRequests,
    volumeLifecycleModes,
    nodeAllocatableUpdatePeriodSeconds: period,
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

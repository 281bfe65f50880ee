/**
 * Rules for Pods. This file combines the rules for parts of Pods, which are in the directory pod/.
 */
import { type FieldFault, forbiddenField } from '../../../api/field-fault.ts'
import type { Gates } from '../../../api/gates.ts'
import { fieldsOf, isNumber, itemsOf, type KubeObject } from '../../../api/object.ts'
import type { Seconds } from '../../deletion.ts'
import type { KindRules } from '../../kind-rules.ts'
import { faultsOf } from '../../rules/rule.ts'
import { podFields } from '../selectable.ts'
import { validatePodAnnotations, validateSaidTwice } from './pod/annotations.ts'
import { setPodDefaults } from './pod/defaults.ts'
import { prepareEphemeral, validateEphemeral } from './pod/ephemeral.ts'
import { preparePod } from './pod/prepare.ts'
import { prepareResize, validateResize } from './pod/resize.ts'
import { gated, validatePodSpec } from './pod/spec.ts'
import { podStatusWarnings, preparePodStatus, validatePodStatus } from './pod/status.ts'
import { validatePodChange } from './pod/update.ts'
import { podWarnings } from './pod/warnings.ts'

export const podRules: KindRules = {
  strategy: {
    subresourceGates: { resize: 'InPlacePodVerticalScaling' },
    updateChecks: ['change', 'rules', 'metadata'],
    returnsDeleted: true,
    takesStatus: 'create',
    statusKeeps: ['ownerReferences', 'deletionTimestamp'],
    generation: { fields: ['spec'] },
  },
  selectableFields: podFields,
  indexedFields: ['spec.nodeName'],
  setDefaults: setPodDefaults,
  prepareCreate: preparePod,
  graceOf,
  validate: (pod, gates) => [
    ...validatePod(pod, gates),
    ...faultsOf(gated, pod['spec'], 'spec'),
    ...validateSaidTwice(pod),
    ...validateNotEphemeral(pod),
  ],
  validateUpdate: (pod, current, gates) => [
    ...validatePod(pod, gates),
    ...validatePodChange(pod, current, gates),
  ],
  warnings: (pod, current, gates) => (current === undefined ? podWarnings(pod, gates) : []),
  status: {
    prepareUpdate: preparePodStatus,
    validateUpdate: validatePodStatus,
    warnings: podStatusWarnings,
  },
  subresourceRules: {
    ephemeralcontainers: { prepareUpdate: prepareEphemeral, validateUpdate: validateEphemeral },
    resize: { prepareUpdate: prepareResize, validateUpdate: validateResize },
  },
}

/**
 * Returns the grace period of a Pod. It is zero if the Pod is not bound to a node or has
 * terminated.
 */
function graceOf(pod: KubeObject, wanted: Seconds | undefined): Seconds {
  const { nodeName = '', terminationGracePeriodSeconds } = fieldsOf(pod['spec'])
  const { phase } = fieldsOf(pod['status'])
  if (nodeName === '' || nodeName === null || phase === 'Failed' || phase === 'Succeeded') return 0
  const seconds =
    wanted ?? (isNumber(terminationGracePeriodSeconds) ? terminationGracePeriodSeconds : 0)
  return seconds < 0 ? 1 : seconds
}

const validatePod = (pod: KubeObject, gates: Gates): FieldFault[] => [
  ...validatePodAnnotations(pod, 'metadata.annotations', gates),
  ...validatePodSpec(fieldsOf(pod['spec']), 'spec', { pod: pod.metadata, gates }),
]

function validateNotEphemeral(pod: KubeObject): FieldFault[] {
  if (itemsOf(fieldsOf(pod['spec'])['ephemeralContainers']).length === 0) return []
  return [forbiddenField('spec.ephemeralContainers', 'cannot be set on create')]
}

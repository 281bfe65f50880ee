import { fieldsOf, type Json } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { all, faultsOf, fields, type Rule } from '../../rules/rule.ts'
import { nonNegative } from '../../rules/scalars.ts'
import {
  fixedSelector,
  namedWorkloadWarnings,
  neededSelector,
  podTemplate,
  runningForever,
  selectedTemplate,
} from './selector-and-template.ts'
import { countersRule, partOf } from './status-counts.ts'

const specRule = (currentTemplate?: Json): Rule =>
  all(
    // As in kube-apiserver, the error message says deployment instead of ReplicaSet.
    fields({
      replicas: nonNegative,
      minReadySeconds: nonNegative,
      selector: neededSelector('deployment'),
    }),
    selectedTemplate({
      why: 'invalid label selector',
      template: all(podTemplate(currentTemplate), runningForever('ReplicaSet')),
    }),
  )

const newSpec = specRule()

export const replicaSetRules: KindRules = {
  strategy: { updateChecks: ['metadata', 'change', 'rules'], generation: { fields: ['spec'] } },
  validate: (object, gates) => faultsOf(newSpec, object['spec'], 'spec', gates),
  validateUpdate: (object, current, gates) => {
    const before = fieldsOf(current['spec'])
    // As in kube-apiserver, an update validates the spec twice, so each error is reported twice.
    const spec = specRule(before['template'])
    const rule = all(spec, spec, fields({ selector: fixedSelector(before['selector']) }))
    return faultsOf(rule, object['spec'], 'spec', gates)
  },
  warnings: namedWorkloadWarnings,
  status: {
    validateUpdate: countersRule(
      [
        'replicas',
        'fullyLabeledReplicas',
        'readyReplicas',
        'availableReplicas',
        'terminatingReplicas',
        'observedGeneration',
      ],
      [
        partOf('replicas', ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']),
        partOf('readyReplicas', ['availableReplicas'], 'readyReplicas'),
      ],
    ),
  },
}

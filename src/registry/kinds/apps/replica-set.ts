import { fieldsOf, type Json } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { all, faultsOf, fields, type Rule } from '../../rules/rule.ts'
import { nonNegative } from '../../rules/scalars.ts'
import {
  fixedSelector,
  namedWorkloadWarnings,
  neededSelector,
  ONCE_SINCE,
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
  strategy: {
    updateChecks: ['metadata', 'change', 'rules'],
    laterUpdateChecks: { since: ONCE_SINCE, checks: ['change', 'rules'] },
    generation: { fields: ['spec'] },
  },
  validate: (object, gates) => faultsOf(newSpec, object['spec'], 'spec', gates),
  validateUpdate: (object, current, gates) => {
    const before = fieldsOf(current['spec'])
    const spec = specRule(before['template'])
    const fixed = fields({ selector: fixedSelector(before['selector']) })
    const rule = gates.release < ONCE_SINCE ? all(spec, spec, fixed) : all(spec, fixed)
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

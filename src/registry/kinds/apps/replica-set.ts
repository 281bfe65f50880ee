import { fieldsOf } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { nameWarnings, podTemplate } from '../../rules/pod-template.ts'
import { all, faultsOf, fields } from '../../rules/rule.ts'
import { nonNegative } from '../../rules/scalars.ts'
import { withoutField } from '../../rules/without-field.ts'
import { fixedSelector, neededSelector, runningForever, selectedTemplate } from './selector-and-template.ts'
import { countersRule, partOf } from './status-counts.ts'

const spec = all(
  // The message speaks of a deployment in kube-apiserver, too.
  fields({ replicas: nonNegative, minReadySeconds: nonNegative, selector: neededSelector('deployment') }),
  selectedTemplate({ why: 'invalid label selector', template: all(podTemplate, runningForever('ReplicaSet')) }),
)

export const replicaSetRules: KindRules = {
  validate: (object) => faultsOf(spec, object['spec'], 'spec'),
  validateUpdate: (object, current) => {
    const before = fieldsOf(current['spec'])
    // An update looks at everything twice.
    const rule = all(spec, spec, fields({ selector: fixedSelector(before['selector']) }))
    return faultsOf(rule, object['spec'], 'spec')
  },
  warnings: nameWarnings,
  status: {
    // Of the gate DeploymentReplicaSetTerminatingReplicas, which is off.
    prepareUpdate: (object) => withoutField(object, 'status', 'terminatingReplicas'),
    validateUpdate: countersRule(
      ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'],
      [
        partOf('replicas', ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']),
        partOf('readyReplicas', ['availableReplicas'], 'readyReplicas'),
      ],
    ),
  },
}

import {
  forbiddenField,
  invalidShown,
  invalidValue,
  notSupportedShown,
  required,
} from '../../../api/field-fault.ts'
import { goIntOrString, goPointer, goStruct } from '../../../api/go-value.ts'
import { fieldsOf, type Json, numberOf, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import type { KindRules } from '../../kind-rules.ts'
import { atMostHundredPercent, countOrPercent, isNone } from '../../rules/percent.ts'
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

const bothNone: Rule = (value, path, { faults }) => {
  const { maxUnavailable, maxSurge } = fieldsOf(value)
  if (!isNone(maxUnavailable) || !isNone(maxSurge)) return
  faults.push(
    invalidShown(
      `${path}.maxUnavailable`,
      goIntOrString(maxUnavailable),
      'may not be 0 when `maxSurge` is 0',
    ),
  )
}

const rollingUpdate = all(
  fields({ maxUnavailable: countOrPercent, maxSurge: countOrPercent }),
  bothNone,
  fields({ maxUnavailable: atMostHundredPercent }),
)

const strategy: Rule = (value, path, check) => {
  const { type, rollingUpdate: rolling } = fieldsOf(value)
  const at = `${path}.rollingUpdate`
  switch (textOf(type)) {
    case 'Recreate':
      if (rolling === undefined) return
      check.faults.push(
        forbiddenField(at, "may not be specified when strategy `type` is 'Recreate'"),
      )
      return
    case 'RollingUpdate':
      if (rolling === undefined)
        check.faults.push(required(at, 'this should be defaulted and never be nil'))
      else rollingUpdate(rolling, at, check)
      return
    default: {
      const pointer = goPointer('apps.RollingUpdateDeployment', rolling !== undefined)
      const shown = goStruct('apps.DeploymentStrategy', {
        Type: quote(textOf(type)),
        RollingUpdate: pointer,
      })
      check.faults.push(notSupportedShown(path, shown, ['Recreate', 'RollingUpdate']))
    }
  }
}

const longerThanReady: Rule = (value, path, { faults }) => {
  const { progressDeadlineSeconds, minReadySeconds } = fieldsOf(value)
  const seconds = numberOf(progressDeadlineSeconds)
  if (progressDeadlineSeconds === undefined || seconds > numberOf(minReadySeconds)) return
  faults.push(
    invalidValue(
      `${path}.progressDeadlineSeconds`,
      seconds,
      'must be greater than minReadySeconds',
    ),
  )
}

const rollout = all(
  fields({
    strategy,
    minReadySeconds: nonNegative,
    revisionHistoryLimit: nonNegative,
    progressDeadlineSeconds: nonNegative,
  }),
  longerThanReady,
)

/**
 * Returns the rule for the spec of a Deployment. As in kube-apiserver, some error messages say
 * ReplicaSet instead of Deployment.
 */
const specRule = (currentTemplate?: Json): Rule =>
  all(
    fields({ replicas: nonNegative, selector: neededSelector('deployment') }),
    selectedTemplate({
      why: 'invalid label selector',
      template: all(podTemplate(currentTemplate), runningForever('ReplicaSet')),
    }),
    rollout,
  )

const newSpec = specRule()

export const deploymentRules: KindRules = {
  strategy: { statusKeeps: ['labels'], generation: { fields: ['spec', 'metadata.annotations'] } },
  validate: (object, gates) => faultsOf(newSpec, object['spec'], 'spec', gates),
  validateUpdate: (object, current, gates) => {
    const before = fieldsOf(current['spec'])
    const rule = all(
      specRule(before['template']),
      fields({ selector: fixedSelector(before['selector']) }),
    )
    return faultsOf(rule, object['spec'], 'spec', gates)
  },
  warnings: namedWorkloadWarnings,
  status: {
    validateUpdate: countersRule(
      [
        'observedGeneration',
        'replicas',
        'updatedReplicas',
        'readyReplicas',
        'availableReplicas',
        'unavailableReplicas',
        'terminatingReplicas',
        'collisionCount',
      ],
      [
        partOf('replicas', ['updatedReplicas', 'readyReplicas', 'availableReplicas']),
        partOf('readyReplicas', ['availableReplicas'], 'readyReplicas'),
      ],
    ),
  },
}

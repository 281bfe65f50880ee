import { isEqual } from '../../../objects/schema/equal.ts'
import { forbiddenField, invalidShown, invalidValue, required } from '../../../api/field-fault.ts'
import { goIntOrString, goPointer, goStruct } from '../../../api/go-value.ts'
import { checkDnsLabel } from '../../../api/names.ts'
import type { Gates } from '../../../api/gates.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
} from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { claimSpecWarnings } from '../core/claim-spec.ts'
import { typeOf } from '../../types.ts'
import type { KindRules } from '../../kind-rules.ts'
import { atMostHundredPercent, countOrPercent, isNone } from '../../rules/percent.ts'
import { all, faultsOf, fields, ifPresent, type Rule, unlessEmpty } from '../../rules/rule.ts'
import { named, nonNegative, oneOf } from '../../rules/scalars.ts'
import { warningsOfEach } from '../../rules/warnings.ts'
import {
  neededSelector,
  runningForever,
  selectedTemplate,
  templateMetadata,
  workloadWarnings,
} from './selector-and-template.ts'
import { countersRule, partOf } from './status-counts.ts'

const podManagementPolicy: Rule = (value, path, { faults }) => {
  const policy = textOf(value)
  if (policy === 'OrderedReady' || policy === 'Parallel') return
  faults.push(
    policy === ''
      ? required(path)
      : invalidValue(path, policy, "must be 'OrderedReady' or 'Parallel'"),
  )
}

/** Rule for maxUnavailable, which must not be zero (gate MaxUnavailableStatefulSet). */
const someUnavailable: Rule = (value, path, check) => {
  countOrPercent(value, path, check)
  if (isNone(value)) check.faults.push(invalidShown(path, goIntOrString(value), 'cannot be 0'))
  atMostHundredPercent(value, path, check)
}

const updateStrategy: Rule = (value, path, check) => {
  const { type, rollingUpdate } = fieldsOf(value)
  const at = `${path}.rollingUpdate`
  switch (textOf(type)) {
    case '':
      check.faults.push(required(path))
      return
    case 'OnDelete':
      if (rollingUpdate === undefined) return
      check.faults.push(
        invalidShown(
          at,
          goRollingUpdate(fieldsOf(rollingUpdate)),
          "only allowed for updateStrategy 'RollingUpdate'",
        ),
      )
      return
    case 'RollingUpdate':
      fields({ partition: nonNegative, maxUnavailable: ifPresent(someUnavailable) })(
        rollingUpdate,
        at,
        check,
      )
      return
    default: {
      const pointer = goPointer(
        'apps.RollingUpdateStatefulSetStrategy',
        rollingUpdate !== undefined,
      )
      const shown = goStruct('apps.StatefulSetUpdateStrategy', {
        Type: quote(textOf(type)),
        RollingUpdate: pointer,
      })
      check.faults.push(invalidShown(path, shown, "must be 'RollingUpdate' or 'OnDelete'"))
    }
  }
}

const goRollingUpdate = ({ partition, maxUnavailable }: Fields): string =>
  goStruct('apps.RollingUpdateStatefulSetStrategy', {
    Partition: `${numberOf(partition)}`,
    MaxUnavailable: goPointer('intstr.IntOrString', maxUnavailable !== undefined),
  })

const retention = oneOf('Retain', 'Delete')

/**
 * Rule for the spec of a StatefulSet. It covers neither the PodSpec of the template nor the claim
 * templates.
 */
const spec = all(
  fields({
    podManagementPolicy,
    updateStrategy,
    persistentVolumeClaimRetentionPolicy: ifPresent(
      fields({ whenDeleted: retention, whenScaled: retention }),
    ),
    replicas: nonNegative,
    minReadySeconds: nonNegative,
    ordinals: ifPresent(fields({ start: nonNegative })),
    selector: neededSelector('statefulset'),
    serviceName: unlessEmpty(named(checkDnsLabel)),
  }),
  selectedTemplate({ why: '', template: all(templateMetadata, runningForever('StatefulSet')) }),
)

const changeable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

export const statefulSetRules: KindRules = {
  setDefaults,
  strategy: { names: 'label', generation: { fields: ['spec'] } },
  validate: (object, gates) => faultsOf(spec, object['spec'], 'spec', gates),
  // The serviceName is immutable. A changed name is refused by `onlyChangeable`, so the other rules
  // validate the stored name instead.
  validateUpdate: (object, current, gates) => {
    const before = fieldsOf(current['spec'])
    const now = fieldsOf(object['spec'])
    const withOldName = { ...now, serviceName: before['serviceName'] }
    return [
      ...faultsOf(spec, withOldName, 'spec', gates),
      ...faultsOf(onlyChangeable(before), now, 'spec', gates),
    ]
  },
  warnings: (object, current, gates) => {
    const { revisionHistoryLimit, volumeClaimTemplates } = fieldsOf(object['spec'])
    const reported = [
      ...workloadWarnings(object, current, gates),
      // As in kube-apiserver, the path differs between create and update.
      ...warningsOfEach(itemsOf(volumeClaimTemplates), (claim, at) =>
        claimSpecWarnings(
          fieldsOf(claim['spec']),
          `spec.volumeClaimTemplates[${at}]${current === undefined ? '' : '.Spec'}`,
        ),
      ),
    ]
    if (numberOf(revisionHistoryLimit) >= 0) return reported
    const why = 'a negative value retains all historical revisions; a value >= 0 is recommended'
    return [...reported, `spec.revisionHistoryLimit: ${why}`]
  },
  status: {
    validateUpdate: countersRule(
      [
        'replicas',
        'readyReplicas',
        'currentReplicas',
        'updatedReplicas',
        'availableReplicas',
        'observedGeneration',
        'collisionCount',
      ],
      [
        partOf('replicas', [
          'readyReplicas',
          'currentReplicas',
          'updatedReplicas',
          'availableReplicas',
        ]),
        partOf('readyReplicas', ['availableReplicas']),
      ],
    ),
  },
}

function onlyChangeable(before: Fields): Rule {
  return (value, path, { faults, gates }) => {
    const struct = typeOf('apps/v1', 'StatefulSetSpec', gates.release)
    const now = fieldsOf(value)
    const isFixed = (name: string): boolean => !changeable.includes(name)
    const names = [...Object.keys(now), ...Object.keys(before)].filter(isFixed)
    const isKept = (name: string): boolean =>
      isEqual(struct, { [name]: now[name] }, { [name]: before[name] })
    if (names.every(isKept)) return
    const list = changeable
      .map((name) => `'${name}'`)
      .join(', ')
      .replace(/, ([^,]*)$/, ' and $1')
    faults.push(
      forbiddenField(
        path,
        `updates to statefulset spec for fields other than ${list} are forbidden`,
      ),
    )
  }
}

/**
 * Sets the default of maxUnavailable if the feature gate MaxUnavailableStatefulSet is on. The other
 * defaults are defined in type-defaults.ts.
 */
function setDefaults(object: KubeObject, gates: Gates): KubeObject {
  if (!gates.isOn('MaxUnavailableStatefulSet')) return object
  const own = fieldsOf(object['spec'])
  const strategy = fieldsOf(own['updateStrategy'])
  const { type, rollingUpdate } = strategy
  const isSpecified =
    textOf(type) === '' || (type === 'RollingUpdate' && rollingUpdate !== undefined)
  const rolling = fieldsOf(rollingUpdate)
  if (!isSpecified || rolling['maxUnavailable'] !== undefined) return object
  return {
    ...object,
    spec: {
      ...own,
      updateStrategy: { ...strategy, rollingUpdate: { ...rolling, maxUnavailable: 1 } },
    },
  }
}

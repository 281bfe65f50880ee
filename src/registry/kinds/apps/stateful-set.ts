import { isEqual } from '../../../objects/schema/equal.ts'
import {
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
  required,
} from '../../../api/field-fault.ts'
import { goIntOrString, goPointer, goStruct } from '../../../api/go-value.ts'
import { checkDnsLabel } from '../../../api/names.ts'
import type { Gates } from '../../../api/gates.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type KubeObject,
  numberOf,
  textOf,
} from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { claimSpec, claimSpecWarnings } from '../core/claim-spec.ts'
import { keysOf } from '../../../lib/scheduling/long-lists.ts'
import { mapEach } from '../../../lib/scheduling/parts.ts'
import { typeOf } from '../../types.ts'
import type { KindRules } from '../../kind-rules.ts'
import { atMostHundredPercent, countOrPercent, isNone } from '../../rules/percent.ts'
import {
  all,
  eachIn,
  faultsOf,
  fields,
  ifPresent,
  type Rule,
  unlessEmpty,
} from '../../rules/rule.ts'
import { named, nonNegative, oneOf } from '../../rules/scalars.ts'
import { warningsOfEach } from '../../rules/warnings.ts'
import {
  neededSelector,
  podTemplate,
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
 * Returns the rule for the spec of a StatefulSet, with the rules for its claim templates and its
 * Pod template.
 */
const specWith = ({ claims, template }: { readonly claims: Rule; readonly template: Rule }): Rule =>
  all(
    fields({
      podManagementPolicy,
      updateStrategy,
      persistentVolumeClaimRetentionPolicy: ifPresent(
        fields({ whenDeleted: retention, whenScaled: retention }),
      ),
      volumeClaimTemplates: claims,
      replicas: nonNegative,
      minReadySeconds: nonNegative,
      ordinals: ifPresent(fields({ start: nonNegative })),
      selector: neededSelector('statefulset'),
      serviceName: unlessEmpty(named(checkDnsLabel)),
    }),
    selectedTemplate({
      why: '',
      template: all(template, templateMetadata, runningForever('StatefulSet')),
    }),
  )

const nothing: Rule = () => {}

/**
 * Rule for the spec in releases that validate neither the PodSpec of the template nor the claim
 * templates.
 */
const partialSpec = specWith({ claims: nothing, template: nothing })

/** The first release that validates the PodSpec of the template and the claim templates. */
const WHOLE_SINCE = 34

const claimTemplates: Rule = (value, path, check) =>
  eachIn(itemsOf(value), check, (claim, at, inner) =>
    claimSpec(claim['spec'], `${path}[${at}].spec`, inner),
  )

const wholeSpec = specWith({ claims: claimTemplates, template: podTemplate() })
/** Rule for an update. The claim templates are immutable, so the stored ones are not validated. */
const changedSpec = specWith({ claims: nothing, template: podTemplate() })

/**
 * Prepares a spec for validation. As in the Pods that are created from it, the template gets a
 * volume for each claim template. The hostname and subdomain of the template are removed, because
 * each Pod gets its own.
 */
const completed = (spec: Fields): Fields => {
  const { template, volumeClaimTemplates } = spec
  if (!isFields(template)) return spec
  const { subdomain: _, hostname: __, ...podSpec } = fieldsOf(template['spec'])
  const claims = mapEach('volumes of claim templates', itemsOf(volumeClaimTemplates), (claim) => {
    const name = textOf(fieldsOf(claim['metadata'])['name'])
    return { name, persistentVolumeClaim: { claimName: name } }
  })
  const names = keysOf(claims, ({ name }) => name)
  const others = itemsOf(podSpec['volumes']).filter(({ name }) => !names.has(textOf(name)))
  const volumes = claims.length === 0 ? {} : { volumes: [...claims, ...others] }
  return { ...spec, template: { ...template, spec: { ...podSpec, ...volumes } } }
}

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
  validate: (object, gates) =>
    gates.release < WHOLE_SINCE
      ? faultsOf(partialSpec, object['spec'], 'spec', gates)
      : faultsOf(wholeSpec, completed(fieldsOf(object['spec'])), 'spec', gates),
  // The serviceName is immutable. The rule `onlyChangeable` refuses a changed serviceName, so the
  // other rules validate the stored one.
  validateUpdate: (object, current, gates) => {
    const before = fieldsOf(current['spec'])
    const now = fieldsOf(object['spec'])
    const withOldName = { ...now, serviceName: before['serviceName'] }
    return [
      ...changeFaults(withOldName, before, gates),
      ...faultsOf(onlyChangeable(before), now, 'spec', gates),
    ]
  },
  warnings: (object, current, gates) => {
    const { revisionHistoryLimit, volumeClaimTemplates } = fieldsOf(object['spec'])
    const reported = [
      ...workloadWarnings(object, current, gates),
      // As in kube-apiserver, the path in a warning ends with `.Spec` on update, but not on create.
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

/** Validates a changed spec. If the stored template is invalid, the new one is not validated. */
function changeFaults(now: Fields, before: Fields, gates: Gates): FieldFault[] {
  const isWhole =
    gates.release >= WHOLE_SINCE &&
    faultsOf(changedSpec, completed(before), 'spec', gates).length === 0
  return isWhole
    ? faultsOf(changedSpec, completed(now), 'spec', gates)
    : faultsOf(partialSpec, now, 'spec', gates)
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

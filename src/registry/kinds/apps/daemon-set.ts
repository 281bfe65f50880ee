import { isEqual } from '../../../objects/schema/equal.ts'
import { invalidShown, notSupportedShown, required } from '../../../api/field-fault.ts'
import { goIntOrString, goPointer, goStruct } from '../../../api/go-value.ts'
import { fieldsOf, type Json, type KubeObject, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { typeOf } from '../../types.ts'
import type { KindRules } from '../../kind-rules.ts'
import { requirementsOf } from '../../rules/label-selector.ts'
import { atMostHundredPercent, countOrPercent, isNone } from '../../rules/percent.ts'
import { all, faultsOf, fields, type Rule } from '../../rules/rule.ts'
import { nonNegative } from '../../rules/scalars.ts'
import {
  fixedSelector,
  matchingLabels,
  ONCE_SINCE,
  podTemplate,
  runningForever,
  usefulSelector,
  workloadWarnings,
} from './selector-and-template.ts'
import { countersRule } from './status-counts.ts'

/**
 * Annotation that counts the changes of the Pod template. Older API versions had a field for this
 * count.
 */
const templateGeneration = 'deprecated.daemonset.template.generation'

/** Requires that either maxUnavailable or maxSurge is greater than zero, but not both. */
const oneOfBoth: Rule = (value, path, { faults }) => {
  const { maxUnavailable, maxSurge } = fieldsOf(value)
  if (isNone(maxUnavailable) && isNone(maxSurge)) {
    faults.push(required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'))
  } else if (!isNone(maxUnavailable) && !isNone(maxSurge)) {
    const why = 'may not be set when maxUnavailable is non-zero'
    faults.push(invalidShown(`${path}.maxSurge`, goIntOrString(maxSurge), why))
  }
}

const atMostAll = all(countOrPercent, atMostHundredPercent)
const rollingUpdate = all(fields({ maxUnavailable: atMostAll, maxSurge: atMostAll }), oneOfBoth)

const updateStrategy: Rule = (value, path, check) => {
  const { type, rollingUpdate: rolling } = fieldsOf(value)
  if (type === 'OnDelete') return
  if (type !== 'RollingUpdate') {
    const pointer = goPointer('apps.RollingUpdateDaemonSet', rolling !== undefined)
    const shown = goStruct('apps.DaemonSetUpdateStrategy', {
      Type: quote(textOf(type)),
      RollingUpdate: pointer,
    })
    check.faults.push(notSupportedShown(path, shown, ['RollingUpdate', 'OnDelete']))
  } else if (rolling === undefined) check.faults.push(required(`${path}.rollingUpdate`))
  else rollingUpdate(rolling, `${path}.rollingUpdate`, check)
}

/**
 * Requires that the selector matches the labels of the template. An invalid selector is not
 * reported here, because other rules report it.
 */
const understoodLabels: Rule = (value, path, check) => {
  const { selector } = fieldsOf(value)
  if (requirementsOf(fieldsOf(selector)) !== undefined) matchingLabels(value, path, check)
}

const specRule = (currentTemplate?: Json): Rule =>
  all(
    fields({ selector: usefulSelector('daemonset') }),
    understoodLabels,
    fields({
      template: all(podTemplate(currentTemplate), runningForever('DaemonSet')),
      minReadySeconds: nonNegative,
      updateStrategy,
      revisionHistoryLimit: nonNegative,
    }),
  )

const newSpec = specRule()

export const daemonSetRules: KindRules = {
  strategy: {
    updateChecks: ['metadata', 'change', 'rules'],
    laterUpdateChecks: { since: ONCE_SINCE, checks: ['change', 'rules'] },
    generation: { fields: ['spec'] },
  },
  refuse: unreadableGeneration,
  setDefaults: (object) => withTemplateGeneration(object, generationOf(object)),
  prepareCreate: (object) => withTemplateGeneration(object, Math.max(generationOf(object), 1)),
  prepareUpdate: (object, current, _writer, gates) => {
    const before = generationOf(current)
    const struct = typeOf('core/v1', 'PodTemplateSpec', gates.release)
    const isKept = isEqual(struct, templateOf(object), templateOf(current))
    return withTemplateGeneration(object, isKept ? before : before + 1)
  },
  validate: (object, gates) => faultsOf(newSpec, object['spec'], 'spec', gates),
  validateUpdate: (object, current, gates) => {
    const before = fieldsOf(current['spec'])
    const spec = specRule(before['template'])
    const fixed = fields({ selector: fixedSelector(before['selector']) })
    const rule = gates.release < ONCE_SINCE ? all(spec, spec, fixed) : all(fixed, spec)
    return faultsOf(rule, object['spec'], 'spec', gates)
  },
  warnings: (object, current, gates) =>
    current !== undefined && generationOf(object) === generationOf(current)
      ? []
      : workloadWarnings(object, undefined, gates),
  status: {
    prepareUpdate: (object, current) => withTemplateGeneration(object, generationOf(current)),
    validateUpdate: countersRule([
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ]),
  },
}

const templateOf = (object: KubeObject) => fieldsOf(object['spec'])['template']

/** Returns the template generation from the annotation. Text that is not a number counts as 0. */
const generationOf = ({ metadata: { annotations = {} } }: KubeObject): number =>
  Number(numberForm.exec(annotations[templateGeneration] ?? '')?.[0] ?? 0)

const numberForm = /^[+-]?[0-9]{1,15}$/

function withTemplateGeneration(object: KubeObject, generation: number): KubeObject {
  const { metadata } = object
  if (metadata.annotations?.[templateGeneration] === `${generation}`) return object
  const annotations = { ...metadata.annotations, [templateGeneration]: `${generation}` }
  return { ...object, metadata: { ...metadata, annotations } }
}

function unreadableGeneration({ metadata: { annotations = {} } }: KubeObject): string | undefined {
  const text = annotations[templateGeneration]
  if (text === undefined || numberForm.test(text)) return undefined
  const why = /^[+-]?[0-9]+$/.test(text) ? 'value out of range' : 'invalid syntax'
  return `strconv.ParseInt: parsing ${quote(text)}: ${why}`
}

/**
 * Rules that workloads share: they have a label selector, and a Pod template whose labels must
 * match the selector.
 */
import { invalidShown, required } from '../../../api/field-fault.ts'
import type { Labels } from '../../../api/label-selector.ts'
import { type Fields, fieldsOf, type Json, type KubeObject, textOf } from '../../../api/object.ts'
import { addAll } from '../../../lib/scheduling/long-lists.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import {
  goLabels,
  goLabelSelector,
  isEmptySelector,
  selects,
  validateLabels,
  validateLabelSelector,
} from '../../rules/label-selector.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateAnnotations } from '../../metadata.ts'
import type { Rule } from '../../rules/rule.ts'
import { validatePodAnnotations } from '../core/pod/annotations.ts'
import { validateAlwaysRestarted, validatePodTemplate } from '../core/pod/template.ts'
import { isSpecChanged, nameWarnings, podTemplateWarnings } from '../core/pod/warnings.ts'

/**
 * The first release in which an update of a ReplicaSet or DaemonSet validates its metadata and spec
 * only once. Before, each error is reported twice.
 */
export const ONCE_SINCE = 34

/**
 * Returns the rule for a selector, which can be absent but must not be empty. `emptyFor` is the
 * name of the workload in messages.
 */
export function usefulSelector(emptyFor: string): Rule {
  return (value, path, { faults }) => {
    if (value === undefined) return
    const selector = fieldsOf(value)
    addAll(faults, validateLabelSelector(selector, path))
    if (!isEmptySelector(selector)) return
    faults.push(
      invalidShown(path, goLabelSelector(selector), `empty selector is invalid for ${emptyFor}`),
    )
  }
}

export const neededSelector =
  (emptyFor: string): Rule =>
  (value, path, check) => {
    if (value === undefined) check.faults.push(required(path))
    else usefulSelector(emptyFor)(value, path, check)
  }

/**
 * Returns the rule for the selector and the template of a spec. If the selector is invalid, only
 * the error of the selector is reported, and the template is not validated.
 */
export function selectedTemplate({
  why,
  template,
}: {
  readonly why: string
  readonly template: Rule
}): Rule {
  return (value, path, check) => {
    const spec = fieldsOf(value)
    const { selector } = spec
    if (selector !== undefined && validateLabelSelector(fieldsOf(selector), '').length > 0) {
      check.faults.push(invalidShown(`${path}.selector`, goLabelSelector(fieldsOf(selector)), why))
      return
    }
    matchingLabels(spec, path, check)
    template(spec['template'], `${path}.template`, check)
  }
}

/** Rule for a spec: the selector must match the labels of the template. */
export const matchingLabels: Rule = (value, path, { faults }) => {
  const { selector, template } = fieldsOf(value)
  const { labels } = fieldsOf(fieldsOf(template)['metadata'])
  if (selects(selector, fieldsOf(labels))) return
  const why = '`selector` does not match template `labels`'
  faults.push(invalidShown(`${path}.template.metadata.labels`, goLabels(labels), why))
}

export const labelsOf = (labels: Json | undefined): Labels =>
  Object.fromEntries(Object.entries(fieldsOf(labels)).map(([key, value]) => [key, textOf(value)]))

/**
 * Returns the rule for a template. `current` is the stored template if this is an update. An
 * unchanged template is not validated again.
 */
export function podTemplate(current?: Json): Rule {
  return (value, path, { faults, gates }) => {
    addAll(faults, validatePodTemplate(value, path, { current, gates }))
  }
}

/** Rule for the labels and annotations of a template. */
export const templateMetadata: Rule = (value, path, { faults, gates }) => {
  const template = fieldsOf(value)
  const { labels, annotations } = fieldsOf(template['metadata'])
  addAll(faults, validateLabels(labels, `${path}.labels`))
  addAll(faults, validateAnnotations(annotations, `${path}.annotations`))
  addAll(faults, validatePodAnnotations(template, `${path}.annotations`, gates))
}

/**
 * Returns the rule for the template of a workload whose containers always restart. `owner` is the
 * name of the workload in messages.
 */
export function runningForever(owner: string): Rule {
  return (value, path, { faults }) => {
    addAll(faults, validateAlwaysRestarted(value, path, owner))
  }
}

/** Returns the warnings for a workload whose name is part of the names of its Pods. */
export const namedWorkloadWarnings: NonNullable<KindRules['warnings']> = (
  object,
  current,
  gates,
) => [
  ...(current === undefined ? nameWarnings(object, 'Pod names and hostnames') : []),
  ...workloadWarnings(object, current, gates),
]

export const workloadWarnings: NonNullable<KindRules['warnings']> = (object, current, gates) =>
  isSpecChanged(object, current)
    ? podTemplateWarnings(templateOf(object), 'spec.template', gates)
    : []

const templateOf = (object: KubeObject): Fields => fieldsOf(fieldsOf(object['spec'])['template'])

/** Returns the rule for a selector that must not change. `before` is the stored selector. */
export function fixedSelector(before: Json | undefined): Rule {
  return (value, path, { faults }) => {
    if (isSame(value, before)) return
    const shown = value === undefined ? '"null"' : goLabelSelector(fieldsOf(value))
    faults.push(invalidShown(path, shown, 'field is immutable'))
  }
}

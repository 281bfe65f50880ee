/** What all workloads have: labels that they select Pods by, and a template of Pods that must have those labels. */
import { invalidShown, required } from '../../../api/field-fault.ts'
import type { Labels } from '../../../api/label-selector.ts'
import { type Fields, fieldsOf, type Json, type KubeObject, textOf } from '../../../api/object.ts'
import { addAll } from '../../../lib/long-lists.ts'
import { isSame } from '../../../schema/equal.ts'
import {
  goLabels,
  goLabelSelector,
  isEmptySelector,
  requirementsOf,
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

/** An absent selector is fine here. `emptyFor`: who must not select everything, as messages call him. */
export function usefulSelector(emptyFor: string): Rule {
  return (value, path, { faults }) => {
    if (value === undefined) return
    const selector = fieldsOf(value)
    addAll(faults, validateLabelSelector(selector, path))
    if (!isEmptySelector(selector)) return
    faults.push(invalidShown(path, goLabelSelector(selector), `empty selector is invalid for ${emptyFor}`))
  }
}

export const neededSelector =
  (emptyFor: string): Rule =>
  (value, path, check) => {
    if (value === undefined) check.faults.push(required(path))
    else usefulSelector(emptyFor)(value, path, check)
  }

/** Of a spec: a selector that cannot be understood is told, and then nothing is asked of the template. */
export function selectedTemplate({ why, template }: { readonly why: string; readonly template: Rule }): Rule {
  return (value, path, check) => {
    const spec = fieldsOf(value)
    const { selector } = spec
    if (selector !== undefined && requirementsOf(fieldsOf(selector)) === undefined) {
      check.faults.push(invalidShown(`${path}.selector`, goLabelSelector(fieldsOf(selector)), why))
      return
    }
    matchingLabels(spec, path, check)
    template(spec['template'], `${path}.template`, check)
  }
}

/** Of a spec: who creates Pods must find them again. */
export const matchingLabels: Rule = (value, path, { faults }) => {
  const { selector, template } = fieldsOf(value)
  const { labels } = fieldsOf(fieldsOf(template)['metadata'])
  if (selects(selector, labelsOf(labels))) return
  const why = '`selector` does not match template `labels`'
  faults.push(invalidShown(`${path}.template.metadata.labels`, goLabels(labels), why))
}

export const labelsOf = (labels: Json | undefined): Labels =>
  Object.fromEntries(Object.entries(fieldsOf(labels)).map(([key, value]) => [key, textOf(value)]))

/** Of a template; `current` is the one before an update, which what was fine once may be taken from. */
export function podTemplate(current?: Json): Rule {
  return (value, path, { faults, gates }) => {
    addAll(faults, validatePodTemplate(value, path, { current, gates }))
  }
}

/** Of a template whose Pods nobody looks at. */
export const templateMetadata: Rule = (value, path, { faults, gates }) => {
  const template = fieldsOf(value)
  const { labels, annotations } = fieldsOf(template['metadata'])
  addAll(faults, validateLabels(labels, `${path}.labels`))
  addAll(faults, validateAnnotations(annotations, `${path}.annotations`))
  addAll(faults, validatePodAnnotations(template, `${path}.annotations`, gates))
}

/** Of the template of a workload that keeps its Pods running. `owner`: who that is, as messages call him. */
export function runningForever(owner: string): Rule {
  return (value, path, { faults }) => {
    addAll(faults, validateAlwaysRestarted(value, path, owner))
  }
}

/** Of a workload whose Pods are named after it. */
export const namedWorkloadWarnings: NonNullable<KindRules['warnings']> = (object, current, gates) => [
  ...(current === undefined ? nameWarnings(object, 'Pod names and hostnames') : []),
  ...workloadWarnings(object, current, gates),
]

export const workloadWarnings: NonNullable<KindRules['warnings']> = (object, current, gates) =>
  isSpecChanged(object, current) ? podTemplateWarnings(templateOf(object), 'spec.template', gates) : []

const templateOf = (object: KubeObject): Fields => fieldsOf(fieldsOf(object['spec'])['template'])

/** Against the one from before. */
export function fixedSelector(before: Json | undefined): Rule {
  return (value, path, { faults }) => {
    if (isSame(value, before)) return
    const shown = value === undefined ? '"null"' : goLabelSelector(fieldsOf(value))
    faults.push(invalidShown(path, shown, 'field is immutable'))
  }
}

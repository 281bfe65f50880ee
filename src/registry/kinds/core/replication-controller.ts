import { type FieldFault, invalidShown, invalidValue, required } from '../../../api/field-fault.ts'
import type { Gates } from '../../../api/gates.ts'
import {
  entriesOf,
  type Fields,
  fieldsOf,
  isFields,
  type KubeObject,
  numberOf,
} from '../../../api/object.ts'
import { everyItem } from '../../../lib/scheduling/parts.ts'
import { validateByTags } from '../../declarative.ts'
import type { KindRules } from '../../kind-rules.ts'
import { goLabels } from '../../rules/label-selector.ts'
import { VALIDATED_ONCE_SINCE } from '../../strategy.ts'
import { faultsOf, fields } from '../../rules/rule.ts'
import { nonNegative } from '../../rules/scalars.ts'
import { validateAlwaysRestarted, validatePodTemplate } from './pod/template.ts'
import { isSpecChanged, nameWarnings, podTemplateWarnings } from './pod/warnings.ts'

export const replicationControllerRules: KindRules = {
  strategy: {
    updateChecks: ['metadata', 'change', 'rules'],
    laterUpdateChecks: { since: VALIDATED_ONCE_SINCE, checks: ['change', 'rules'] },
    hasTaggedNames: true,
    orphansDependents: true,
    generation: { fields: ['spec'] },
  },
  selectableFields: {
    'status.replicas': (object) => `${numberOf(fieldsOf(object['status'])['replicas'])}`,
  },
  setDefaults,
  // Clients expect status.replicas to be present from the start.
  prepareCreate: (object) => ({ ...object, status: { replicas: 0 } }),
  validate,
  // As in kube-apiserver, an update is validated twice in releases before 1.35.
  validateUpdate: (object, _current, gates) => [
    ...(gates.release < VALIDATED_ONCE_SINCE ? validate(object, gates) : []),
    ...validate(object, gates),
  ],
  declarative: validateByTags({
    replicas: { isDefaulted: true, minimum: 0 },
    minReadySeconds: { minimum: 0 },
  }),
  warnings: (object, current, gates) => [
    ...(current === undefined ? nameWarnings(object, 'Pod names and hostnames') : []),
    // As in kube-apiserver, the warnings are about the stored template, not the new one.
    ...(isSpecChanged(object, current)
      ? podTemplateWarnings(templateOf(current ?? object), 'spec.template', gates)
      : []),
  ],
  status: { validateUpdate: validateStatus },
}

const templateOf = (object: KubeObject): Fields => fieldsOf(fieldsOf(object['spec'])['template'])

/** Sets defaults. The selector and the labels default to the labels of the template. */
function setDefaults(object: KubeObject): KubeObject {
  const spec = fieldsOf(object['spec'])
  const { labels } = fieldsOf(templateOf(object)['metadata'])
  const { replicas = 1, selector } = spec
  const own = isFields(selector) && Object.keys(selector).length > 0 ? selector : labels
  const isLabelled = Object.keys(object.metadata.labels ?? {}).length > 0 || !isFields(labels)
  return {
    ...object,
    metadata: isLabelled
      ? object.metadata
      : { ...object.metadata, labels: Object.fromEntries(entriesOf(labels)) },
    spec: { ...spec, replicas, ...(own === undefined ? {} : { selector: own }) },
  }
}

function validate(object: KubeObject, gates: Gates): FieldFault[] {
  const spec = fieldsOf(object['spec'])
  const { template, selector } = spec
  const wanted = entriesOf(selector)
  return [
    ...taggedMinimum(spec, 'minReadySeconds'),
    ...(wanted.length === 0 ? [required('spec.selector')] : []),
    ...(spec['replicas'] === undefined
      ? [{ ...required('spec.replicas'), tag: 'required' as const }]
      : taggedMinimum(spec, 'replicas')),
    ...(template === undefined
      ? [required('spec.template')]
      : validateTemplate(fieldsOf(template), wanted, gates)),
  ]
}

/**
 * Adds the tag `minimum` to errors. Declarative validation (KEP-5073) finds the same errors, and
 * the errors of both validations are matched by this tag.
 */
function taggedMinimum(spec: Fields, field: string): FieldFault[] {
  return faultsOf(nonNegative, spec[field], `spec.${field}`).map((fault) => ({
    ...fault,
    tag: 'minimum',
  }))
}

function validateTemplate(
  template: Fields,
  wanted: readonly (readonly [string, string])[],
  gates: Gates,
): FieldFault[] {
  const { labels } = fieldsOf(template['metadata'])
  const path = 'spec.template'
  const isSelected = everyItem(
    'selector of ReplicationController',
    wanted,
    ([key, value]) => fieldsOf(labels)[key] === value,
  )
  const why = '`selector` does not match template `labels`'
  return [
    ...(wanted.length > 0 && !isSelected
      ? [invalidShown(`${path}.metadata.labels`, goLabels(labels), why)]
      : []),
    ...validatePodTemplate(template, path, { gates }),
    ...validateAlwaysRestarted(template, path, 'ReplicationController'),
  ]
}

const statusCounts = fields({
  replicas: nonNegative,
  fullyLabeledReplicas: nonNegative,
  readyReplicas: nonNegative,
  availableReplicas: nonNegative,
  observedGeneration: nonNegative,
})

function validateStatus(object: KubeObject): FieldFault[] {
  const status = fieldsOf(object['status'])
  const count = (field: string): number => numberOf(status[field])
  const atMost = (field: string, limit: string, shown = limit): FieldFault[] =>
    count(field) > count(limit)
      ? [invalidValue(`status.${field}`, count(field), `cannot be greater than ${shown}`)]
      : []
  return [
    ...faultsOf(statusCounts, status, 'status'),
    ...atMost('fullyLabeledReplicas', 'replicas', 'status.replicas'),
    ...atMost('readyReplicas', 'replicas', 'status.replicas'),
    ...atMost('availableReplicas', 'replicas', 'status.replicas'),
    ...atMost('availableReplicas', 'readyReplicas'),
  ]
}

/** Rules for Pod templates, both in workloads and in PodTemplates. */
import { isEqual } from '../../../../objects/schema/equal.ts'
import { type FieldFault, forbiddenField, notSupported } from '../../../../api/field-fault.ts'
import type { Gates } from '../../../../api/gates.ts'
import { type Fields, fieldsOf, itemsOf, type Json, textOf } from '../../../../api/object.ts'
import { typeOf } from '../../../types.ts'
import { validateLabels } from '../../../rules/label-selector.ts'
import { validateAnnotations } from '../../../metadata.ts'
import { validatePodAnnotations } from './annotations.ts'
import { validatePodSpec } from './spec.ts'

export type TemplateOptions = {
  /** The stored template, if this is an update. An unchanged template is not validated again. */
  readonly current?: Json | undefined
  readonly gates: Gates
}

/** Validates a template. `path` is its path, such as `spec.template`. */
export function validatePodTemplate(
  template: Json | undefined,
  path: string,
  { current, gates }: TemplateOptions,
): FieldFault[] {
  const struct = typeOf('core/v1', 'PodTemplateSpec', gates.release)
  if (current !== undefined && isEqual(struct, template, current)) return []
  const { metadata, spec } = fieldsOf(template)
  const { labels, annotations } = fieldsOf(metadata)
  // As in kube-apiserver, the path in errors about labels does not contain `metadata`.
  return [
    ...validateLabels(labels, `${path}.labels`),
    ...validateAnnotations(annotations, `${path}.annotations`),
    ...validatePodAnnotations(fieldsOf(template), `${path}.annotations`, gates),
    ...validatePodSpec(fieldsOf(spec), `${path}.spec`, { pod: undefined, gates }),
    ...(itemsOf(fieldsOf(spec)['ephemeralContainers']).length > 0
      ? [
          forbiddenField(
            `${path}.spec.ephemeralContainers`,
            'ephemeral containers not allowed in pod template',
          ),
        ]
      : []),
  ]
}

/**
 * Requires the restartPolicy Always, because the workload maintains a number of running Pods.
 * `owner` is the name of the workload in messages.
 */
export function validateAlwaysRestarted(
  template: Json | undefined,
  path: string,
  owner: string,
): FieldFault[] {
  const spec: Fields = fieldsOf(fieldsOf(template)['spec'])
  const policy = textOf(spec['restartPolicy'])
  const faults =
    policy === 'Always' || policy === ''
      ? []
      : [notSupported(`${path}.spec.restartPolicy`, policy, ['Always'])]
  if (spec['activeDeadlineSeconds'] === undefined) return faults
  const why = `activeDeadlineSeconds in ${owner} is not Supported`
  return [...faults, forbiddenField(`${path}.spec.activeDeadlineSeconds`, why)]
}

/** ResourceClaim and ResourceClaimTemplate. What is asked for stays as it was created. */
import { type FieldFault, invalidShown } from '../../../api/field-fault.ts'
import { goDate, goStruct } from '../../../api/go-value.ts'
import { type Fields, fieldsOf, type KubeObject } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateAnnotations } from '../../metadata.ts'
import { isEqualAs } from '../../rules/equality.ts'
import { goLabels, validateLabels } from '../../rules/label-selector.ts'
import { goClaimSpec, validateClaimSpec } from './claim-spec.ts'
import { validateClaimStatus, withoutDeallocated } from './claim-status.ts'
import { Selectors } from './selectors.ts'

const immutable = 'field is immutable'
const specOf = (object: KubeObject): Fields => fieldsOf(object['spec'])

const validateClaim = (object: KubeObject, isStored: boolean): FieldFault[] =>
  validateClaimSpec(specOf(object), 'spec', { selectors: new Selectors(), isStored })

export const resourceClaimRules: KindRules = {
  strategy: {
    updateChecks: ['metadata', 'change', 'rules'],
    returnsDeleted: true,
    statusKeeps: 'metadata',
    resetPaths: { status: ['spec'] },
  },
  validate: (object) => validateClaim(object, false),
  // As upstream, which looks at an update as at a new object first.
  validateUpdate: (object, current) => [
    ...validateClaim(object, false),
    ...(isEqualAs('resource/v1beta2 ResourceClaimSpec', specOf(object), specOf(current))
      ? []
      : [invalidShown('spec', goClaimSpec(specOf(object)), immutable)]),
    ...validateClaim(object, true),
  ],
  status: { prepareUpdate: withoutDeallocated, validateUpdate: validateClaimStatus },
}

function validateTemplate(object: KubeObject, isStored: boolean): FieldFault[] {
  const { metadata, spec } = specOf(object)
  const { labels, annotations } = fieldsOf(metadata)
  return [
    ...validateAnnotations(annotations, 'spec.metadata.annotations'),
    ...validateLabels(labels, 'spec.metadata.labels'),
    ...validateClaimSpec(fieldsOf(spec), 'spec.spec', { selectors: new Selectors(), isStored }),
  ]
}

export const resourceClaimTemplateRules: KindRules = {
  strategy: { updateChecks: ['metadata', 'change', 'rules'], returnsDeleted: true },
  validate: (object) => validateTemplate(object, false),
  validateUpdate: (object, current) => [
    ...validateTemplate(object, false),
    ...(isEqualAs('resource/v1beta2 ResourceClaimTemplateSpec', specOf(object), specOf(current))
      ? []
      : [invalidShown('spec', goTemplate(specOf(object)), immutable)]),
    ...validateTemplate(object, true),
  ],
}

/** As Go dumps it. Of the metadata of a template nothing but labels and annotations counts. */
function goTemplate({ metadata, spec }: Fields): string {
  const { labels, annotations } = fieldsOf(metadata)
  return goStruct('resource.ResourceClaimTemplateSpec', {
    ObjectMeta: goStruct('v1.ObjectMeta', {
      Name: '""',
      GenerateName: '""',
      Namespace: '""',
      SelfLink: '""',
      UID: '""',
      ResourceVersion: '""',
      Generation: '0',
      CreationTimestamp: goDate(''),
      DeletionTimestamp: '<nil>',
      DeletionGracePeriodSeconds: '(*int64)(nil)',
      Labels: goLabels(labels),
      Annotations: goLabels(annotations),
      OwnerReferences: '[]v1.OwnerReference(nil)',
      Finalizers: '[]string(nil)',
      ManagedFields: '[]v1.ManagedFieldsEntry(nil)',
    }),
    Spec: goClaimSpec(fieldsOf(spec)),
  })
}

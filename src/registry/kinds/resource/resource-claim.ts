/** Rules for ResourceClaim and ResourceClaimTemplate. Their specs are immutable. */
import { type FieldFault, invalidShown } from '../../../api/field-fault.ts'
import { defaultGates } from '../../../api/gates.ts'
import { goDate, goStruct } from '../../../api/go-value.ts'
import { type Fields, fieldsOf, type KubeObject } from '../../../api/object.ts'
import { inPartsOf, inTurns, type Turns } from '../../../objects/cel/turns.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateAnnotations } from '../../metadata.ts'
import { isEqual } from '../../../objects/schema/equal.ts'
import { VALIDATED_ONCE_SINCE } from '../../strategy.ts'
import { typeOf } from '../../types.ts'
import { hub } from './versions.ts'
import { goLabels, validateLabels } from '../../rules/label-selector.ts'
import { goClaimSpec, validateClaimSpec } from './claim-spec.ts'
import { adminRequests, adminResults } from './admin-access.ts'
import { validateClaimStatus, withoutDeallocated } from './claim-status.ts'
import type { SelectorOptions } from './selectors.ts'

const immutable = 'field is immutable'
const changedSpec = (shown: string, type: string, spec: Fields): FieldFault =>
  invalidShown('spec', shown, immutable, { type, json: spec })

const specOf = (object: KubeObject): Fields => fieldsOf(object['spec'])

export const resourceClaimRules: KindRules = {
  strategy: {
    updateChecks: ['metadata', 'change', 'rules'],
    returnsDeleted: true,
    statusKeeps: 'metadata',
    resetPaths: { status: ['spec'] },
    resetPathsUntil: 34,
  },
  validate: () => [],
  // Validation runs in time slices, so that compiling the CEL expressions of requests does not
  // block other requests.
  validateInSlices: (object, current, tools, gates = defaultGates) =>
    inTurns((slice) => validateClaim(object, current, { gates, slice }), tools),
  namespaceRule: (object, current, gates) =>
    current === undefined ? adminRequests(specOf(object), gates) : undefined,
  status: {
    prepareUpdate: withoutDeallocated,
    validateUpdate: validateClaimStatus,
    namespaceRule: (object, current, gates) =>
      current !== undefined && adminResults(current, gates) !== undefined
        ? undefined
        : adminResults(object, gates),
  },
}

/**
 * Validates a claim. As in kube-apiserver, releases before 1.35 validate the spec of an update both
 * like a new one and like a stored one. Since 1.35, the spec of an update must only be unchanged.
 */
function* validateClaim(
  object: KubeObject,
  current: KubeObject | undefined,
  { gates, slice }: SelectorOptions,
): Turns<FieldFault[]> {
  const spec = specOf(object)
  const isValidated = current === undefined || gates.release < VALIDATED_ONCE_SINCE
  const faults = isValidated
    ? yield* validateClaimSpec(spec, 'spec', { isStored: false, gates, slice })
    : []
  if (current === undefined) return faults
  const isKept = yield* inPartsOf(
    () => isEqual(typeOf(hub, 'ResourceClaimSpec', gates.release), spec, specOf(current)),
    slice,
  )
  return [
    ...faults,
    ...(isKept ? [] : [changedSpec(goClaimSpec(spec), 'resource.ResourceClaimSpec', spec)]),
    ...(isValidated
      ? yield* validateClaimSpec(spec, 'spec', { isStored: true, gates, slice })
      : []),
  ]
}

function* validateTemplateOnce(
  object: KubeObject,
  isStored: boolean,
  { gates, slice }: SelectorOptions,
): Turns<FieldFault[]> {
  const { metadata, spec } = specOf(object)
  const { labels, annotations } = fieldsOf(metadata)
  return [
    ...validateAnnotations(annotations, 'spec.metadata.annotations'),
    ...validateLabels(labels, 'spec.metadata.labels'),
    ...(yield* validateClaimSpec(fieldsOf(spec), 'spec.spec', { isStored, gates, slice })),
  ]
}

export const resourceClaimTemplateRules: KindRules = {
  strategy: { updateChecks: ['metadata', 'change', 'rules'], returnsDeleted: true },
  validate: () => [],
  namespaceRule: (object, current, gates) =>
    current === undefined ? adminRequests(fieldsOf(specOf(object)['spec']), gates) : undefined,
  validateInSlices: (object, current, tools, gates = defaultGates) =>
    inTurns((slice) => validateTemplate(object, current, { gates, slice }), tools),
}

function* validateTemplate(
  object: KubeObject,
  current: KubeObject | undefined,
  { gates, slice }: SelectorOptions,
): Turns<FieldFault[]> {
  const faults = yield* validateTemplateOnce(object, false, { gates, slice })
  if (current === undefined) return faults
  const isKept = yield* inPartsOf(
    () =>
      isEqual(
        typeOf(hub, 'ResourceClaimTemplateSpec', gates.release),
        specOf(object),
        specOf(current),
      ),
    slice,
  )
  return [
    ...faults,
    ...(isKept
      ? []
      : [
          changedSpec(
            goTemplate(specOf(object)),
            'resource.ResourceClaimTemplateSpec',
            specOf(object),
          ),
        ]),
    ...(gates.release < VALIDATED_ONCE_SINCE
      ? yield* validateTemplateOnce(object, true, { gates, slice })
      : []),
  ]
}

/**
 * Formats the spec of a template as Go does with %#v. Only the labels and annotations of the
 * metadata are shown.
 */
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

/**
 * Conversions of old PodDisruptionBudgets, RBAC objects, RuntimeClasses, webhook configurations and
 * CertificateSigningRequests.
 */
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type KubeObject,
  present,
  textOf,
} from '../../api/object.ts'
import {
  emptySelectorLabel,
  matchesNone,
  withoutOldLabel,
} from '../kinds/policy/pod-disruption-budget.ts'

const rbacGroup = 'rbac.authorization.k8s.io'

/**
 * Converts a budget. In policy/v1beta1, an empty selector selects nothing; an expression is needed
 * to select everything.
 */
export function budget(object: KubeObject): KubeObject {
  const spec = fieldsOf(object['spec'])
  const { selector } = spec
  if (!isFields(selector)) return object
  return { ...object, spec: { ...spec, selector: newSelector(selector) } }
}

function newSelector(selector: Fields): Fields {
  const expressions = itemsOf(selector['matchExpressions'])
  const hasLabels = Object.keys(fieldsOf(selector['matchLabels'])).length > 0
  if (hasLabels) return withoutOldLabel(selector)
  if (expressions.length === 0) return matchesNone
  const [first, second] = expressions
  const isAll =
    second === undefined &&
    first?.['key'] === emptySelectorLabel &&
    first['operator'] === 'DoesNotExist'
  return isAll ? {} : withoutOldLabel(selector)
}

/**
 * Returns the role unchanged. In the old versions, roles differ only in the order of their fields.
 */
export const role = (object: KubeObject): KubeObject => object

export function roleBinding(object: KubeObject): KubeObject {
  const { subjects, roleRef } = object
  const ref = fieldsOf(roleRef)
  return {
    ...object,
    ...(Array.isArray(subjects) ? { subjects: itemsOf(subjects).map(newSubject) } : {}),
    roleRef: { ...ref, apiGroup: textOf(ref['apiGroup']) || rbacGroup },
  }
}

function newSubject({ apiVersion, ...subject }: Fields): Fields {
  const { kind, name } = subject
  if (kind === 'ServiceAccount') return subject
  if (kind === 'User' && name === '*') {
    return { ...subject, kind: 'Group', apiGroup: rbacGroup, name: 'system:authenticated' }
  }
  if (kind === 'User' || kind === 'Group') return { ...subject, apiGroup: rbacGroup }
  const [group = ''] = textOf(apiVersion).split('/', 1)
  return textOf(apiVersion).includes('/') ? { ...subject, apiGroup: group } : subject
}

export function runtimeClass(object: KubeObject): KubeObject {
  const { spec, ...rest } = object
  const { runtimeHandler = '', overhead, scheduling } = fieldsOf(spec)
  const { kind, apiVersion, metadata } = object
  return {
    ...rest,
    ...present({ handler: runtimeHandler, overhead, scheduling }),
    kind,
    apiVersion,
    metadata,
  }
}

const webhookDefaults = {
  failurePolicy: 'Ignore',
  matchPolicy: 'Exact',
  sideEffects: 'Unknown',
  timeoutSeconds: 30,
  admissionReviewVersions: ['v1beta1'],
} as const

export function webhooks(object: KubeObject): KubeObject {
  const list = object['webhooks']
  if (!Array.isArray(list)) return object
  return {
    ...object,
    webhooks: itemsOf(list).map((webhook) => ({ ...webhookDefaults, ...present(webhook) })),
  }
}

/**
 * Converts a CertificateSigningRequest. v1beta1 has defaults for signerName and usages, and for the
 * status of conditions.
 */
export function certificateRequest(object: KubeObject): KubeObject {
  const spec = fieldsOf(object['spec'])
  const status = fieldsOf(object['status'])
  const conditions = itemsOf(status['conditions']).map((one) => ({
    ...one,
    status: textOf(one['status']) || 'True',
  }))
  return {
    ...object,
    spec: {
      signerName: 'kubernetes.io/legacy-unknown',
      usages: ['digital signature', 'key encipherment'],
      ...present(spec),
    },
    status: conditions.length === 0 ? status : { ...status, conditions },
  }
}

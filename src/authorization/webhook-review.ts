/** The SubjectAccessReview that a webhook is sent, and what its answer says. */
import { type Fields, fieldsOf, isFields, type Json, textOf } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import { fieldsIn } from '../webhooks/body.ts'
import type { ReviewSpec } from './review-spec.ts'

export type ReviewVersion = 'v1' | 'v1beta1'

const apiVersionOf = (version: ReviewVersion): string => `authorization.k8s.io/${version}`

/** Empty fields are left out; the field of the groups is called `group` in v1beta1. */
export function printReview(spec: ReviewSpec, version: ReviewVersion): string {
  const { resourceAttributes, nonResourceAttributes, user, groups, extra, uid } = spec
  return JSON.stringify({
    kind: 'SubjectAccessReview',
    apiVersion: apiVersionOf(version),
    metadata: { creationTimestamp: null },
    spec: {
      resourceAttributes: resourceAttributes && filled(resourceAttributes),
      nonResourceAttributes: nonResourceAttributes && filled(nonResourceAttributes),
      ...(user === '' ? {} : { user }),
      ...(groups.length === 0 ? {} : { [version === 'v1' ? 'groups' : 'group']: groups }),
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
      ...(uid === '' ? {} : { uid }),
    },
    status: { allowed: false },
  })
}

const filled = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))

export type ReviewStatus = { readonly isAllowed: boolean; readonly isDenied: boolean; readonly reason: string }

/** A body without kind and apiVersion is taken for the review that was asked for. Errors have the messages of Go's decoder. */
export function readReviewStatus(text: string, version: ReviewVersion): ReviewStatus | { readonly fault: string } {
  const fields = fieldsIn(text)
  if (fields === undefined) {
    const found = /^\s*\[/.test(text) ? 'array' : 'string'
    return {
      fault: `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go value of ${headType}`,
    }
  }
  const kind = textOf(fields['kind']) || 'SubjectAccessReview'
  const apiVersion = textOf(fields['apiVersion']) || apiVersionOf(version)
  if (kind !== 'SubjectAccessReview' || apiVersion !== apiVersionOf(version)) {
    return { fault: otherKindFault(kind, apiVersion, version) }
  }
  const { status } = fields
  const { allowed, denied, reason } = fieldsOf(status)
  const fault =
    typeFault(status, 'object', 'SubjectAccessReview.status of type', `${version}.SubjectAccessReviewStatus`) ??
    typeFault(allowed, 'bool', `${statusField}.allowed of type`) ??
    typeFault(denied, 'bool', `${statusField}.denied of type`) ??
    typeFault(reason, 'string', `${statusField}.reason of type`)
  return fault === undefined
    ? { isAllowed: allowed === true, isDenied: denied === true, reason: textOf(reason) }
    : { fault }
}

const headType =
  'type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
const statusField = 'SubjectAccessReviewStatus.status'

/** Upstream's client knows the kinds of Kubernetes alone: their groups have no domain, or one of k8s.io. */
function otherKindFault(kind: string, apiVersion: string, version: ReviewVersion): string {
  const [group = '', ownVersion] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  if (!group.includes('.') || group.endsWith('.k8s.io')) {
    return `converting (${ownVersion}.${kind}) to (${version}.SubjectAccessReview): unknown conversion`
  }
  const scheme = 'k8s.io/client-go/kubernetes/scheme/register.go:84'
  return `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme ${quote(scheme)}`
}

function typeFault(
  value: Json | undefined,
  type: 'object' | 'bool' | 'string',
  field: string,
  goType: string = type,
): string | undefined {
  if (value === undefined || value === null) return undefined
  const found = goKindOf(value)
  return found === type ? undefined : `json: cannot unmarshal ${found} into Go struct field ${field} ${goType}`
}

function goKindOf(value: Json): string {
  if (isFields(value)) return 'object'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : 'number'
}

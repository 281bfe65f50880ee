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

/** A body without kind and apiVersion is taken for the review that was asked for. */
export function readReviewStatus(text: string, version: ReviewVersion): ReviewStatus | { readonly fault: string } {
  const fields = fieldsIn(text)
  if (fields === undefined)
    return { fault: "couldn't get version/kind; json parse error: the answer is not a JSON object" }
  const kind = textOf(fields['kind']) || 'SubjectAccessReview'
  const apiVersion = textOf(fields['apiVersion']) || apiVersionOf(version)
  if (kind !== 'SubjectAccessReview' || apiVersion !== apiVersionOf(version)) {
    return { fault: `the answer is a ${quote(kind)} of ${quote(apiVersion)}, not the review that was sent` }
  }
  const { status } = fields
  const { allowed, denied, reason } = fieldsOf(status)
  const isReadable = isAbsentOr(status, isFields(status)) && isBoolean(allowed) && isBoolean(denied) && isText(reason)
  if (!isReadable) return { fault: 'the status of the answer has fields of other types than a SubjectAccessReview has' }
  return { isAllowed: allowed === true, isDenied: denied === true, reason: textOf(reason) }
}

const isAbsentOr = (value: Json | undefined, isRight: boolean): boolean =>
  value === undefined || value === null || isRight
const isBoolean = (value: Json | undefined): boolean => isAbsentOr(value, typeof value === 'boolean')
const isText = (value: Json | undefined): boolean => isAbsentOr(value, typeof value === 'string')

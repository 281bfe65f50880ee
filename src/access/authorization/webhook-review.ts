/** Encodes the SubjectAccessReview that is sent to a webhook, and decodes the response. */
import { emptyMetadata } from '../../api/zero-time.ts'
import { type Fields, fieldsOf, textOf } from '../../api/object.ts'
import { ownText } from '../../lib/text/own-text.ts'
import { readReview, typeFault } from '../../net/outbound/review-answer.ts'
import type { ReviewSpec } from './review-spec.ts'

export type ReviewVersion = 'v1' | 'v1beta1'

const apiVersionOf = (version: ReviewVersion): string => `authorization.k8s.io/${version}`

/**
 * Encodes a review without its empty fields. The field for the groups is called `group` in v1beta1.
 */
export function printReview(spec: ReviewSpec, version: ReviewVersion, release: number): string {
  const { resourceAttributes, nonResourceAttributes, user, groups, extra, uid } = spec
  return JSON.stringify({
    kind: 'SubjectAccessReview',
    apiVersion: apiVersionOf(version),
    metadata: emptyMetadata(release),
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

export type ReviewStatus = {
  readonly isAllowed: boolean
  readonly isDenied: boolean
  readonly reason: string
}

/** Decodes the status of a review. Errors have the messages of Go's decoder. */
export function readReviewStatus(
  text: string,
  version: ReviewVersion,
): ReviewStatus | { readonly fault: string } {
  const review = readReview(text, {
    kind: 'SubjectAccessReview',
    group: 'authorization.k8s.io',
    version,
  })
  if ('fault' in review) return review
  const { status } = review.fields
  const { allowed, denied, reason } = fieldsOf(status)
  const fault =
    typeFault(
      status,
      'object',
      'SubjectAccessReview.status',
      `${version}.SubjectAccessReviewStatus`,
    ) ??
    typeFault(allowed, 'bool', `${statusField}.allowed`) ??
    typeFault(denied, 'bool', `${statusField}.denied`) ??
    typeFault(reason, 'string', `${statusField}.reason`)
  if (fault !== undefined) return { fault }
  // The reason is cached for minutes. Copy the string, because a substring would retain the whole
  // response in memory.
  return { isAllowed: allowed === true, isDenied: denied === true, reason: ownText(textOf(reason)) }
}

const statusField = 'SubjectAccessReviewStatus.status'

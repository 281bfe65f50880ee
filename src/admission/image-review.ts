/** Builds the ImageReview that is sent to a webhook, and decodes the response. */
import { emptyMetadata } from '../api/zero-time.ts'
import { entriesOf, type Fields, fieldsOf, textOf } from '../api/object.ts'
import { readReview, typeFault } from '../net/outbound/review-answer.ts'

export type ImageReviewStatus = {
  readonly isAllowed: boolean
  readonly reason: string
  readonly auditAnnotations: readonly (readonly [string, string])[]
  /** Length of the response in characters. */
  readonly length: number
}

const review = { kind: 'ImageReview', group: 'imagepolicy.k8s.io', version: 'v1alpha1' }

export const printImageReview = (spec: Fields, release: number): string =>
  JSON.stringify({
    kind: review.kind,
    apiVersion: `${review.group}/${review.version}`,
    metadata: emptyMetadata(release),
    spec,
    status: { allowed: false },
  })

/**
 * Decodes a response. A response without a status does not allow the images. Errors have the
 * messages of Go's decoder.
 */
export function readImageReview(text: string): ImageReviewStatus | { readonly fault: string } {
  const read = readReview(text, review)
  if ('fault' in read) return read
  const { status } = read.fields
  const { allowed, reason, auditAnnotations } = fieldsOf(status)
  const field = 'ImageReviewStatus.status'
  const values = Object.values(fieldsOf(auditAnnotations))
  const fault =
    typeFault(status, 'object', 'ImageReview.status', 'v1alpha1.ImageReviewStatus') ??
    typeFault(allowed, 'bool', `${field}.allowed`) ??
    typeFault(reason, 'string', `${field}.reason`) ??
    typeFault(auditAnnotations, 'object', `${field}.auditAnnotations`, 'map[string]string') ??
    values
      .map((value) => typeFault(value, 'string', `${field}.auditAnnotations`))
      .find((one) => one !== undefined)
  if (fault !== undefined) return { fault }
  return {
    isAllowed: allowed === true,
    reason: textOf(reason),
    auditAnnotations: entriesOf(auditAnnotations),
    length: text.length,
  }
}

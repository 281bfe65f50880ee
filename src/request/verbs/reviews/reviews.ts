/** Handlers for the review kinds of authentication and authorization. Reviews are not stored. */
import { type AccessReviewOptions, createAccessReview } from './access-review.ts'
import type { Review } from './question.ts'
import { type AskAboutRights, createRulesReview } from './rules-review.ts'
import { reviewSelf } from './self-review.ts'
import { type AskAboutToken, createTokenReview } from './token-review.ts'

export type ReviewsOptions = AccessReviewOptions & {
  readonly askAboutToken: AskAboutToken
  readonly askAboutRights: AskAboutRights
}

/** Returns the handlers with their resources. */
export function createReviews(options: ReviewsOptions): readonly (readonly [string, Review])[] {
  const { askAboutRights, askAboutToken } = options
  return [
    ['selfsubjectreviews.authentication.k8s.io', reviewSelf],
    ['tokenreviews.authentication.k8s.io', createTokenReview(askAboutToken)],
    [
      'subjectaccessreviews.authorization.k8s.io',
      createAccessReview('SubjectAccessReview', options),
    ],
    [
      'selfsubjectaccessreviews.authorization.k8s.io',
      createAccessReview('SelfSubjectAccessReview', options),
    ],
    [
      'localsubjectaccessreviews.authorization.k8s.io',
      createAccessReview('LocalSubjectAccessReview', options),
    ],
    ['selfsubjectrulesreviews.authorization.k8s.io', createRulesReview(askAboutRights)],
  ]
}

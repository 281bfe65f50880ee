/** The kinds that are questions about who somebody is and what he may do, each with what answers it. Nothing is stored. */
import { type AskAboutAccess, createAccessReview } from './access-review.ts'
import type { Review } from './question.ts'
import { type AskAboutRights, createRulesReview } from './rules-review.ts'
import { reviewSelf } from './self-review.ts'
import { type AskAboutToken, createTokenReview } from './token-review.ts'

export type ReviewParts = {
  readonly askAboutToken: AskAboutToken
  readonly askAboutAccess: AskAboutAccess
  readonly askAboutRights: AskAboutRights
}

export function createReviews(parts: ReviewParts): ReadonlyMap<string, Review> {
  const { askAboutAccess, askAboutRights, askAboutToken } = parts
  return new Map([
    ['SelfSubjectReview', reviewSelf],
    ['TokenReview', createTokenReview(askAboutToken)],
    ['SubjectAccessReview', createAccessReview('SubjectAccessReview', askAboutAccess)],
    ['SelfSubjectAccessReview', createAccessReview('SelfSubjectAccessReview', askAboutAccess)],
    ['LocalSubjectAccessReview', createAccessReview('LocalSubjectAccessReview', askAboutAccess)],
    ['SelfSubjectRulesReview', createRulesReview(askAboutRights)],
  ])
}

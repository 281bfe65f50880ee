/**
 * The table of handlers. Subresources have a handler if a request for them is neither a read nor a
 * write of their object. Kinds that are created only to get a response, and are not stored, also
 * have a handler.
 */
import { createReviews, type ReviewsOptions } from '../reviews/reviews.ts'
import type { Review } from '../reviews/question.ts'
import { bind } from './binding.ts'
import { evict } from './eviction.ts'
import type { SubresourceHandler } from './handler.ts'
import { readLog } from './log.ts'
import { proxy } from './proxy.ts'
import { connect } from './stream.ts'

/** Handlers by `handlerKey`. */
export type Handlers = ReadonlyMap<string, SubresourceHandler>

export type SubresourceOptions = ReviewsOptions & {
  /** Handles TokenRequests. Undefined if the server does not issue tokens. */
  readonly requestToken: Review | undefined
}

export function createHandlers(options: SubresourceOptions): Handlers {
  const { requestToken } = options
  return new Map<string, SubresourceHandler>([
    ['bindings/', bind],
    ['pods/binding', bind],
    ['pods/eviction', evict],
    ['pods/log', readLog],
    ['pods/exec', connect],
    ['pods/attach', connect],
    ['pods/portforward', connect],
    ['pods/proxy', proxy],
    ['services/proxy', proxy],
    ['nodes/proxy', proxy],
    ...(requestToken === undefined
      ? []
      : [['serviceaccounts/token', answering(requestToken)] as const]),
    ...createReviews(options).map(
      ([resource, review]) => [`${resource}/`, answering(review)] as const,
    ),
  ])
}

const answering =
  (review: Review): SubresourceHandler =>
  (request, { own }) =>
    review(request, own)

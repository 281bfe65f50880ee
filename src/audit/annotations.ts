/** The annotations of an event: what the authorizer decided, what the layers added, and how long a slow request took. */
import type { RequestContext } from '../api/context.ts'
import type { AuditStage } from '../config/files/audit-policy.ts'
import { formatDuration } from '../lib/duration.ts'
import type { Annotations, KnownTexts } from './known-texts.ts'

/** Requests that take longer have annotations that say so, as upstream. */
const SLOW_MS = 500

export type Took = {
  /** From when the request came until this stage. */
  readonly totalMs: number
  readonly authenticationMs: number
}

/** Undefined: none. */
export function annotationsOf(
  context: RequestContext,
  { stage, took, texts }: { readonly stage: AuditStage; readonly took: Took; readonly texts: KnownTexts },
): Annotations | undefined {
  const { ownAnnotations, decision, deprecatedUntil } = context
  const isLast = stage === 'ResponseComplete'
  const isSlow = isLast && took.totalMs > SLOW_MS
  const isDeprecated = isLast && deprecatedUntil !== undefined
  // Most requests are allowed, and have nothing else to tell.
  if (ownAnnotations === undefined && !isSlow && !isDeprecated) {
    if (decision === undefined) return undefined
    if (decision.verdict === 'allow') return texts.allowed(decision.reason)
  }
  return {
    ...(isSlow ? latencies(took, context.authorizationMs) : undefined),
    // Upstream knows of it when the request has been served.
    ...(isDeprecated ? deprecation(deprecatedUntil) : undefined),
    ...Object.fromEntries(context.annotations),
  }
}

const latencies = ({ totalMs, authenticationMs }: Took, authorizationMs: number): Annotations => ({
  'apiserver.latency.k8s.io/authentication': formatDuration(authenticationMs),
  ...(authorizationMs === 0
    ? undefined
    : { 'apiserver.latency.k8s.io/authorization': formatDuration(authorizationMs) }),
  'apiserver.latency.k8s.io/total': formatDuration(totalMs),
})

const deprecation = (release: string): Annotations => ({
  'k8s.io/deprecated': 'true',
  ...(release === '' ? undefined : { 'k8s.io/removed-release': release }),
})

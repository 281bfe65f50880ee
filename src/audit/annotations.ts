/** The annotations of an event: what the authorizer decided, what the layers added, and how long a slow request took. */
import type { RequestContext } from '../api/context.ts'
import type { AuditStage } from '../config/files/audit-policy.ts'
import { formatDuration } from '../lib/duration.ts'

/** Requests that take longer have annotations that say so, as upstream. */
const SLOW_MS = 500

export type Took = {
  /** From when the request came until this stage. */
  readonly totalMs: number
  readonly authenticationMs: number
}

/** Undefined: none. */
export function annotationsOf(
  { annotations, deprecatedUntil }: RequestContext,
  stage: AuditStage,
  took: Took,
): { readonly [key: string]: string } | undefined {
  const isLast = stage === 'ResponseComplete'
  const isSlow = isLast && took.totalMs > SLOW_MS
  if (annotations.size === 0 && !isSlow) return undefined
  return {
    ...(isSlow ? latencies(took) : undefined),
    // Upstream knows of it when the request has been served.
    ...(isLast && deprecatedUntil !== undefined ? deprecation(deprecatedUntil) : undefined),
    ...Object.fromEntries(annotations),
  }
}

const latencies = ({ totalMs, authenticationMs }: Took): { readonly [key: string]: string } => ({
  'apiserver.latency.k8s.io/authentication': formatDuration(authenticationMs),
  'apiserver.latency.k8s.io/total': formatDuration(totalMs),
})

const deprecation = (release: string): { readonly [key: string]: string } => ({
  'k8s.io/deprecated': 'true',
  ...(release === '' ? undefined : { 'k8s.io/removed-release': release }),
})

/**
 * Creates the annotations of an audit event. They contain the authorization decision, annotations
 * that other parts of the server have added (such as admission plugins), and the latencies of a
 * slow request.
 */
import type { RequestContext } from '../../api/context.ts'
import type { AuditStage } from '../../config/files/audit-policy.ts'
import { formatDuration } from '../../lib/time/duration.ts'
import type { Annotations } from './cached-fields.ts'

/**
 * Minimum duration of a request whose audit event gets annotations with latencies, as in
 * kube-apiserver.
 */
export const SLOW_MS = 500

export type Took = {
  /** Time from the arrival of the request until this stage. */
  readonly totalMs: number
  readonly authenticationMs: number
}

/** Returns the annotations of the event for a stage, or undefined if there are none. */
export function annotationsOf(
  context: RequestContext,
  stage: AuditStage,
  took: Took,
): Annotations | undefined {
  const { deprecatedUntil } = context
  const isLast = stage === 'ResponseComplete'
  const all: Annotations = {
    ...(isLast && took.totalMs > SLOW_MS
      ? latencies(took, context.spent.authorizationMs)
      : undefined),
    // kube-apiserver adds the deprecation annotation only after the request has been served.
    ...(isLast && deprecatedUntil !== undefined ? deprecation(deprecatedUntil) : undefined),
    ...Object.fromEntries(context.annotations),
  }
  return Object.keys(all).length === 0 ? undefined : all
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

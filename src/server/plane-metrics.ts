import { AdmissionMetrics } from '../admission/metrics.ts'
import { ConditionMetrics } from '../admission/match/condition-metrics.ts'
import { PodSecurityMetrics } from '../admission/pod-security/metrics.ts'
import { PolicyMetrics } from '../admission/policies/metrics.ts'
import { WebhookMetrics } from '../admission/webhooks/metrics.ts'
import {
  type ServiceAccountMetrics,
  createServiceAccountMetrics,
} from '../access/authentication/service-account-metrics.ts'
import { AuthenticationMetrics } from '../access/authentication/metrics.ts'
import { AuthorizationMetrics } from '../access/authorization/metrics.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { Metrics } from '../lib/telemetry/metrics.ts'
import { type DeclarativeReport, DeclarativeReporter } from '../registry/declarative.ts'
import { AllocatorMetrics } from '../request/allocators/metrics.ts'
import { RequestMetrics } from '../request/filters/request-metrics.ts'
import { FlowMetrics } from '../request/flow/metrics.ts'
import { IssuanceMetrics } from '../request/issuance-metrics.ts'
import { LogMetrics } from '../request/verbs/subresources/log-metrics.ts'

/** The metrics of one control plane's subsystems. */
export type PlaneMetrics = {
  readonly requests: RequestMetrics
  readonly flow: FlowMetrics
  readonly authorization: AuthorizationMetrics
  readonly policies: PolicyMetrics
  /** Metrics of match conditions. */
  readonly conditions: ConditionMetrics
  readonly webhooks: WebhookMetrics
  /** Metrics of issued certificates. */
  readonly issuance: IssuanceMetrics
  /** Metrics of requests for pod logs. */
  readonly logs: LogMetrics
  readonly allocators: AllocatorMetrics
  readonly admission: AdmissionMetrics
  readonly podSecurity: PodSecurityMetrics
  readonly declarative: DeclarativeReport
  readonly serviceAccounts: ServiceAccountMetrics
  readonly authentication: AuthenticationMetrics
}

export function createPlaneMetrics(
  metrics: Metrics,
  {
    release,
    clock: { monotonicMs },
    log,
  }: { readonly release: number; readonly clock: Clock; readonly log: Log },
): PlaneMetrics {
  const requests = new RequestMetrics(metrics, { monotonicMs })
  const flow = new FlowMetrics(metrics, monotonicMs())
  metrics.onPrint(() => {
    const { readOnly, mutating } = flow.kinds
    requests.inQueue.readOnly.value = readOnly.waiting
    requests.inQueue.mutating.value = mutating.waiting
  })
  return {
    requests,
    flow,
    authorization: new AuthorizationMetrics(metrics),
    policies: new PolicyMetrics(metrics),
    conditions: new ConditionMetrics(metrics),
    webhooks: new WebhookMetrics(metrics),
    issuance: new IssuanceMetrics(metrics),
    logs: new LogMetrics(metrics),
    allocators: new AllocatorMetrics(metrics, monotonicMs),
    admission: new AdmissionMetrics(metrics, monotonicMs),
    podSecurity: new PodSecurityMetrics(metrics, release),
    declarative: new DeclarativeReporter(metrics, log),
    serviceAccounts: createServiceAccountMetrics(metrics),
    authentication: new AuthenticationMetrics(metrics),
  }
}

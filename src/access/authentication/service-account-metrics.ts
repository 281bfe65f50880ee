/** Counters for the use of service account tokens, by kind of token, as in kube-apiserver. */
import type { Count, Metrics } from '../../lib/telemetry/metrics.ts'

const help = {
  legacy_tokens_total: 'Cumulative legacy service account tokens used',
  stale_tokens_total: 'Cumulative stale projected service account tokens used',
  legacy_manual_token_uses_total: 'Cumulative manually created legacy tokens used',
  legacy_auto_token_uses_total: 'Cumulative auto-generated legacy tokens used',
  invalid_legacy_auto_token_uses_total: 'Cumulative invalid auto-generated legacy tokens used',
  valid_tokens_total: 'Cumulative valid projected service account tokens used',
} as const

export type ServiceAccountMetrics = { readonly [name in keyof typeof help]: Pick<Count, 'add'> }

export function createServiceAccountMetrics(metrics: Metrics): ServiceAccountMetrics {
  const count = (name: keyof typeof help): Count =>
    metrics.counter({ name: `serviceaccount_${name}`, help: help[name] }).with()
  return {
    legacy_tokens_total: count('legacy_tokens_total'),
    stale_tokens_total: count('stale_tokens_total'),
    legacy_manual_token_uses_total: count('legacy_manual_token_uses_total'),
    legacy_auto_token_uses_total: count('legacy_auto_token_uses_total'),
    invalid_legacy_auto_token_uses_total: count('invalid_legacy_auto_token_uses_total'),
    valid_tokens_total: count('valid_tokens_total'),
  }
}

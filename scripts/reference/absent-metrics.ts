/**
 * Metrics of kube-apiserver that Keelson does not have, and why: by name, or by what names begin
 * with (`…*`).
 */
const reasons: Readonly<Record<string, string>> = {
  aggregator_discovery_aggregation_count_total:
    'documents are made when they are asked for, not when a definition changes',
  'apiserver_kube_aggregator_x509_*':
    'Go counts certificates that it takes for now and will not later; OpenSSL decides at once',
  apiextensions_apiserver_validation_ratcheting_seconds:
    'ratcheting is a part of validation here and is not measured alone',
  apiextensions_openapi_v2_regeneration_count:
    'documents are made when they are asked for, not when a definition changes',
  apiextensions_openapi_v3_regeneration_count:
    'documents are made when they are asked for, not when a definition changes',
  apiserver_cel_compilation_duration_seconds:
    'rules of custom kinds are a part of validation here and are not measured alone; the time of policies is in `apiserver_validating_admission_policy_check_duration_seconds`',
  apiserver_cel_evaluation_duration_seconds:
    'rules of custom kinds are a part of validation here and are not measured alone; the time of policies is in `apiserver_validating_admission_policy_check_duration_seconds`',
  apiserver_storage_db_total_size_in_bytes:
    'hidden: `apiserver_storage_size_bytes` has the size of each database',
  apiserver_storage_data_key_generation_failures_total:
    'keys are random bytes of the system, which do not fail',
  apiserver_nodeport_repair_reconcile_errors_total: 'the repair logs what it mends',
  apiserver_request_timestamp_comparison_time:
    'whether a write changes anything is decided together with the write',
  'apiserver_webhooks_x509_*':
    'Go counts certificates that it takes for now and will not later; OpenSSL decides at once',
  etcd_bookmark_counts:
    'one feed serves all resources: `keelson_feed_events_total`, `keelson_feed_lag_seconds`',
  'grpc_client_*': '`etcd_requests_total` and `etcd_request_duration_seconds` have the same calls',
  kube_apiserver_clusterip_allocator_allocated_ips:
    'each is an IPAddress: `apiserver_storage_objects{resource="ipaddresses.networking.k8s.io"}`',
  kube_apiserver_clusterip_allocator_available_ips: 'the size of the range, less those',
  'kube_apiserver_pod_logs_pods_logs_*': 'hidden: earlier names of `kube_apiserver_pod_logs_*`',
  'rest_client_*':
    'the server has no client of itself; calls of webhooks are in `apiserver_admission_webhook_*` and the like',
  watch_cache_capacity: 'events of all resources share one budget of bytes: `keelson_budget_bytes`',
  'go_*': 'of the Go runtime; `nodejs_*` and `keelson_event_loop_*` tell of this one',
}

/** Fails if there is none, so that nobody forgets one. */
export function reasonOf(name: string): string {
  const pattern = Object.keys(reasons).find((one) =>
    one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : one === name,
  )
  const reason = pattern === undefined ? undefined : reasons[pattern]
  if (reason === undefined)
    throw new Error(`${name} is not here, and scripts/reference/absent-metrics.ts does not say why`)
  return reason
}

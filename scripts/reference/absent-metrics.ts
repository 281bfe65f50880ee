/**
 * The reasons why Keelson does not have some metrics of kube-apiserver. A key is a name, or a
 * prefix of names followed by `…*`.
 */
const reasons: Readonly<Record<string, string>> = {
  aggregator_discovery_aggregation_count_total:
    'documents are generated when they are requested, not when a definition changes',
  'apiserver_kube_aggregator_x509_*':
    'Go counts certificates that it accepts now but will reject later; OpenSSL has no such transition',
  apiextensions_apiserver_validation_ratcheting_seconds:
    'ratcheting is part of validation and is not measured separately',
  apiextensions_openapi_v2_regeneration_count:
    'documents are generated when they are requested, not when a definition changes',
  apiextensions_openapi_v3_regeneration_count:
    'documents are generated when they are requested, not when a definition changes',
  apiserver_cel_compilation_duration_seconds:
    'rules of custom resources are part of validation and are not measured separately; policies are measured by `apiserver_validating_admission_policy_check_duration_seconds`',
  apiserver_cel_evaluation_duration_seconds:
    'rules of custom resources are part of validation and are not measured separately; policies are measured by `apiserver_validating_admission_policy_check_duration_seconds`',
  apiserver_storage_db_total_size_in_bytes:
    'hidden in kube-apiserver; `apiserver_storage_size_bytes` has the size of each database',
  apiserver_storage_data_key_generation_failures_total:
    'keys are random bytes from the operating system, which always succeeds',
  apiserver_nodeport_repair_reconcile_errors_total: 'repairs are logged instead',
  apiserver_request_timestamp_comparison_time:
    'the comparison is part of the write and is not measured separately',
  'apiserver_webhooks_x509_*':
    'Go counts certificates that it accepts now but will reject later; OpenSSL has no such transition',
  etcd_bookmark_counts:
    'one feed serves all resources; see `keelson_feed_events_total` and `keelson_feed_lag_seconds`',
  'grpc_client_*': '`etcd_requests_total` and `etcd_request_duration_seconds` cover the same calls',
  kube_apiserver_clusterip_allocator_allocated_ips:
    'each address is an IPAddress object; see `apiserver_storage_objects{resource="ipaddresses.networking.k8s.io"}`',
  kube_apiserver_clusterip_allocator_available_ips:
    'the size of the range minus the number of IPAddress objects',
  'kube_apiserver_pod_logs_pods_logs_*':
    'hidden in kube-apiserver; earlier names of `kube_apiserver_pod_logs_*`',
  'rest_client_*':
    'the server does not call itself over HTTP; calls of webhooks are in metrics such as `apiserver_admission_webhook_request_total`',
  watch_cache_capacity:
    'events of all resources share one memory budget; see `keelson_budget_bytes`',
  'go_*': 'metrics of the Go runtime; those of Node.js are `nodejs_*` and `keelson_event_loop_*`',
}

/** Returns the reason why a metric is missing. Fails if no reason is given. */
export function reasonOf(name: string): string {
  const pattern = Object.keys(reasons).find((one) =>
    one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : one === name,
  )
  const reason = pattern === undefined ? undefined : reasons[pattern]
  if (reason === undefined)
    throw new Error(
      `Keelson does not have ${name}, and scripts/reference/absent-metrics.ts has no reason for it`,
    )
  return reason
}

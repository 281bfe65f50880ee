/**
 * Flags for internal sizes, intervals and timeouts of kube-apiserver. If a flag configures
 * something that works differently in Keelson, it is accepted and has no effect.
 */
import type { Flag } from './flag.ts'

const etcd = 'Etcd'
const misc = 'Misc'
const oneStream =
  'other values require the feature gate LoggingAlphaOptions, which cannot be enabled'
const noPeers = 'all replicas run the same version, so they do not forward requests to each other'

export const tuningFlags = {
  'default-watch-cache-size': {
    section: etcd,
    type: 'integer',
    default: '100',
    help: 'Number of recent events of each resource to keep in memory.',
    deprecated:
      'watch caches are sized automatically and this flag will be removed in a future version',
    unused: 'recent events of all resources share one memory budget',
  },
  'watch-cache-sizes': {
    section: etcd,
    type: 'list',
    help: 'Number of recent events to keep in memory for individual resources, as resource[.group]#size.',
    unused: 'recent events of all resources share one memory budget, and every resource is cached',
  },
  'delete-collection-workers': {
    section: etcd,
    type: 'integer',
    default: '1',
    help: 'Maximum number of objects that a deletecollection request deletes concurrently. Values above 100 have the same effect as 100.',
  },
  'enable-garbage-collector': {
    section: etcd,
    type: 'boolean',
    default: 'true',
    help: 'Whether a deletion waits for the garbage collector if its propagation policy requires this. The flag must have the same value in kube-controller-manager.',
  },
  'etcd-count-metric-poll-period': {
    section: etcd,
    type: 'duration',
    default: '1m0s',
    help: 'Interval at which objects are counted for metrics.',
    unused: 'counts are current at every scrape',
  },
  'etcd-db-metric-poll-interval': {
    section: etcd,
    type: 'duration',
    default: '30s',
    help: 'Interval at which the size of the database is queried for metrics. 0 disables the query.',
  },
  'etcd-healthcheck-timeout': {
    section: etcd,
    type: 'duration',
    default: '2s',
    help: 'Timeout of the health check of etcd.',
    unused: 'the check uses the last known state of the connection to etcd and sends no request',
  },
  'etcd-readycheck-timeout': {
    section: etcd,
    type: 'duration',
    default: '2s',
    help: 'Timeout of the readiness check of etcd.',
    unused: 'the check uses the last known state of the connection to etcd and sends no request',
  },
  'lease-reuse-duration-seconds': {
    section: etcd,
    type: 'integer',
    default: '60',
    help: 'Maximum number of seconds for which an etcd lease is reused for further expiring objects. A lower value makes expiration more precise, but creates more leases.',
  },
  'aggregator-reject-forwarding-redirect': {
    section: misc,
    type: 'boolean',
    default: 'true',
    help: 'Whether to reject redirects from aggregated API servers instead of passing them to clients.',
    refused: 'redirects are never passed on (CVE-2022-3172)',
  },
  'apiserver-count': {
    section: misc,
    type: 'integer',
    default: '1',
    help: 'Number of API servers, for --endpoint-reconciler-type=master-count.',
    deprecated: 'apiserver-count is deprecated and will be removed in a future version.',
    unused: 'API servers are counted by their leases',
  },
  'kubelet-port': {
    section: misc,
    type: 'integer',
    default: '10250',
    help: 'Port of kubelets whose Node does not specify a port.',
    deprecated: 'kubelet-port is deprecated and will be removed.',
  },
  'kubelet-read-only-port': {
    section: misc,
    type: 'integer',
    default: '10255',
    help: 'Port of kubelets for connections without TLS.',
    deprecated: 'kubelet-read-only-port is deprecated and will be removed.',
    unused: 'kubelets are called only over TLS',
  },
  'kubelet-timeout': {
    section: misc,
    type: 'duration',
    default: '5s',
    help: 'Timeout of requests to kubelets.',
    unused:
      'as in kube-apiserver, a request to a kubelet lasts as long as the client request that it serves',
  },
  'kubernetes-service-node-port': {
    section: misc,
    type: 'integer',
    default: '0',
    help: 'Node port of the Service default/kubernetes. 0 means that the Service is of type ClusterIP and has no node port.',
  },
  'proxy-client-cert-file': {
    section: misc,
    type: 'file',
    help: 'PEM file with the client certificate that this server presents to aggregated API servers. Reloaded when it changes.',
  },
  'proxy-client-key-file': {
    section: misc,
    type: 'file',
    help: 'PEM file with the private key of --proxy-client-cert-file.',
  },
  'emulated-version': {
    section: 'Generic',
    type: 'list',
    help: 'Kubernetes version whose APIs and feature gates are served, such as 1.32 or kube=1.32. The oldest supported version is 1.31. Default: the release of --kubernetes.',
    swap: [
      {
        when: /1\.3[12]$/,
        change:
          'flowcontrol.apiserver.k8s.io/v1beta3 and authentication.k8s.io/v1beta1 are not served',
        advice: 'check that no client uses them',
      },
    ],
  },
  'emulation-forward-compatible': {
    section: 'Generic',
    type: 'boolean',
    default: 'false',
    help: 'Whether to also serve newer, more stable versions of APIs that exist in --emulated-version.',
  },
  'runtime-config-emulation-forward-compatible': {
    section: 'Generic',
    type: 'boolean',
    default: 'false',
    help: 'Whether --runtime-config can enable APIs that were introduced after --emulated-version.',
  },
  'peer-ca-file': {
    section: misc,
    type: 'file',
    help: 'PEM file with the CA certificates that verify other API servers to which this server forwards requests.',
    refused: noPeers,
  },
  'peer-advertise-ip': {
    section: misc,
    type: 'string',
    help: 'IP address to which other API servers forward requests.',
    refused: noPeers,
  },
  'peer-advertise-port': {
    section: misc,
    type: 'string',
    help: 'Port to which other API servers forward requests.',
    refused: noPeers,
  },
  'egress-selector-config-file': {
    section: 'Egress selector',
    type: 'file',
    help: 'EgressSelectorConfiguration file, which defines the proxies for connections to the cluster, the control plane and etcd.',
  },
  'contention-profiling': {
    section: 'Features',
    type: 'boolean',
    default: 'false',
    help: 'Whether profiles include lock contention.',
    unused: 'a single event loop has no locks',
  },
  'log-flush-frequency': {
    section: 'Logs',
    type: 'duration',
    default: '5s',
    help: 'Maximum time for which log lines are buffered.',
    unused: 'log lines are written at once',
  },
  'log-text-split-stream': {
    section: 'Logs',
    type: 'boolean',
    default: 'false',
    help: 'Whether text logs are written to standard output, and only errors to standard error.',
    refused: oneStream,
  },
  'log-text-info-buffer-size': {
    section: 'Logs',
    type: 'string',
    default: '0',
    help: 'Size of the buffer for text logs.',
    refused: oneStream,
  },
  'log-json-split-stream': {
    section: 'Logs',
    type: 'boolean',
    default: 'false',
    help: 'Whether JSON logs are written to standard output, and only errors to standard error.',
    refused: oneStream,
  },
  'log-json-info-buffer-size': {
    section: 'Logs',
    type: 'string',
    default: '0',
    help: 'Size of the buffer for JSON logs.',
    refused: oneStream,
  },
  'enable-logs-handler': {
    section: misc,
    type: 'boolean',
    default: 'false',
    help: 'Whether to serve log files of the host under /logs.',
    refused: 'the handler would expose the logs of every program on the host',
    deprecated: 'Log handler functionality is deprecated',
  },
} as const satisfies { readonly [name: string]: Flag }

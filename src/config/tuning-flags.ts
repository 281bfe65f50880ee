/**
 * Sizes, periods and timeouts of parts of kube-apiserver. Those of parts that work differently here
 * are taken and change nothing.
 */
import type { Flag } from './flag.ts'

const etcd = 'Etcd'
const misc = 'Misc'
const oneStream = 'the gate LoggingAlphaOptions is off: the log is one stream'
const noPeers = 'servers do not pass requests on to each other: all replicas are of one version'

export const tuningFlags = {
  'default-watch-cache-size': {
    section: etcd,
    type: 'integer',
    default: '100',
    help: 'How many events of a resource are kept in memory.',
    deprecated:
      'watch caches are sized automatically and this flag will be removed in a future version',
    unused: 'the recent events of all resources share one budget of bytes',
  },
  'watch-cache-sizes': {
    section: etcd,
    type: 'list',
    help: 'How many events of each resource are kept in memory: resource[.group]#size.',
    unused:
      'the recent events of all resources share one budget of bytes, and no resource goes without a cache',
  },
  'delete-collection-workers': {
    section: etcd,
    type: 'integer',
    default: '1',
    help: 'How many objects of a collection are deleted at the same time. More than 100 are 100.',
  },
  'enable-garbage-collector': {
    section: etcd,
    type: 'boolean',
    default: 'true',
    help: 'Whether a delete waits for the garbage collector where its propagation policy says so. It must be the same for kube-controller-manager.',
  },
  'etcd-count-metric-poll-period': {
    section: etcd,
    type: 'duration',
    default: '1m0s',
    help: 'How often objects are counted for metrics.',
    unused: 'the counts are known at every scrape',
  },
  'etcd-db-metric-poll-interval': {
    section: etcd,
    type: 'duration',
    default: '30s',
    help: 'How often the size of the database is asked for, for metrics. 0: never.',
  },
  'etcd-healthcheck-timeout': {
    section: etcd,
    type: 'duration',
    default: '2s',
    help: 'How long the health check of etcd may take.',
    unused: 'the check looks at what was last heard from etcd and asks nothing',
  },
  'etcd-readycheck-timeout': {
    section: etcd,
    type: 'duration',
    default: '2s',
    help: 'How long the readiness check of etcd may take.',
    unused: 'the check looks at what was last heard from etcd and asks nothing',
  },
  'lease-reuse-duration-seconds': {
    section: etcd,
    type: 'integer',
    default: '60',
    help: 'For how long, at most, objects that expire share a lease of etcd. Less is more exact and costs more leases.',
  },
  'aggregator-reject-forwarding-redirect': {
    section: misc,
    type: 'boolean',
    default: 'true',
    help: 'Whether redirects of aggregated API servers are kept from clients.',
    refused: 'they are never passed on (CVE-2022-3172)',
  },
  'apiserver-count': {
    section: misc,
    type: 'integer',
    default: '1',
    help: 'How many servers there are, for --endpoint-reconciler-type=master-count.',
    deprecated: 'apiserver-count is deprecated and will be removed in a future version.',
    unused: 'servers are counted by their leases',
  },
  'kubelet-port': {
    section: misc,
    type: 'integer',
    default: '10250',
    help: 'The port of kubelets whose nodes do not say it.',
    deprecated: 'kubelet-port is deprecated and will be removed.',
  },
  'kubelet-read-only-port': {
    section: misc,
    type: 'integer',
    default: '10255',
    help: 'The port of kubelets without TLS.',
    deprecated: 'kubelet-read-only-port is deprecated and will be removed.',
    unused: 'kubelets are asked over TLS alone',
  },
  'kubelet-timeout': {
    section: misc,
    type: 'duration',
    default: '5s',
    help: 'How long requests to kubelets may take.',
    unused: 'as with kube-apiserver, a request to a kubelet lasts as long as that of its client',
  },
  'kubernetes-service-node-port': {
    section: misc,
    type: 'integer',
    default: '0',
    help: 'The node port of the Service default/kubernetes. 0: it has none, and is of type ClusterIP.',
  },
  'proxy-client-cert-file': {
    section: misc,
    type: 'string',
    help: 'The certificate that this server shows to aggregated API servers, PEM. It is read again when it changes.',
  },
  'proxy-client-key-file': {
    section: misc,
    type: 'string',
    help: 'The key to it, PEM.',
  },
  'emulated-version': {
    section: 'Generic',
    type: 'list',
    help: 'The version whose gates and APIs are served, from 1.31 on: 1.32 or kube=1.32. The default is 1.33.',
  },
  'emulation-forward-compatible': {
    section: 'Generic',
    type: 'boolean',
    default: 'false',
    help: 'Whether newer, more stable versions of an API are served where one of --emulated-version is.',
  },
  'runtime-config-emulation-forward-compatible': {
    section: 'Generic',
    type: 'boolean',
    default: 'false',
    help: 'Whether --runtime-config may turn on what was introduced after --emulated-version.',
  },
  'peer-ca-file': {
    section: misc,
    type: 'string',
    help: 'The authorities of other servers that requests are passed on to.',
    refused: noPeers,
  },
  'peer-advertise-ip': {
    section: misc,
    type: 'string',
    help: 'The address at which other servers pass requests on to this one.',
    refused: noPeers,
  },
  'peer-advertise-port': {
    section: misc,
    type: 'string',
    help: 'The port at which other servers pass requests on to this one.',
    refused: noPeers,
  },
  'egress-selector-config-file': {
    section: 'Egress selector',
    type: 'string',
    help: 'File with the proxies through which this server connects to the cluster, the control plane and etcd.',
  },
  'contention-profiling': {
    section: 'Features',
    type: 'boolean',
    default: 'false',
    help: 'Whether profiles show who waits for locks.',
    unused: 'one event loop has no locks',
  },
  'log-flush-frequency': {
    section: 'Logs',
    type: 'duration',
    default: '5s',
    help: 'How long lines of the log may be kept back, at most.',
    unused: 'they are written at once',
  },
  'log-text-split-stream': {
    section: 'Logs',
    type: 'boolean',
    default: 'false',
    help: 'Whether text for people goes to standard output, and only errors to standard error.',
    refused: oneStream,
  },
  'log-text-info-buffer-size': {
    section: 'Logs',
    type: 'string',
    default: '0',
    help: 'How much of that text may be kept back.',
    refused: oneStream,
  },
  'log-json-split-stream': {
    section: 'Logs',
    type: 'boolean',
    default: 'false',
    help: 'The same for JSON.',
    refused: oneStream,
  },
  'log-json-info-buffer-size': {
    section: 'Logs',
    type: 'string',
    default: '0',
    help: 'The same for JSON.',
    refused: oneStream,
  },
  'enable-logs-handler': {
    section: misc,
    type: 'boolean',
    default: 'false',
    help: 'Whether /logs shows files of the host.',
    refused: 'who may read it reads the logs of every program there',
    deprecated: 'Log handler functionality is deprecated',
  },
} as const satisfies { readonly [name: string]: Flag }

/**
 * Flags of kube-apiserver that Keelson does not support yet, by upstream's sections: the name and upstream's default. The default is
 * accepted, since it changes nothing; any other value is an error that names the flag, so that nobody believes that it has an effect.
 * Boolean flags are those whose default is true or false: they need no value.
 */
export const unsupportedFlags: { readonly [section: string]: { readonly [name: string]: string } } = {
  Misc: {
    'aggregator-reject-forwarding-redirect': 'true',
    'apiserver-count': '1',
    'enable-logs-handler': 'false',
    'kubelet-port': '10250',
    'kubelet-read-only-port': '10255',
    'kubelet-timeout': '5s',
    'kubernetes-service-node-port': '0',
    'max-connection-bytes-per-sec': '0',
    'peer-advertise-ip': '',
    'peer-advertise-port': '',
    'peer-ca-file': '',
    'proxy-client-cert-file': '',
    'proxy-client-key-file': '',
  },
  Metrics: {
    'allow-metric-labels-manifest': '',
    'disabled-metrics': '',
    'show-hidden-metrics-for-version': '',
  },
  Features: {
    'contention-profiling': 'false',
    'debug-socket-path': '',
    'enable-priority-and-fairness': 'true',
    profiling: 'true',
  },
  Generic: {
    'cors-allowed-origins': '',
    'emulated-version': '',
    'emulation-forward-compatible': 'false',
    'goaway-chance': '0',
    'livez-grace-period': '0s',
    'runtime-config-emulation-forward-compatible': 'false',
    'shutdown-send-retry-after': 'false',
    'storage-initialization-timeout': '1m0s',
  },
  Etcd: {
    'default-watch-cache-size': '100',
    'delete-collection-workers': '1',
    'enable-garbage-collector': 'true',
    'etcd-count-metric-poll-period': '1m0s',
    'etcd-db-metric-poll-interval': '30s',
    'etcd-healthcheck-timeout': '2s',
    'etcd-readycheck-timeout': '2s',
    'lease-reuse-duration-seconds': '60',
    'watch-cache-sizes': '',
  },
  'Secure serving': {
    'permit-address-sharing': 'false',
    'permit-port-sharing': 'false',
    'tls-sni-cert-key': '',
  },
  'Egress selector': {
    'egress-selector-config-file': '',
  },
  Logs: {
    'log-flush-frequency': '5s',
    'log-json-info-buffer-size': '0',
    'log-json-split-stream': 'false',
    'log-text-info-buffer-size': '0',
    'log-text-split-stream': 'false',
    vmodule: '',
  },
  Traces: {
    'tracing-config-file': '',
  },
}

/**
 * Set-ups for aggregated API servers. The server sends a client certificate to aggregated servers,
 * and itself accepts requests from front proxies.
 */
import type { SetUp, SetUps } from '../set-ups.ts'

const flags = [
  '--client-ca-file=${dir}/client-ca.pem',
  '--requestheader-client-ca-file=${dir}/proxy-ca.pem',
  '--requestheader-username-headers=X-Remote-User',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  '--proxy-client-cert-file=${dir}/proxy-client.pem',
  '--proxy-client-key-file=${dir}/proxy-client-key.pem',
]
const controllers = 'namespace-controller,garbage-collector-controller,resourcequota-controller'

const withControllers: SetUp = {
  flags,
  keelsonFlags: [`--controllers=${controllers}`],
  manager: [`--controllers=${controllers}`, '--leader-elect=false'],
}

export const setUps: SetUps = {
  aggregation: { flags },
  /** The server sends requests for a Service to one of its endpoints instead of the cluster IP. */
  'aggregation-endpoints': { flags: [...flags, '--enable-aggregator-routing=true'] },
  'aggregation-uid': { flags: [...flags, '--feature-gates=RemoteRequestHeaderUID=true'] },
  'aggregation-audit': {
    flags: [
      ...flags,
      '--audit-policy-file=${dir}/policy.yaml',
      '--audit-log-path=${dir}/audit.log',
    ],
    files: {
      'policy.yaml': {
        apiVersion: 'audit.k8s.io/v1',
        kind: 'Policy',
        rules: [{ level: 'RequestResponse' }],
      },
    },
  },
  'aggregation-controllers': withControllers,
  /**
   * Used by scenarios whose remote servers are unreachable, or no longer exist at the end. They
   * must not affect other scenarios.
   */
  'aggregation-garbage': withControllers,
  /**
   * Used by one scenario whose remote server is unreachable. Therefore no namespace can be deleted
   * while the scenario runs.
   */
  'aggregation-controllers-down': withControllers,
}

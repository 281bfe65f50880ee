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
  /** Set-up in which Services are resolved to their endpoints. */
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
  /** A separate server for scenarios whose remote servers are unreachable or gone at the end. */
  'aggregation-garbage': withControllers,
  /**
   * A separate server for a scenario whose remote server is unreachable, which blocks the deletion
   * of every namespace.
   */
  'aggregation-controllers-down': withControllers,
}

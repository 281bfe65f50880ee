/** Cases without a file of their own. */
import type { ConfigCase } from './case.ts'
import type { RawFlags } from './judge.ts'

const oidc = { 'oidc-issuer-url': 'https://login.example.org', 'oidc-client-id': 'cluster' }
const log = { 'audit-log-path': '-' }
const hook = { 'audit-webhook-config-file': '$DIR/token.kubeconfig' }
const batch = { ...log, 'audit-log-mode': 'batch' }
const abac = (name: string): RawFlags => ({ 'authorization-mode': 'ABAC', 'authorization-policy-file': `$DIR/${name}` })
const asked = { 'authorization-mode': 'Webhook', 'authorization-webhook-config-file': '$DIR/token.kubeconfig' }

const table: { readonly [name: string]: RawFlags } = {
  'authorization/mode-several-wrong': { 'authorization-mode': 'RBAC,Nobody,,rbac,RBAC' },
  'authorization/mode-with-blanks': { 'authorization-mode': 'Node, RBAC' },
  'authorization/mode-repeated-flag': { 'authorization-mode': ['Node', 'RBAC'] },
  'authorization/mode-all': {
    ...asked,
    ...abac('abac.jsonl'),
    'authorization-mode': 'Node,ABAC,Webhook,RBAC,AlwaysDeny',
  },
  'authorization/always-allow': { 'authorization-mode': 'AlwaysAllow' },
  'authorization/always-allow-and-anonymous': { 'authorization-mode': 'RBAC,AlwaysAllow', 'anonymous-auth': 'true' },
  'authorization/always-allow-without-anonymous': { 'authorization-mode': 'AlwaysAllow', 'anonymous-auth': 'false' },
  'authorization/abac': abac('abac.jsonl'),
  'authorization/abac-without-version': abac('abac-old.jsonl'),
  'authorization/abac-unknown-kind': abac('abac-kind.jsonl'),
  'authorization/abac-wrong-type': abac('abac-type.jsonl'),
  'authorization/abac-missing': abac('nothing'),
  'authorization/abac-text': abac('text'),
  'authorization/abac-broken-third-line': abac('abac-broken.jsonl'),
  'authorization/webhook': asked,
  'authorization/webhook-missing': { ...asked, 'authorization-webhook-config-file': '$DIR/nothing' },
  'authorization/webhook-version-blank': { ...asked, 'authorization-webhook-version': '' },
  'authorization/webhook-ttl-wrong': { ...asked, 'authorization-webhook-cache-authorized-ttl': '5' },
  'authorization/webhook-and-policy-without-modes': {
    'authorization-webhook-config-file': '$DIR/token.kubeconfig',
    'authorization-policy-file': '$DIR/abac.jsonl',
  },
  'oidc/whole': {
    ...oidc,
    'oidc-username-claim': 'email',
    'oidc-groups-claim': 'groups',
    'oidc-groups-prefix': 'login:',
    'oidc-signing-algs': 'RS256,ES512,PS384',
    'oidc-required-claim': ['a=b', 'c=d=e'],
    'oidc-ca-file': '$DIR/ca.pem',
  },
  'oidc/no-client': { 'oidc-issuer-url': 'https://login.example.org' },
  'oidc/client-blank': { ...oidc, 'oidc-client-id': '' },
  'oidc/algorithms-alone': { 'oidc-signing-algs': 'RS256' },
  'oidc/algorithms-blank': { ...oidc, 'oidc-signing-algs': '' },
  'oidc/algorithms-two-wrong': { ...oidc, 'oidc-signing-algs': 'none,HS256' },
  'oidc/issuer-http-and-query': { ...oidc, 'oidc-issuer-url': 'http://login.example.org?x=y' },
  'oidc/issuer-of-service-accounts': { ...oidc, 'oidc-issuer-url': 'https://accounts.example.org' },
  'oidc/authority-missing': { ...oidc, 'oidc-ca-file': '$DIR/nothing' },
  'oidc/authority-text': { ...oidc, 'oidc-ca-file': '$DIR/text' },
  'oidc/username-claim-blank': { ...oidc, 'oidc-username-claim': '' },
  'oidc/required-claim-without-value': { ...oidc, 'oidc-required-claim': 'a' },
  'oidc/required-claim-blank-value': { ...oidc, 'oidc-required-claim': 'a=' },
  'request-header/whole': {
    'requestheader-client-ca-file': '$DIR/ca.pem',
    'requestheader-allowed-names': 'proxy,',
    'requestheader-username-headers': 'X-Remote-User',
  },
  'request-header/good': {
    'requestheader-client-ca-file': '$DIR/ca.pem',
    'requestheader-allowed-names': 'proxy',
    'requestheader-username-headers': 'x-remote-user',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-uid-headers': 'X-Remote-UID',
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
  },
  'request-header/authority-text': { 'requestheader-client-ca-file': '$DIR/text' },
  'request-header/authority-folder': { 'requestheader-client-ca-file': '$DIR' },
  'request-header/all-blank': {
    'requestheader-username-headers': ',',
    'requestheader-group-headers': ' ,X-Remote-Group',
    'requestheader-uid-headers': 'X-Remote-Uid, ',
    'requestheader-extra-headers-prefix': 'x,,',
  },
  'request-header/uid-gate-off': {
    'requestheader-uid-headers': 'X-Remote-Uid',
    'feature-gates': 'RemoteRequestHeaderUID=false',
  },
  'token-webhook/version': {
    'authentication-token-webhook-config-file': '$DIR/token.kubeconfig',
    'authentication-token-webhook-version': 'v2',
  },
  'token-webhook/version-alone': { 'authentication-token-webhook-version': 'v2' },
  'token-webhook/ttl-short': {
    'authentication-token-webhook-config-file': '$DIR/token.kubeconfig',
    'authentication-token-webhook-cache-ttl': '1500ms',
  },
  'token-webhook/ttl-short-alone': { 'authentication-token-webhook-cache-ttl': '1s' },
  'token-webhook/ttl-off': {
    'authentication-token-webhook-config-file': '$DIR/token.kubeconfig',
    'authentication-token-webhook-cache-ttl': '0s',
  },
  'token-webhook/ttl-wrong': { 'authentication-token-webhook-cache-ttl': 'soon' },
  'anonymous/wrong': { 'anonymous-auth': 'yes' },
  'bootstrap/wrong': { 'enable-bootstrap-token-auth': '2' },
  'audit/log-everything-wrong': {
    ...log,
    'audit-log-mode': 'x',
    'audit-log-format': 'x',
    'audit-log-version': 'v1',
    'audit-log-maxage': '-1',
    'audit-log-maxbackup': '-2',
    'audit-log-maxsize': '-3',
    'audit-log-truncate-max-event-size': '-4',
  },
  'audit/log-off-everything-wrong': { 'audit-log-mode': 'x', 'audit-log-maxage': '-1' },
  'audit/log-age-text': { 'audit-log-maxage': 'x' },
  'audit/log-qps-text': { 'audit-log-batch-throttle-qps': 'x' },
  'audit/log-wait-text': { 'audit-log-batch-max-wait': '1' },
  'audit/log-version-two-slashes': { ...log, 'audit-log-version': 'a/b/c' },
  'audit/log-legacy': { ...log, 'audit-log-format': 'legacy' },
  'audit/log-batch': batch,
  'audit/log-batch-two-wrong': { ...batch, 'audit-log-batch-buffer-size': '0', 'audit-log-batch-max-size': '0' },
  'audit/log-batch-throttled': {
    ...batch,
    'audit-log-batch-throttle-enable': 'true',
    'audit-log-batch-throttle-qps': '0.5',
  },
  'audit/log-batch-qps-negative': {
    ...batch,
    'audit-log-batch-throttle-enable': 'true',
    'audit-log-batch-throttle-qps': '-1.5',
  },
  'audit/log-truncate-off-but-wrong': { ...log, 'audit-log-truncate-max-batch-size': '1' },
  'audit/webhook-without-policy': { ...hook, 'audit-webhook-config-file': '$DIR/nothing' },
  'audit/webhook': { ...hook, 'audit-policy-file': '$DIR/policy.yaml' },
  'audit/webhook-text': { 'audit-webhook-config-file': '$DIR/text', 'audit-policy-file': '$DIR/policy.yaml' },
  'audit/webhook-everything-wrong': {
    ...hook,
    'audit-webhook-mode': 'BATCH',
    'audit-webhook-version': 'audit.k8s.io/v2',
    'audit-webhook-truncate-max-event-size': '0',
  },
  'audit/webhook-burst-zero': { ...hook, 'audit-webhook-batch-throttle-burst': '0' },
  'audit/webhook-backoff-wrong': { ...hook, 'audit-webhook-initial-backoff': 'x' },
}

export const flagCases: readonly ConfigCase[] = Object.entries(table).map(([name, flags]) => ({
  id: `flags/${name}`,
  flags,
  text: null,
}))

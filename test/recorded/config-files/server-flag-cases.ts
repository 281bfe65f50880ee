/**
 * Test cases for authentication, authorization and audit flags. All flags are checked together, as
 * in the server.
 */
import { casesOf, type ConfigCase, type FileTable } from './case.ts'
import type { RawFlags } from './judge.ts'

const alone = (flags: RawFlags): readonly [null, RawFlags] => [null, flags]
const tokens = { 'token-auth-file': '$FILE' }
const webhook = {
  'audit-webhook-config-file': '$DIR/token.kubeconfig',
  'audit-policy-file': '$DIR/policy.yaml',
}
const log = { 'audit-log-path': '-', 'audit-policy-file': '$DIR/policy.yaml' }
const asked = {
  'authorization-mode': 'Webhook',
  'authorization-webhook-config-file': '$DIR/token.kubeconfig',
}
const oidc = { 'oidc-issuer-url': 'https://login.example.org', 'oidc-client-id': 'cluster' }

const serviceAccounts: FileTable = {
  'service-account/issuer-none': alone({ 'service-account-issuer': null }),
  'service-account/issuer-blank': alone({ 'service-account-issuer': '' }),
  'service-account/issuer-word': alone({ 'service-account-issuer': 'cluster' }),
  'service-account/issuer-not-a-url': alone({
    'service-account-issuer': 'https://login.example.org:port',
  }),
  'service-account/issuer-repeated': alone({
    'service-account-issuer': ['https://b', 'https://a', 'https://b'],
  }),
  'service-account/issuer-two': alone({ 'service-account-issuer': ['https://b', 'https://a'] }),
  'service-account/issuer-second-blank': alone({ 'service-account-issuer': ['https://b', ''] }),
  'service-account/keys-none': alone({ 'service-account-key-file': null }),
  'service-account/key-missing': alone({ 'service-account-key-file': '$DIR/nothing' }),
  'service-account/key-text': alone({ 'service-account-key-file': '$DIR/text' }),
  'service-account/key-empty': alone({ 'service-account-key-file': '$DIR/empty' }),
  'service-account/key-certificate': alone({ 'service-account-key-file': '$DIR/ca.pem' }),
  'service-account/key-private': alone({ 'service-account-key-file': '$DIR/client.key' }),
  'service-account/key-folder': alone({ 'service-account-key-file': '$DIR' }),
  'service-account/second-key-missing': alone({
    'service-account-key-file': ['$DIR/ca.pem', '$DIR/nothing'],
  }),
  'service-account/signing-none': alone({ 'service-account-signing-key-file': null }),
  'service-account/signing-missing': alone({ 'service-account-signing-key-file': '$DIR/nothing' }),
  'service-account/signing-text': alone({ 'service-account-signing-key-file': '$DIR/text' }),
  'service-account/signing-certificate': alone({
    'service-account-signing-key-file': '$DIR/ca.pem',
  }),
  'service-account/signing-elliptic': alone({
    'service-account-signing-key-file': '$DIR/client.key',
  }),
  'service-account/signing-and-issuer-none': alone({
    'service-account-signing-key-file': null,
    'service-account-issuer': null,
  }),
  'service-account/all-none': alone({
    'service-account-key-file': null,
    'service-account-signing-key-file': null,
    'service-account-issuer': null,
  }),
  'service-account/jwks': alone({ 'service-account-jwks-uri': 'https://keys.example.org/jwks' }),
  'service-account/jwks-http': alone({
    'service-account-jwks-uri': 'http://keys.example.org/jwks',
  }),
  'service-account/jwks-path': alone({ 'service-account-jwks-uri': '/jwks' }),
  'service-account/jwks-escape': alone({
    'service-account-jwks-uri': 'https://keys.example.org/%q',
  }),
  'service-account/lifetime-an-hour': alone({ 'service-account-max-token-expiration': '1h' }),
  'service-account/lifetime-below': alone({ 'service-account-max-token-expiration': '3599s' }),
  'service-account/lifetime-above': alone({ 'service-account-max-token-expiration': '1193047h' }),
  'service-account/lifetime-negative': alone({ 'service-account-max-token-expiration': '-2h' }),
  'service-account/lifetime-number': alone({ 'service-account-max-token-expiration': '7200' }),
  'service-account/extend-off': alone({ 'service-account-extend-token-expiration': 'false' }),
  'service-account/extend-wrong': alone({ 'service-account-extend-token-expiration': 'no' }),
  'service-account/lookup-off': alone({ 'service-account-lookup': 'false' }),
  'service-account/lookup-wrong': alone({ 'service-account-lookup': 'off' }),
  'service-account/audiences': alone({ 'api-audiences': 'one,two' }),
  'service-account/audiences-twice': alone({ 'api-audiences': ['one', 'two'] }),
  'service-account/audiences-blank': alone({ 'api-audiences': '' }),
  'service-account/audiences-without-issuer': alone({
    'api-audiences': 'one',
    'service-account-issuer': null,
    'service-account-signing-key-file': null,
  }),
}

const identities: FileTable = {
  'token-file/missing': alone({ 'token-auth-file': '$DIR/nothing' }),
  'token-file/folder': alone({ 'token-auth-file': '$DIR' }),
  'token-file/one-column': ['secret\n', tokens],
  'token-file/two-columns': ['secret,ann\n', tokens],
  'token-file/second-line-short': ['secret,ann,1\nother,bea\n', tokens],
  'token-file/groups': ['secret,ann,1,"a,b"\n', tokens],
  'token-file/five-columns': ['secret,ann,1,a,b\n', tokens],
  'token-file/empty': ['', tokens],
  'token-file/blank-lines': ['\n\nsecret,ann,1\n\n', tokens],
  'token-file/same-token': ['secret,ann,1\nsecret,bea,2\n', tokens],
  'token-file/quote-inside': ['secret,a"nn,1\n', tokens],
  'token-file/no-token': ['secret,ann,1\n,bea,2\n', tokens],
  'token-file/blanks': [' secret , ann , 1 , "a, b"\n', tokens],
  'token-file/quote-after-text': ['secret,ann,1,"a" b\n', tokens],
  'token-file/quote-over-lines': ['secret,"ann\nbea",1\nsecret,"a\n', tokens],
  'token-file/quote-open': ['secret,"ann,1\n', tokens],
  'client-ca/missing': alone({ 'client-ca-file': '$DIR/nothing' }),
  'client-ca/text': alone({ 'client-ca-file': '$DIR/text' }),
  'client-ca/empty': alone({ 'client-ca-file': '$DIR/empty' }),
  'client-ca/good': alone({ 'client-ca-file': '$DIR/ca.pem' }),
  'client-ca/mixed': alone({ 'client-ca-file': '$DIR/ca-mixed.pem' }),
  'client-ca/base64': alone({ 'client-ca-file': '$DIR/ca-base64.pem' }),
  'client-ca/folder': alone({ 'client-ca-file': '$DIR' }),
  'request-header/names-alone': alone({ 'requestheader-allowed-names': 'proxy' }),
  'request-header/missing': alone({ 'requestheader-client-ca-file': '$DIR/nothing' }),
  'request-header/ca-alone': alone({ 'requestheader-client-ca-file': '$DIR/ca.pem' }),
  'request-header/same-ca-as-clients': alone({
    'client-ca-file': '$DIR/ca.pem',
    'requestheader-client-ca-file': '$DIR/ca.pem',
    'requestheader-username-headers': 'X-Remote-User',
  }),
  'request-header/other-names': alone({
    'requestheader-client-ca-file': '$DIR/ca.pem',
    'requestheader-username-headers': 'X-User,X-Remote-User',
    'requestheader-group-headers': 'X-Group',
    'requestheader-extra-headers-prefix': 'X-More-',
  }),
  'request-header/uid-other-name': alone({
    'requestheader-client-ca-file': '$DIR/ca.pem',
    'requestheader-username-headers': 'X-Remote-User',
    'requestheader-uid-headers': 'X-Number',
  }),
  'oidc/prefixes': alone({ ...oidc, 'oidc-username-prefix': '-', 'oidc-groups-prefix': 'login:' }),
  'oidc/prefix-alone': alone({ 'oidc-username-prefix': 'x' }),
  'oidc/groups-alone': alone({ 'oidc-groups-claim': 'groups' }),
  'oidc/authority-alone': alone({ 'oidc-ca-file': '$DIR/ca.pem' }),
  'oidc/required-alone': alone({ 'oidc-required-claim': 'a=b' }),
  'oidc/issuer-fragment': alone({ ...oidc, 'oidc-issuer-url': 'https://login.example.org#x' }),
  'oidc/issuer-user': alone({ ...oidc, 'oidc-issuer-url': 'https://ann@login.example.org' }),
  'oidc/issuer-word': alone({ ...oidc, 'oidc-issuer-url': 'login' }),
  'oidc/authority-empty': alone({ ...oidc, 'oidc-ca-file': '$DIR/empty' }),
  'oidc/username-email': alone({ ...oidc, 'oidc-username-claim': 'email' }),
  'oidc/and-configuration': alone({ ...oidc, 'authentication-config': '$DIR/nothing' }),
  'token-webhook/missing': alone({ 'authentication-token-webhook-config-file': '$DIR/nothing' }),
  'token-webhook/text': alone({ 'authentication-token-webhook-config-file': '$DIR/text' }),
  'token-webhook/good': alone({
    'authentication-token-webhook-config-file': '$DIR/token.kubeconfig',
  }),
  'token-webhook/old-version': alone({
    'authentication-token-webhook-config-file': '$DIR/token.kubeconfig',
    'authentication-token-webhook-version': 'v1beta1',
  }),
  'token-webhook/ttl-negative': alone({
    'authentication-token-webhook-config-file': '$DIR/token.kubeconfig',
    'authentication-token-webhook-cache-ttl': '-1s',
  }),
  'anonymous/off': alone({ 'anonymous-auth': 'false' }),
  'anonymous/number': alone({ 'anonymous-auth': '0' }),
  'bootstrap/on': alone({ 'enable-bootstrap-token-auth': 'true' }),
}

const authorization: FileTable = {
  'authorization/none': alone({ 'authorization-mode': null }),
  'authorization/none-and-anonymous': alone({
    'authorization-mode': null,
    'anonymous-auth': 'true',
  }),
  'authorization/lower-case': alone({ 'authorization-mode': 'node,rbac' }),
  'authorization/twice': alone({ 'authorization-mode': 'Node,Node' }),
  'authorization/always-deny': alone({ 'authorization-mode': 'AlwaysDeny' }),
  'authorization/deny-and-allow': alone({ 'authorization-mode': 'AlwaysDeny,AlwaysAllow' }),
  'authorization/abac-without-file': alone({ 'authorization-mode': 'ABAC,RBAC' }),
  'authorization/policy-without-abac': alone({ 'authorization-policy-file': '$DIR/abac.jsonl' }),
  'authorization/webhook-without-file': alone({ 'authorization-mode': 'RBAC,Webhook' }),
  'authorization/file-without-webhook': alone({
    'authorization-webhook-config-file': '$DIR/token.kubeconfig',
  }),
  'authorization/webhook-version': alone({ ...asked, 'authorization-webhook-version': 'v2' }),
  'authorization/webhook-v1': alone({ ...asked, 'authorization-webhook-version': 'v1' }),
  'authorization/webhook-unauthorized-ttl': alone({
    ...asked,
    'authorization-webhook-cache-unauthorized-ttl': '-5s',
  }),
  'authorization/webhook-unauthorized-ttl-wrong': alone({
    ...asked,
    'authorization-webhook-cache-unauthorized-ttl': 'x',
  }),
  'authorization/ttl-without-webhook': alone({
    'authorization-webhook-cache-unauthorized-ttl': '5s',
  }),
  'authorization/configuration-and-modes': alone({ 'authorization-config': '$DIR/text' }),
  'authorization/configuration-missing': alone({
    'authorization-mode': null,
    'authorization-config': '$DIR/nothing',
  }),
}

const auditing: FileTable = {
  'audit/policy-missing': alone({ ...log, 'audit-policy-file': '$DIR/nothing' }),
  'audit/policy-alone': alone({ 'audit-policy-file': '$DIR/policy.yaml' }),
  'audit/policy-alone-text': alone({ 'audit-policy-file': '$DIR/text' }),
  'audit/log': alone(log),
  'audit/log-compressed': alone({ ...log, 'audit-log-compress': 'true' }),
  'audit/log-compressed-wrong': alone({ ...log, 'audit-log-compress': 'gzip' }),
  'audit/log-blocking-strict': alone({ ...log, 'audit-log-mode': 'blocking-strict' }),
  'audit/log-mode-upper-case': alone({ ...log, 'audit-log-mode': 'Batch' }),
  'audit/log-version-beta': alone({ ...log, 'audit-log-version': 'audit.k8s.io/v1beta1' }),
  'audit/log-sizes': alone({
    ...log,
    'audit-log-maxage': '1',
    'audit-log-maxbackup': '2',
    'audit-log-maxsize': '3',
  }),
  'audit/log-burst-negative': alone({
    ...log,
    'audit-log-mode': 'batch',
    'audit-log-batch-throttle-enable': 'true',
    'audit-log-batch-throttle-qps': '1',
    'audit-log-batch-throttle-burst': '-1',
  }),
  'audit/log-burst-text': alone({ ...log, 'audit-log-batch-throttle-burst': 'x' }),
  'audit/log-buffer-below-batch': alone({
    ...log,
    'audit-log-mode': 'batch',
    'audit-log-batch-buffer-size': '5',
    'audit-log-batch-max-size': '10',
  }),
  'audit/log-truncated': alone({ ...log, 'audit-log-truncate-enabled': 'true' }),
  'audit/log-truncated-small-batch': alone({
    ...log,
    'audit-log-truncate-enabled': 'true',
    'audit-log-truncate-max-event-size': '2000',
    'audit-log-truncate-max-batch-size': '1000',
  }),
  'audit/webhook': alone(webhook),
  'audit/webhook-blocking': alone({ ...webhook, 'audit-webhook-mode': 'blocking' }),
  'audit/webhook-buffer': alone({ ...webhook, 'audit-webhook-batch-buffer-size': '-1' }),
  'audit/webhook-buffer-below-batch': alone({
    ...webhook,
    'audit-webhook-batch-buffer-size': '399',
  }),
  'audit/webhook-batch': alone({ ...webhook, 'audit-webhook-batch-max-size': '0' }),
  'audit/webhook-wait': alone({ ...webhook, 'audit-webhook-batch-max-wait': '-1s' }),
  'audit/webhook-wait-wrong': alone({ ...webhook, 'audit-webhook-batch-max-wait': '1 s' }),
  'audit/webhook-not-throttled': alone({
    ...webhook,
    'audit-webhook-batch-throttle-enable': 'false',
    'audit-webhook-batch-throttle-qps': '0',
  }),
  'audit/webhook-qps-zero': alone({ ...webhook, 'audit-webhook-batch-throttle-qps': '0' }),
  'audit/webhook-qps-wrong': alone({ ...webhook, 'audit-webhook-batch-throttle-qps': 'many' }),
  'audit/webhook-truncated': alone({ ...webhook, 'audit-webhook-truncate-enabled': 'true' }),
  'audit/webhook-truncated-small': alone({
    ...webhook,
    'audit-webhook-truncate-enabled': 'true',
    'audit-webhook-truncate-max-batch-size': '0',
  }),
  'audit/webhook-backoff-old-name': alone({
    ...webhook,
    'audit-webhook-batch-initial-backoff': '1s',
  }),
  'audit/both': alone({ ...webhook, ...log }),
  'audit/both-wrong': alone({
    ...webhook,
    ...log,
    'audit-log-format': 'text',
    'audit-webhook-mode': 'fast',
  }),
}

export const serverFlagCases: readonly ConfigCase[] = casesOf(
  'server',
  {},
  { ...serviceAccounts, ...identities, ...authorization, ...auditing },
)

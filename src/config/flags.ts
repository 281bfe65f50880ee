/**
 * The flags of `keelson serve`. Parsing, validation and the help text all use this table. It has
 * every flag of kube-apiserver, including those that have no effect or accept only their default,
 * with the reason. Defaults are also kube-apiserver's, with the exceptions in docs/differences.md.
 */
import { pluginsByName, pluginsOnByDefault } from './admission-plugins.ts'
import { auditFlags } from './audit-flags.ts'
import { controllersHelp } from './controllers.ts'
import type { Flag } from './flag.ts'
import { servingFlags } from './serving-flags.ts'
import { signingFlags } from './signing.ts'
import { tuningFlags } from './tuning-flags.ts'

const etcd = 'Etcd'
const serving = 'Secure serving'
const authentication = 'Authentication'
const authorization = 'Authorization'
const features = 'Features'
const generic = 'Generic'
const misc = 'Misc'

const flagTable = {
  'etcd-servers': {
    section: etcd,
    type: 'list',
    help: 'URLs of the etcd servers, such as http://127.0.0.1:2379.',
  },
  'etcd-servers-overrides': {
    section: etcd,
    type: 'list',
    help: 'etcd servers for individual resources, as group/resource#servers. Separate several servers by semicolons: /events#http://127.0.0.1:2479;http://127.0.0.2:2479.',
  },
  'data-dir': {
    section: etcd,
    type: 'string',
    help: 'Folder in which to store everything instead of in etcd. For one process on one machine: development, tests and small installations.',
  },
  store: {
    section: etcd,
    type: 'string',
    help: 'Where objects are stored: etcd (requires --etcd-servers), sqlite (requires --data-dir), or memory, which is lost when the process ends. Default: sqlite if only --data-dir is set, otherwise etcd.',
  },
  testing: {
    section: etcd,
    type: 'boolean',
    default: 'false',
    help: 'Run a test cluster that keeps its objects in memory, listens on a free port and generates its certificates. The server prints its URL and stops when its standard input ends. Tests can inject faults, move its clock and fork it (docs/testing.md). Flags for addresses, certificates and the store have no effect.',
  },
  'etcd-prefix': {
    section: etcd,
    type: 'string',
    default: '/registry',
    help: 'Prefix of all keys in etcd.',
  },
  'etcd-cafile': {
    section: etcd,
    type: 'string',
    help: 'PEM file with the CA certificates that verify the etcd servers.',
  },
  'etcd-certfile': {
    section: etcd,
    type: 'string',
    help: 'PEM file with the client certificate that this server presents to etcd.',
  },
  'etcd-keyfile': {
    section: etcd,
    type: 'string',
    help: 'PEM file with the private key of --etcd-certfile.',
  },
  'etcd-user': {
    section: etcd,
    type: 'string',
    help: 'User name for etcd authentication. Requires --etcd-password-file.',
  },
  'etcd-password-file': {
    section: etcd,
    type: 'string',
    help: 'File with the password of --etcd-user. Read again for each authentication.',
  },
  'allow-metric-labels': {
    section: 'Metrics',
    type: 'list',
    help: 'Values that a metric label may have, as metric,label=value,value. To set several labels, put each entry in double quotes and separate the entries by commas. Other values are reported as unexpected.',
  },
  'allow-metric-labels-manifest': {
    section: 'Metrics',
    type: 'string',
    help: 'YAML file with the values that metric labels may have: a mapping from metric,label to value,value. Ignored if --allow-metric-labels is set.',
  },
  'disabled-metrics': {
    section: 'Metrics',
    type: 'list',
    help: 'Full names of metrics to disable.',
  },
  'show-hidden-metrics-for-version': {
    section: 'Metrics',
    type: 'string',
    help: 'Show the metrics that are hidden because an earlier release deprecated them. The only allowed value is the previous minor version, 1.32.',
  },
  'etcd-compaction-interval': {
    section: etcd,
    type: 'duration',
    default: '5m0s',
    help: 'Interval at which old revisions are compacted. History is kept for one to two intervals. 0 disables compaction by this server.',
  },
  'encryption-provider-config': {
    section: etcd,
    type: 'string',
    help: 'EncryptionConfiguration file: which resources are encrypted at rest, how, and with which keys.',
  },
  'encryption-provider-config-automatic-reload': {
    section: etcd,
    type: 'boolean',
    default: 'false',
    help: 'Whether to reload --encryption-provider-config when the file changes.',
  },
  'event-ttl': {
    section: etcd,
    type: 'duration',
    default: '1h0m0s',
    help: 'How long events are kept.',
  },
  'storage-backend': {
    section: etcd,
    type: 'string',
    help: 'Storage backend. Only etcd3 is supported.',
  },
  'storage-media-type': {
    section: etcd,
    type: 'string',
    default: 'application/json',
    help: 'Encoding in which built-in objects are stored: application/json or application/vnd.kubernetes.protobuf. application/yaml has the same effect as application/json, since JSON is valid YAML.',
  },
  'watch-cache': {
    section: etcd,
    type: 'boolean',
    default: 'true',
    help: 'Whether to cache objects in memory.',
    refused: 'reads are always served from memory and verified to be current',
  },

  'bind-address': {
    section: serving,
    type: 'address',
    default: '0.0.0.0',
    help: 'IP address on which to listen. 0.0.0.0 or :: means all addresses.',
  },
  'secure-port': {
    section: serving,
    type: 'integer',
    default: '6443',
    help: 'Port on which to serve HTTPS.',
  },
  'cert-dir': {
    section: serving,
    type: 'string',
    default: '/var/run/kubernetes',
    help: 'Folder with the serving certificate apiserver.crt and its key apiserver.key. They are created if they do not exist. Ignored if --tls-cert-file is set.',
  },
  'tls-cert-file': {
    section: serving,
    type: 'string',
    help: 'PEM file with the serving certificate, followed by its intermediate certificates, if any. Reloaded when it changes.',
  },
  'tls-private-key-file': {
    section: serving,
    type: 'string',
    help: 'PEM file with the private key of --tls-cert-file.',
  },
  'tls-min-version': {
    section: serving,
    type: 'string',
    default: 'VersionTLS12',
    help: 'Oldest TLS version that clients may use: VersionTLS12 or VersionTLS13.',
  },
  'tls-cipher-suites': {
    section: serving,
    type: 'list',
    help: 'Cipher suites of TLS 1.2 that clients may use, by IANA name. The suites of TLS 1.3 are always enabled. Default: the suites with forward secrecy and authenticated encryption (ECDHE with AES-GCM or ChaCha20-Poly1305).',
  },
  'disable-http2-serving': {
    section: serving,
    type: 'boolean',
    default: 'false',
    help: 'Whether to offer only HTTP/1.1 to clients.',
  },
  'http2-max-streams-per-connection': {
    section: serving,
    type: 'integer',
    default: '0',
    help: 'Maximum number of concurrent requests on an HTTP/2 connection. 0 means 250.',
  },

  'anonymous-auth': {
    section: authentication,
    type: 'boolean',
    default: 'true',
    help: 'Whether to accept requests without credentials, as user system:anonymous.',
  },
  'authentication-config': {
    section: authentication,
    type: 'string',
    help: 'AuthenticationConfiguration file: the issuers of JSON Web Tokens, and the paths that accept anonymous requests. Cannot be combined with --oidc-* flags. Reloaded when it changes.',
  },
  'client-ca-file': {
    section: authentication,
    type: 'string',
    help: 'PEM file with the CA certificates that verify client certificates. The common name of a client certificate is the user name, and its organizations are the groups. Reloaded when it changes.',
  },
  'oidc-issuer-url': {
    section: authentication,
    type: 'string',
    help: 'HTTPS URL of the issuer of ID tokens. To configure several issuers, use --authentication-config.',
  },
  'oidc-client-id': {
    section: authentication,
    type: 'string',
    help: 'Audience that ID tokens must have.',
  },
  'oidc-ca-file': {
    section: authentication,
    type: 'string',
    help: "PEM file with the CA certificates that verify the issuer's server. Default: the trust roots of the system.",
  },
  'oidc-username-claim': {
    section: authentication,
    type: 'string',
    default: 'sub',
    help: 'Claim that contains the user name.',
  },
  'oidc-username-prefix': {
    section: authentication,
    type: 'string',
    help: 'Prefix of user names. Default: the issuer URL followed by #, or no prefix if the user name comes from the claim email. The value - means no prefix.',
  },
  'oidc-groups-claim': {
    section: authentication,
    type: 'string',
    help: 'Claim that contains the groups of the user.',
  },
  'oidc-groups-prefix': {
    section: authentication,
    type: 'string',
    help: 'Prefix of the group names in --oidc-groups-claim.',
  },
  'oidc-required-claim': {
    section: authentication,
    type: 'map',
    help: 'Claim that ID tokens must have, and its value, as name=value. May be repeated.',
  },
  'oidc-signing-algs': {
    section: authentication,
    type: 'list',
    default: 'RS256',
    help: 'Algorithms with which ID tokens may be signed: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512.',
  },
  'token-auth-file': {
    section: authentication,
    type: 'string',
    help: 'CSV file of static bearer tokens. Each line is token,user,uid[,"group1,group2"].',
  },
  'requestheader-client-ca-file': {
    section: authentication,
    type: 'string',
    help: 'PEM file with the CA certificates that verify the client certificates of front proxies. A verified proxy names the user in request headers. Reloaded when it changes.',
  },
  'requestheader-allowed-names': {
    section: authentication,
    type: 'list',
    help: 'Common names that the client certificates of front proxies may have. Default: any name.',
  },
  'requestheader-username-headers': {
    section: authentication,
    type: 'list',
    help: 'Headers that contain the user name, such as X-Remote-User. The first header that is present is used.',
  },
  'requestheader-uid-headers': {
    section: authentication,
    type: 'list',
    help: 'Headers that contain the UID of the user, such as X-Remote-Uid. The first header that is present is used.',
  },
  'requestheader-group-headers': {
    section: authentication,
    type: 'list',
    help: 'Headers that contain the groups of the user, one group per header line, such as X-Remote-Group.',
  },
  'requestheader-extra-headers-prefix': {
    section: authentication,
    type: 'list',
    help: 'Prefixes of headers that contain extra attributes of the user, such as X-Remote-Extra-.',
  },
  'enable-bootstrap-token-auth': {
    section: authentication,
    type: 'boolean',
    default: 'false',
    help: 'Whether Secrets of type bootstrap.kubernetes.io/token in the namespace kube-system are accepted as bearer tokens. Nodes use these tokens to join the cluster.',
  },
  'authentication-token-webhook-config-file': {
    section: authentication,
    type: 'string',
    help: 'Kubeconfig file of the webhook that authenticates bearer tokens by TokenReviews.',
  },
  'authentication-token-webhook-version': {
    section: authentication,
    type: 'string',
    default: 'v1beta1',
    help: 'API version of the TokenReviews that are sent to the webhook: v1 or v1beta1.',
  },
  'authentication-token-webhook-cache-ttl': {
    section: authentication,
    type: 'duration',
    default: '2m0s',
    help: 'How long to cache the responses of the webhook.',
  },
  'api-audiences': {
    section: authentication,
    type: 'list',
    help: 'Audiences of this API server. A service account token must be issued for at least one of them. Default: the first --service-account-issuer.',
  },
  'service-account-issuer': {
    section: authentication,
    type: 'list',
    help: 'Issuer of service account tokens, usually a URL. May be repeated: the first issuer is used for new tokens, and the tokens of all issuers are accepted.',
  },
  'service-account-jwks-uri': {
    section: authentication,
    type: 'string',
    help: 'URL of the key set of the issuer, as published in its OpenID discovery document. Default: the path /openid/v1/jwks of this server.',
  },
  'service-account-key-file': {
    section: authentication,
    type: 'list',
    help: 'PEM file with keys that verify service account tokens. May be repeated. Default: the key of --service-account-signing-key-file.',
  },
  'service-account-extend-token-expiration': {
    section: authentication,
    type: 'boolean',
    default: 'true',
    help: 'Whether tokens that kubelets request for pods are valid for a year, for clients that do not reload their token.',
  },
  'service-account-lookup': {
    section: authentication,
    type: 'boolean',
    default: 'true',
    help: 'Whether tokens that are stored in Secrets are valid only while their Secret and service account exist.',
  },
  'service-account-max-token-expiration': {
    section: authentication,
    type: 'duration',
    default: '0s',
    help: 'Maximum lifetime of service account tokens. 0 means no maximum.',
  },

  'authorization-mode': {
    section: authorization,
    type: 'list',
    default: 'Node,RBAC',
    help: 'Authorizers, in the order in which they are called: Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny.',
  },
  'authorization-config': {
    section: authorization,
    type: 'string',
    help: 'AuthorizationConfiguration file: the authorizers in order, and the match conditions of webhooks. Cannot be combined with --authorization-mode or --authorization-webhook-* flags. Reloaded when it changes.',
  },
  'authorization-policy-file': {
    section: authorization,
    type: 'string',
    help: 'File with the policies of the authorizer ABAC, one JSON object per line.',
  },
  'authorization-webhook-config-file': {
    section: authorization,
    type: 'string',
    help: 'Kubeconfig file of the webhook that the authorizer Webhook calls.',
  },
  'authorization-webhook-version': {
    section: authorization,
    type: 'string',
    default: 'v1beta1',
    help: 'API version of the SubjectAccessReviews that are sent to the webhook: v1beta1 or v1.',
  },
  'authorization-webhook-cache-authorized-ttl': {
    section: authorization,
    type: 'duration',
    default: '5m0s',
    help: 'How long to cache responses of the webhook that allow a request.',
  },
  'authorization-webhook-cache-unauthorized-ttl': {
    section: authorization,
    type: 'duration',
    default: '30s',
    help: 'How long to cache responses of the webhook that do not allow a request.',
  },

  ...auditFlags,

  controllers: {
    section: generic,
    type: 'list',
    default: '',
    help: controllersHelp,
  },
  'root-ca-file': {
    section: generic,
    type: 'string',
    help: 'PEM file with the CA certificates that verify this server. The root-ca-certificate-publisher-controller publishes them to pods. Default: the last certificate of the serving chain.',
  },
  'legacy-service-account-token-clean-up-period': {
    section: generic,
    type: 'duration',
    default: '8760h0m0s',
    help: 'How long a service account token in a Secret must be unused before the legacy-serviceaccount-token-cleaner-controller marks it as invalid. The token is deleted when it has been invalid for the same period.',
  },
  ...signingFlags,

  'advertise-address': {
    section: generic,
    type: 'address',
    help: 'IP address at which others reach this server, also in the endpoints of the Service default/kubernetes. Default: --bind-address. If that is unspecified or a loopback address, the endpoints have the first address of the host that others can reach.',
  },
  'external-hostname': {
    section: generic,
    type: 'string',
    help: 'Host name in the URLs of this server that discovery documents contain. Default: the advertised address.',
  },
  'feature-gates': {
    section: generic,
    type: 'map',
    help: 'Feature gates of kube-apiserver to turn on or off, as Name=true or Name=false. keelson serve --help lists the supported gates.',
  },
  'request-timeout': {
    section: generic,
    type: 'duration',
    default: '1m0s',
    help: 'Maximum duration of requests, except watches and other long-running requests.',
  },
  'enable-priority-and-fairness': {
    section: features,
    type: 'boolean',
    default: 'true',
    help: 'Whether to queue requests by priority level and to serve them fairly, as FlowSchema and PriorityLevelConfiguration objects define.',
  },
  'max-requests-inflight': {
    section: generic,
    type: 'integer',
    default: '400',
    help: 'The sum of this flag and --max-mutating-requests-inflight is the number of seats that the priority levels share. With --enable-priority-and-fairness=false, the maximum number of concurrent reads, without watches and other long-running requests; 0 means no limit.',
  },
  'max-mutating-requests-inflight': {
    section: generic,
    type: 'integer',
    default: '200',
    help: 'See --max-requests-inflight. With --enable-priority-and-fairness=false, the maximum number of concurrent writes; 0 means no limit.',
  },
  'request-memory-max': {
    section: generic,
    type: 'string',
    help: 'Maximum memory that requests in progress and responses that are not sent yet may hold together, such as 256Mi. Requests that exceed it are rejected with 429. Default: a quarter of the memory that the process may use, between 64Mi and 1Gi.',
  },
  'cache-memory-max': {
    section: generic,
    type: 'string',
    help: 'Maximum memory for cached objects, their recent history and data derived from them, such as 1Gi. Resources that do not fit are read from the database and cannot be watched. Default: two fifths of the memory limit of the process after subtracting 192Mi; unlimited if the process has no memory limit.',
  },
  'min-request-timeout': {
    section: generic,
    type: 'integer',
    default: '1800',
    help: 'Minimum duration, in seconds, of watches that do not set a timeout. The duration is random, up to twice this value.',
  },
  'shutdown-delay-duration': {
    section: generic,
    type: 'duration',
    default: '0s',
    help: 'How long the server still accepts requests after it is asked to stop, while /readyz already fails.',
  },
  'shutdown-watch-termination-grace-period': {
    section: generic,
    type: 'duration',
    default: '0s',
    help: 'Period over which watches are closed when the server stops. 0 closes all of them at once.',
  },
  'strict-transport-security-directives': {
    section: generic,
    type: 'list',
    help: 'Directives of the Strict-Transport-Security header in responses: max-age=SECONDS, includeSubDomains, preload. Default: the header is not sent.',
  },

  'runtime-config': {
    section: 'API enablement',
    type: 'map',
    help: 'API versions and resources to turn on or off: api/beta=true, resource.k8s.io/v1beta1=true, apps/v1=false, v1/pods=false. The keys api/all, api/ga, api/beta and api/alpha stand for all versions of that stage. Alpha and beta versions are off by default.',
  },
  'enable-admission-plugins': {
    section: 'Admission',
    type: 'list',
    help: `Admission plugins to enable, in addition to the default ones. Enabled by default: ${pluginsOnByDefault}. Available plugins: ${pluginsByName}. The order of the plugins in this flag does not matter.`,
  },
  'admission-control-config-file': {
    section: 'Admission',
    type: 'string',
    help: 'AdmissionConfiguration file with the configurations of admission plugins.',
  },
  'disable-admission-plugins': {
    section: 'Admission',
    type: 'list',
    help: `Admission plugins to disable. Enabled by default: ${pluginsOnByDefault}. Available plugins: ${pluginsByName}. The order of the plugins in this flag does not matter.`,
  },
  'default-not-ready-toleration-seconds': {
    section: generic,
    type: 'integer',
    default: '300',
    help: 'How many seconds pods tolerate a node that is not ready, unless the pod specifies it.',
  },
  'default-unreachable-toleration-seconds': {
    section: generic,
    type: 'integer',
    default: '300',
    help: 'How many seconds pods tolerate a node that is unreachable, unless the pod specifies it.',
  },
  'enable-aggregator-routing': {
    section: misc,
    type: 'boolean',
    default: 'false',
    help: 'Whether webhooks and aggregated API servers behind a Service are called at its endpoints instead of its cluster IP.',
  },
  'admission-control': {
    section: 'Admission',
    type: 'list',
    help: `Deprecated: use --enable-admission-plugins or --disable-admission-plugins. The complete list of admission plugins to run. Available plugins: ${pluginsByName}.`,
  },

  'allow-privileged': {
    section: misc,
    type: 'boolean',
    default: 'false',
    help: 'Whether pods may have privileged containers.',
  },
  'kubelet-certificate-authority': {
    section: misc,
    type: 'string',
    help: 'PEM file with the CA certificates that verify kubelets. If it is not set, the certificates of kubelets are not verified.',
  },
  'kubelet-client-certificate': {
    section: misc,
    type: 'string',
    help: 'PEM file with the client certificate that this server presents to kubelets.',
  },
  'kubelet-client-key': {
    section: misc,
    type: 'string',
    help: 'PEM file with the private key of --kubelet-client-certificate.',
  },
  'kubelet-preferred-address-types': {
    section: misc,
    type: 'list',
    default: 'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
    help: 'Node address types to try, in order of preference.',
  },
  'endpoint-reconciler-type': {
    section: misc,
    type: 'string',
    default: 'lease',
    help: 'How the endpoints of the Service default/kubernetes are maintained: lease or none. master-count is accepted and has the same effect as lease.',
  },
  'service-account-signing-endpoint': {
    section: misc,
    type: 'string',
    help: 'Unix socket of an external signer of service account tokens, to use instead of key files: a path, or @name for an abstract socket. Requires the feature gate ExternalServiceAccountTokenSigner.',
  },
  'service-account-signing-key-file': {
    section: misc,
    type: 'string',
    help: 'PEM file with the private key (RSA or ECDSA) that signs service account tokens.',
  },
  'service-cluster-ip-range': {
    section: misc,
    type: 'string',
    help: 'CIDR range of the cluster IPs of Services, or two ranges, one for each IP family. Default: 10.0.0.0/24.',
  },
  'service-node-port-range': {
    section: misc,
    type: 'string',
    default: '30000-32767',
    help: 'Range of the node ports of Services, such as 30000-32767.',
  },

  ...servingFlags,
  ...tuningFlags,

  'tracing-config-file': {
    section: 'Traces',
    type: 'string',
    help: 'TracingConfiguration file: where spans are sent (OTLP over gRPC), and how many requests are traced.',
  },

  'logging-format': {
    section: 'Logs',
    type: 'string',
    help: 'Log format: text or json. Default: text on a terminal, otherwise json.',
  },
  v: {
    section: 'Logs',
    type: 'integer',
    default: '0',
    help: 'Log verbosity. Level 2 adds details of each request, level 4 each authorization decision. To change it while the server runs, send a PUT request to /debug/flags/v.',
  },
  vmodule: {
    section: 'Logs',
    type: 'string',
    help: 'Log verbosity of individual parts of the server, as pattern=N,pattern=N. The parts are access, aggregation, audit, cache, handle, http, tracing, webhooks. To change it while the server runs, send a PUT request to /debug/flags/vmodule.',
  },

  profiling: {
    section: 'Features',
    type: 'boolean',
    default: 'true',
    help: 'Whether to serve profiles of the process under /debug/pprof/, and log verbosity under /debug/flags/. Clients need permission for these paths.',
  },
  'debug-socket-path': {
    section: 'Features',
    type: 'string',
    help: 'Path of a Unix domain socket that also serves these debug pages, without authentication and regardless of --profiling. Only the user that runs the process can connect.',
  },
} as const satisfies { readonly [name: string]: Flag }

export type FlagName = keyof typeof flagTable

export const flags: { readonly [name in FlagName]: Flag } = flagTable

export const isFlagName = (name: string): name is FlagName => Object.hasOwn(flagTable, name)

/**
 * Flags that kube-apiserver does not have: Keelson's own, and those that kube-controller-manager
 * has for the controllers that run here.
 */
export const ownFlagNames: ReadonlySet<string> = new Set([
  'data-dir',
  'store',
  'testing',
  'etcd-user',
  'etcd-password-file',
  'request-memory-max',
  'cache-memory-max',
  'controllers',
  'root-ca-file',
  'legacy-service-account-token-clean-up-period',
  ...Object.keys(signingFlags),
])

export function helpText(gates: readonly string[]): string {
  const sections = Map.groupBy(Object.entries(flags), ([, { section }]) => section)
  const text = [...sections]
    .map(([section, entries]) => `${section}:\n${entries.map(flagHelp).join('')}\n`)
    .join('')
  return `Usage: keelson serve --etcd-servers=URL [flags]
       keelson serve --data-dir=FOLDER [flags]
       keelson serve --store=memory [flags]
       keelson serve --testing [flags]

Serves the Kubernetes API, with objects in etcd or in a store of its own. The flags are those of kube-apiserver, and a few more.
Flags that are not listed are rejected.

${text}Supported feature gates, with their stage and default. Setting a gate of stage GA or DEPRECATED logs a warning. All other gates
of kube-apiserver that are not locked are accepted and have no effect, except a few that cannot be enabled.

${gates.map((line) => `  ${line}\n`).join('')}
  --help
        Show this text.
`
}

/** A sentence about a flag that has no effect or accepts only its default. Otherwise empty. */
export function becomesOf({ unused, refused }: Flag): string {
  if (unused !== undefined) return ` Has no effect: ${unused}.`
  return refused === undefined ? '' : ` Only the default is accepted: ${refused}.`
}

function flagHelp([name, flag]: readonly [string, Flag]): string {
  const value = flag.type === 'boolean' ? '' : `=${flag.type}`
  const byDefault = flag.default === undefined ? '' : ` (default ${flag.default})`
  return `  --${name}${value}${byDefault}\n        ${flag.help}${becomesOf(flag)}\n`
}

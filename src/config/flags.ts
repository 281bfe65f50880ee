/**
 * The flags of `keelson serve`. Parsing, validation and the help text all use this table.
 *
 * The table contains every flag of kube-apiserver. For a flag that has no effect or accepts only
 * its default, it states the reason. Defaults are those of kube-apiserver, except for the
 * differences in docs/differences.md.
 */
import { defaultMinor, releaseNames } from '../api/releases.ts'
import { pluginOrder, pluginsByName, pluginsOnByDefault } from './admission-plugins.ts'
import { auditFlags } from './audit-flags.ts'
import { cipherSuites } from './cipher-suite-names.ts'
import { controllersHelp, ownControllers } from './controllers.ts'
import type { Flag } from './flag.ts'
import { laterDefaults, laterFlags } from './later-flags.ts'
import { servingFlags } from './serving-flags.ts'
import { signingAlgorithms } from './signing-algorithms.ts'
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
    help: 'etcd servers for individual resources, as group/resource#servers. Use semicolons to separate servers: /events#http://127.0.0.1:2479;http://127.0.0.2:2479.',
  },
  'data-dir': {
    section: etcd,
    type: 'folder',
    help: 'Folder in which to store all objects, instead of in etcd. Only one server can use the folder. Suitable for development, tests and small installations.',
  },
  store: {
    section: etcd,
    type: 'string',
    choices: ['etcd', 'sqlite', 'memory'],
    help: 'Where objects are stored: etcd (requires --etcd-servers), sqlite (requires --data-dir), or memory, whose content is lost when the process ends. Default: sqlite if only --data-dir is set, otherwise etcd.',
  },
  testing: {
    section: etcd,
    type: 'boolean',
    default: 'false',
    help: 'Run a test cluster, which keeps its objects in memory, listens on a free port and generates its certificates. The server prints its URL, and stops when its standard input is closed. Tests can inject faults, advance its clock and fork it (docs/testing.md). Flags for addresses, certificates and the store have no effect.',
  },
  'testing-now': {
    section: etcd,
    type: 'string',
    help: 'The time at which the clock of a test cluster starts, such as 2030-01-01T00:00:00Z. The default is the real time. Only with --testing.',
  },
  'etcd-prefix': {
    section: etcd,
    type: 'string',
    default: '/registry',
    help: 'Prefix of all keys in etcd.',
  },
  'etcd-cafile': {
    section: etcd,
    type: 'file',
    help: 'PEM file with the CA certificates that verify the etcd servers.',
  },
  'etcd-certfile': {
    section: etcd,
    type: 'file',
    help: 'PEM file with the client certificate that this server presents to etcd.',
  },
  'etcd-keyfile': {
    section: etcd,
    type: 'file',
    help: 'PEM file with the private key of --etcd-certfile.',
  },
  'etcd-user': {
    section: etcd,
    type: 'string',
    help: 'User name for etcd authentication. Requires --etcd-password-file.',
  },
  'etcd-password-file': {
    section: etcd,
    type: 'file',
    help: 'File with the password for --etcd-user. It is read again for each authentication.',
  },
  'allow-metric-labels': {
    section: 'Metrics',
    type: 'list',
    help: 'Allowed values of metric labels, as metric,label=value,value. To restrict several labels, put each entry in double quotes and separate the entries by commas. All other values are replaced by the value unexpected.',
  },
  'allow-metric-labels-manifest': {
    section: 'Metrics',
    type: 'file',
    help: 'YAML file with the allowed values of metric labels: a mapping from metric,label to value,value. Ignored if --allow-metric-labels is set.',
  },
  'disabled-metrics': {
    section: 'Metrics',
    type: 'list',
    help: 'Full names of metrics to disable.',
  },
  'show-hidden-metrics-for-version': {
    section: 'Metrics',
    type: 'string',
    help: 'Show metrics that are hidden because an earlier release deprecated them. The only allowed value is the previous minor version, 1.32.',
  },
  'etcd-compaction-interval': {
    section: etcd,
    type: 'duration',
    default: '5m0s',
    help: 'Interval at which old revisions are compacted. Old revisions stay available for one to two intervals. 0 means that this server does not compact.',
  },
  'encryption-provider-config': {
    section: etcd,
    type: 'file',
    help: 'EncryptionConfiguration file, which defines the resources to encrypt at rest, the encryption providers, and their keys.',
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
    help: 'Time for which events are kept.',
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
    choices: ['application/json', 'application/vnd.kubernetes.protobuf', 'application/yaml'],
    help: 'Encoding in which built-in objects are stored: application/json or application/vnd.kubernetes.protobuf. application/yaml has the same effect as application/json, because JSON is valid YAML.',
    swap: [
      {
        when: 'unset',
        change:
          'new and changed built-in objects are stored as JSON instead of protobuf, and both servers can read both',
        advice: 'set it to application/vnd.kubernetes.protobuf to keep protobuf',
      },
      {
        when: /yaml$/,
        change: 'objects are stored as JSON instead of YAML, and every server can read both',
        advice: 'nothing needs to be done',
      },
    ],
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
    type: 'folder',
    default: '/var/run/kubernetes',
    help: 'Folder with the serving certificate apiserver.crt and its key apiserver.key. If they do not exist, they are created. Ignored if --tls-cert-file is set.',
  },
  'tls-cert-file': {
    section: serving,
    type: 'file',
    help: 'PEM file with the serving certificate and its intermediate certificates. Reloaded when it changes.',
  },
  'tls-private-key-file': {
    section: serving,
    type: 'file',
    help: 'PEM file with the private key of --tls-cert-file.',
  },
  'tls-min-version': {
    section: serving,
    type: 'string',
    default: 'VersionTLS12',
    choices: ['VersionTLS12', 'VersionTLS13'],
    help: 'Oldest TLS version that clients can use: VersionTLS12 or VersionTLS13.',
  },
  'tls-cipher-suites': {
    section: serving,
    type: 'list',
    choices: cipherSuites,
    help: 'TLS 1.2 cipher suites that clients can use, by IANA name. TLS 1.3 cipher suites are always enabled. Default: the suites with forward secrecy and authenticated encryption (ECDHE with AES-GCM or ChaCha20-Poly1305).',
    swap: [
      {
        when: 'unset',
        change: 'TLS 1.2 clients need a suite with forward secrecy and authenticated encryption',
        advice: 'if old clients need others, list them in this flag',
      },
      {
        when: /_(?:RC4_128|3DES_EDE_CBC)_SHA/,
        change: 'suites with RC4 and 3DES are not offered',
        advice: 'check that no client needs them',
      },
    ],
  },
  'disable-http2-serving': {
    section: serving,
    type: 'boolean',
    default: 'false',
    help: 'Whether to disable HTTP/2, so that clients use HTTP/1.1.',
  },
  'http2-max-streams-per-connection': {
    section: serving,
    type: 'integer',
    default: '0',
    help: 'Maximum number of concurrent streams, and thus requests, on an HTTP/2 connection. 0 means 250.',
  },

  'anonymous-auth': {
    section: authentication,
    type: 'boolean',
    default: 'true',
    help: 'Whether to accept requests without credentials. Their user is system:anonymous.',
  },
  'authentication-config': {
    section: authentication,
    type: 'file',
    help: 'AuthenticationConfiguration file, which defines the issuers of JSON Web Tokens, and the paths that accept anonymous requests. Cannot be combined with --oidc-* flags. Reloaded when it changes.',
  },
  'client-ca-file': {
    section: authentication,
    type: 'file',
    help: 'PEM file with the CA certificates that verify client certificates. The common name of a client certificate is the user name, and its organizations are the groups. Reloaded when it changes.',
  },
  'oidc-issuer-url': {
    section: authentication,
    type: 'string',
    help: 'HTTPS URL of the issuer of ID tokens. Use --authentication-config to configure several issuers.',
  },
  'oidc-client-id': {
    section: authentication,
    type: 'string',
    help: 'Audience for which ID tokens must be issued.',
  },
  'oidc-ca-file': {
    section: authentication,
    type: 'file',
    help: "PEM file with the CA certificates that verify the issuer's server. Default: the trust roots of the operating system.",
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
    help: 'Prefix of the group names that are read from the claim in --oidc-groups-claim.',
  },
  'oidc-required-claim': {
    section: authentication,
    type: 'map',
    help: 'Claim that ID tokens must contain, with its required value, as name=value. Can be repeated.',
  },
  'oidc-signing-algs': {
    section: authentication,
    type: 'list',
    default: 'RS256',
    choices: signingAlgorithms,
    help: 'Accepted signing algorithms of ID tokens: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512.',
  },
  'token-auth-file': {
    section: authentication,
    type: 'file',
    help: 'CSV file with static bearer tokens. The format of each line is token,user,uid[,"group1,group2"].',
  },
  'requestheader-client-ca-file': {
    section: authentication,
    type: 'file',
    help: 'PEM file with the CA certificates that verify the client certificates of front proxies. The request headers of a verified proxy specify the user. Reloaded when it changes.',
  },
  'requestheader-allowed-names': {
    section: authentication,
    type: 'list',
    help: "Allowed common names of front proxies' client certificates. Default: any name is allowed.",
  },
  'requestheader-username-headers': {
    section: authentication,
    type: 'list',
    help: 'Headers that contain the user name, such as X-Remote-User. The first header that is present in a request is used.',
  },
  'requestheader-uid-headers': {
    section: authentication,
    type: 'list',
    help: 'Headers that contain the UID of the user, such as X-Remote-Uid. The first header that is present in a request is used.',
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
    help: 'Whether bootstrap tokens are accepted as bearer tokens. They are stored in Secrets of type bootstrap.kubernetes.io/token in the namespace kube-system. Nodes use them to join the cluster.',
  },
  'authentication-token-webhook-config-file': {
    section: authentication,
    type: 'file',
    help: 'Kubeconfig file of the webhook that authenticates bearer tokens through TokenReviews.',
  },
  'authentication-token-webhook-version': {
    section: authentication,
    type: 'string',
    default: 'v1beta1',
    choices: ['v1', 'v1beta1'],
    help: 'API version of the TokenReviews sent to the authentication webhook: v1 or v1beta1.',
  },
  'authentication-token-webhook-cache-ttl': {
    section: authentication,
    type: 'duration',
    default: '2m0s',
    help: 'Time for which responses of the authentication webhook are cached.',
  },
  'api-audiences': {
    section: authentication,
    type: 'list',
    help: 'Audiences of this API server. A service account token must be issued for at least one of them. Default: the first --service-account-issuer.',
  },
  'service-account-issuer': {
    section: authentication,
    type: 'list',
    help: 'Issuer of service account tokens, usually a URL. Can be repeated: new tokens have the first issuer, and tokens of all issuers are accepted.',
  },
  'service-account-jwks-uri': {
    section: authentication,
    type: 'string',
    help: "URL of the issuer's key set, which the OpenID discovery document contains. Default: the path /openid/v1/jwks of this server.",
  },
  'service-account-key-file': {
    section: authentication,
    type: 'list',
    help: 'PEM file with keys that verify service account tokens. Can be repeated. Default: the key in --service-account-signing-key-file.',
  },
  'service-account-extend-token-expiration': {
    section: authentication,
    type: 'boolean',
    default: 'true',
    help: 'Whether service account tokens of pods are valid for a year, so that clients that do not reload their token continue to work.',
  },
  'service-account-lookup': {
    section: authentication,
    type: 'boolean',
    default: 'true',
    help: 'Whether service account tokens in Secrets become invalid when their Secret or service account is deleted.',
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
    choices: ['Node', 'RBAC', 'ABAC', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'],
    help: 'Authorizers in the order in which they are called. Available authorizers: Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny.',
    swap: [
      {
        when: 'unset',
        change: 'the mode is Node,RBAC instead of AlwaysAllow',
        advice: 'create roles for your users first, or set it to AlwaysAllow',
      },
    ],
  },
  'authorization-config': {
    section: authorization,
    type: 'file',
    help: 'AuthorizationConfiguration file, which defines the authorizers in order, and the match conditions of webhooks. Cannot be combined with --authorization-mode or --authorization-webhook-* flags. Reloaded when it changes.',
  },
  'authorization-policy-file': {
    section: authorization,
    type: 'file',
    help: 'File with the policies of the ABAC authorizer, one JSON object per line.',
  },
  'authorization-webhook-config-file': {
    section: authorization,
    type: 'file',
    help: 'Kubeconfig file of the webhook that the Webhook authorizer calls.',
  },
  'authorization-webhook-version': {
    section: authorization,
    type: 'string',
    default: 'v1beta1',
    choices: ['v1', 'v1beta1'],
    help: 'API version of the SubjectAccessReviews sent to the authorization webhook: v1beta1 or v1.',
  },
  'authorization-webhook-cache-authorized-ttl': {
    section: authorization,
    type: 'duration',
    default: '5m0s',
    help: 'Time for which responses of the authorization webhook that allow a request are cached.',
  },
  'authorization-webhook-cache-unauthorized-ttl': {
    section: authorization,
    type: 'duration',
    default: '30s',
    help: 'Time for which responses of the authorization webhook that do not allow a request are cached.',
  },

  ...auditFlags,

  kubernetes: {
    section: generic,
    type: 'string',
    default: `1.${defaultMinor}`,
    choices: releaseNames,
    help: 'Kubernetes release of the server, such as 1.33, 1.33.x, or latest.',
  },
  controllers: {
    section: generic,
    type: 'list',
    default: '',
    choices: ownControllers,
    help: controllersHelp,
  },
  'root-ca-file': {
    section: generic,
    type: 'file',
    help: 'PEM file with the CA certificates that verify this server. The root-ca-certificate-publisher-controller publishes them to pods. Default: the last certificate in the chain of the serving certificate.',
  },
  'legacy-service-account-token-clean-up-period': {
    section: generic,
    type: 'duration',
    default: '8760h0m0s',
    help: 'Time for which a service account token in a Secret must be unused before the legacy-serviceaccount-token-cleaner-controller marks it as invalid. The token is deleted after it has been invalid for the same time.',
  },
  ...signingFlags,

  'advertise-address': {
    section: generic,
    type: 'address',
    help: 'IP address at which clients and other servers can reach this server. It is also in the endpoints of the Service default/kubernetes. Default: --bind-address. If --bind-address is 0.0.0.0, :: or a loopback address, the endpoints contain the first non-loopback address of the host.',
  },
  'external-hostname': {
    section: generic,
    type: 'string',
    help: 'Host name of this server, which is used in the URLs in discovery documents. Default: the value of --advertise-address.',
  },
  'feature-gates': {
    section: generic,
    type: 'map',
    help: 'Feature gates to enable or disable, as Name=true or Name=false. keelson serve --help lists the supported gates.',
  },
  'request-timeout': {
    section: generic,
    type: 'duration',
    default: '1m0s',
    help: 'Timeout of requests, except for watches and other long-running requests.',
  },
  'enable-priority-and-fairness': {
    section: features,
    type: 'boolean',
    default: 'true',
    help: 'Whether to queue requests by priority level and serve them fairly, as configured by FlowSchema and PriorityLevelConfiguration objects.',
    swap: [
      {
        when: /^(?:0|f|false)$/i,
        change: 'health checks are exempt from the limit of requests',
        advice: 'nothing needs to be done',
      },
    ],
  },
  'max-requests-inflight': {
    section: generic,
    type: 'integer',
    default: '400',
    help: 'The sum of this flag and --max-mutating-requests-inflight is the number of seats that all priority levels share. With --enable-priority-and-fairness=false, this flag is instead the maximum number of concurrent reads, excluding watches and other long-running requests; 0 means no limit.',
  },
  'max-mutating-requests-inflight': {
    section: generic,
    type: 'integer',
    default: '200',
    help: 'See --max-requests-inflight. With --enable-priority-and-fairness=false, this flag is the maximum number of concurrent writes; 0 means no limit.',
  },
  'request-memory-max': {
    section: generic,
    type: 'string',
    help: 'Maximum memory for requests in progress and responses that are not sent yet, such as 256Mi. Requests that would exceed it are rejected with 429. Default: a quarter of the memory available to the process, but between 64Mi and 1Gi.',
  },
  'cache-memory-max': {
    section: generic,
    type: 'string',
    help: "Maximum memory for cached objects, their recent history and data derived from them, such as 1Gi. Resources that do not fit are read from the database and cannot be watched. Default: two fifths of what remains of the process's memory limit after subtracting 192Mi, or unlimited if the process has no memory limit.",
  },
  'min-request-timeout': {
    section: generic,
    type: 'integer',
    default: '1800',
    help: 'Minimum duration in seconds of watches that do not set a timeout. Each watch gets a random duration between this value and twice this value.',
  },
  'shutdown-delay-duration': {
    section: generic,
    type: 'duration',
    default: '0s',
    help: 'Time for which the server still accepts requests after it is asked to stop. During this time, /readyz already fails.',
  },
  'shutdown-watch-termination-grace-period': {
    section: generic,
    type: 'duration',
    default: '0s',
    help: 'Period over which watches are closed when the server stops. 0 means that all watches are closed at once.',
  },
  'strict-transport-security-directives': {
    section: generic,
    type: 'list',
    help: 'Directives of the Strict-Transport-Security header in responses: max-age=SECONDS, includeSubDomains, preload. Default: the header is not sent.',
  },

  'runtime-config': {
    section: 'API enablement',
    type: 'map',
    help: 'API versions and resources to enable or disable: api/beta=true, resource.k8s.io/v1beta1=true, apps/v1=false, v1/pods=false. The keys api/all, api/ga, api/beta and api/alpha stand for all versions of that stability. Alpha and beta versions are disabled by default.',
  },
  'enable-admission-plugins': {
    section: 'Admission',
    type: 'list',
    choices: pluginOrder,
    help: `Admission plugins to enable in addition to the default plugins. Enabled by default: ${pluginsOnByDefault}. Available plugins: ${pluginsByName}. The order of the plugins in this flag does not matter.`,
  },
  'admission-control-config-file': {
    section: 'Admission',
    type: 'file',
    help: 'AdmissionConfiguration file, which contains the configurations of admission plugins.',
  },
  'disable-admission-plugins': {
    section: 'Admission',
    type: 'list',
    choices: pluginOrder,
    help: `Admission plugins to disable. Enabled by default: ${pluginsOnByDefault}. Available plugins: ${pluginsByName}. The order of the plugins in this flag does not matter.`,
  },
  'default-not-ready-toleration-seconds': {
    section: generic,
    type: 'integer',
    default: '300',
    help: 'Number of seconds for which a pod tolerates a node that is not ready, unless the pod specifies its own toleration.',
  },
  'default-unreachable-toleration-seconds': {
    section: generic,
    type: 'integer',
    default: '300',
    help: 'Number of seconds for which a pod tolerates an unreachable node, unless the pod specifies its own toleration.',
  },
  'enable-aggregator-routing': {
    section: misc,
    type: 'boolean',
    default: 'false',
    help: 'Whether webhooks and aggregated API servers behind a Service are called at the endpoints of the Service instead of its cluster IP.',
  },
  'admission-control': {
    section: 'Admission',
    type: 'list',
    choices: pluginOrder,
    help: `Deprecated: use --enable-admission-plugins or --disable-admission-plugins. The complete list of admission plugins to run. Available plugins: ${pluginsByName}.`,
  },

  'allow-privileged': {
    section: misc,
    type: 'boolean',
    default: 'false',
    help: 'Whether to allow privileged containers.',
  },
  'kubelet-certificate-authority': {
    section: misc,
    type: 'file',
    help: 'PEM file with the CA certificates that verify kubelets. If the flag is not set, the serving certificates of kubelets are not verified.',
  },
  'kubelet-client-certificate': {
    section: misc,
    type: 'file',
    help: 'PEM file with the client certificate that this server presents to kubelets.',
  },
  'kubelet-client-key': {
    section: misc,
    type: 'file',
    help: 'PEM file with the private key of --kubelet-client-certificate.',
  },
  'kubelet-preferred-address-types': {
    section: misc,
    type: 'list',
    default: 'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
    choices: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
    help: 'Types of node addresses to use for connections to kubelets, in order of preference.',
  },
  'endpoint-reconciler-type': {
    section: misc,
    type: 'string',
    default: 'lease',
    choices: ['lease', 'none', 'master-count'],
    help: 'How the endpoints of the Service default/kubernetes are maintained: lease or none. master-count is accepted as an alias of lease.',
    swap: [
      {
        when: /^master-count$/,
        change: 'works like lease: a dead server disappears sooner from the endpoints',
        advice: 'nothing needs to be done',
      },
    ],
  },
  'service-account-signing-endpoint': {
    section: misc,
    type: 'string',
    help: 'Unix socket of an external signer for service account tokens, which replaces key files: a path, or @name for an abstract socket. Requires the feature gate ExternalServiceAccountTokenSigner.',
  },
  'service-account-signing-key-file': {
    section: misc,
    type: 'file',
    help: 'PEM file with the private key (RSA or ECDSA) that signs service account tokens.',
  },
  'service-cluster-ip-range': {
    section: misc,
    type: 'string',
    help: 'CIDR range for the cluster IPs of Services. For dual-stack, two ranges, one for each IP family. Default: 10.0.0.0/24.',
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
    type: 'file',
    help: 'TracingConfiguration file, which defines the server that receives spans (OTLP over gRPC), and the sampling rate.',
  },

  'logging-format': {
    section: 'Logs',
    type: 'string',
    choices: ['text', 'json'],
    help: 'Log format: text or json. Default: text on a terminal, otherwise json.',
    swap: [
      {
        when: 'unset',
        change: 'the log is JSON unless standard error is a terminal',
        advice: 'set it to text if programs read the log',
      },
    ],
  },
  v: {
    section: 'Logs',
    type: 'integer',
    default: '0',
    help: 'Log verbosity. Level 2 logs details of each request, and level 4 also logs each authorization decision. To change it while the server runs, send a PUT request to /debug/flags/v.',
  },
  vmodule: {
    section: 'Logs',
    type: 'string',
    help: 'Log verbosity of individual components, as pattern=N,pattern=N. The components are access, aggregation, audit, cache, handle, http, requests, tracing, webhooks. To change it while the server runs, send a PUT request to /debug/flags/vmodule.',
  },

  profiling: {
    section: 'Features',
    type: 'boolean',
    default: 'true',
    help: 'Whether to serve profiles of the process under /debug/pprof/, and the log verbosity under /debug/flags/. Clients need permission for these paths.',
  },
  'debug-socket-path': {
    section: 'Features',
    type: 'string',
    help: 'Path of a Unix domain socket that also serves the /debug/ pages, without authentication and regardless of --profiling. Only the user that runs the process can connect.',
  },
} as const satisfies { readonly [name: string]: Flag }

const allFlags = { ...flagTable, ...laterFlags }

export type FlagName = keyof typeof allFlags

/** The flags of all releases. */
export const flags: { readonly [name in FlagName]: Flag } = allFlags

export const isFlagName = (name: string): name is FlagName => Object.hasOwn(allFlags, name)

/** Whether a release has a flag. */
export const hasFlag = (name: FlagName, release: number): boolean =>
  (flags[name].since ?? 0) <= release

/** Returns the flags of a release. Each flag has the default value that it has in this release. */
export const flagsOf = (release = defaultMinor): readonly (readonly [FlagName, Flag])[] =>
  Object.keys(flags)
    .filter(isFlagName)
    .filter((name) => hasFlag(name, release))
    .map((name) => {
      const later = laterDefaults.get(name)
      const isLater = later !== undefined && later.since <= release
      return [name, isLater ? { ...flags[name], default: later.value } : flags[name]]
    })

/**
 * Flags that kube-apiserver does not have: Keelson's own flags, and the flags of
 * kube-controller-manager for controllers that run in this server.
 */
export const ownFlagNames: ReadonlySet<string> = new Set([
  'kubernetes',
  'data-dir',
  'store',
  'testing',
  'testing-now',
  'etcd-user',
  'etcd-password-file',
  'request-memory-max',
  'cache-memory-max',
  'controllers',
  'root-ca-file',
  'legacy-service-account-token-clean-up-period',
  ...Object.keys(signingFlags),
])

/**
 * Returns a sentence about a flag that has no effect or accepts only its default. Returns an empty
 * string for all other flags.
 */
export function becomesOf({ unused, refused }: Flag): string {
  if (unused !== undefined) return ` Has no effect: ${unused}.`
  return refused === undefined ? '' : ` Only the default is accepted: ${refused}.`
}

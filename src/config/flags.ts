/**
 * The flags of `keelson serve`: parsing, validation and the help text all use this table. Names and
 * defaults are kube-apiserver's; all of its flags are here, also those that have no effect or are
 * refused, with the reason.
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
    help: 'Where etcd is, as URLs: http://127.0.0.1:2379.',
  },
  'etcd-servers-overrides': {
    section: etcd,
    type: 'list',
    help: 'Resources that another etcd has: group/resource#servers, as in /events#http://127.0.0.1:2479;http://127.0.0.2:2479.',
  },
  'data-dir': {
    section: etcd,
    type: 'string',
    help: 'Keep everything in this folder instead of etcd: one process, one machine; for development, tests and small installations.',
  },
  store: {
    section: etcd,
    type: 'string',
    help: 'Where objects are kept: etcd (--etcd-servers), sqlite (--data-dir), or memory, where they end with the process. By default what the other two flags say.',
  },
  testing: {
    section: etcd,
    type: 'boolean',
    default: 'false',
    help: 'A cluster in memory, on a free port and with certificates of its own, for tests: it prints where it is, ends with its standard input, and lets tests set faults, move its clock, fork it (docs/testing.md). Flags of addresses, certificates and the store have no effect then.',
  },
  'etcd-prefix': {
    section: etcd,
    type: 'string',
    default: '/registry',
    help: 'What all keys in etcd begin with.',
  },
  'etcd-cafile': {
    section: etcd,
    type: 'string',
    help: 'The authorities that etcd certificates must come from, PEM.',
  },
  'etcd-certfile': {
    section: etcd,
    type: 'string',
    help: "This server's certificate as a client of etcd, PEM.",
  },
  'etcd-keyfile': {
    section: etcd,
    type: 'string',
    help: 'The private key of --etcd-certfile, PEM.',
  },
  'etcd-user': {
    section: etcd,
    type: 'string',
    help: 'The user that this server is to etcd, with --etcd-password-file.',
  },
  'etcd-password-file': {
    section: etcd,
    type: 'string',
    help: 'A file with the password of --etcd-user. It is read again whenever etcd wants it.',
  },
  'allow-metric-labels': {
    section: 'Metrics',
    type: 'list',
    help: 'The values that a label of a metric may have: metric,label=value,value in quotes. Others are shown as unexpected.',
  },
  'allow-metric-labels-manifest': {
    section: 'Metrics',
    type: 'string',
    help: 'A YAML file with the same: a mapping from metric,label to value,value. Without effect with --allow-metric-labels.',
  },
  'disabled-metrics': {
    section: 'Metrics',
    type: 'list',
    help: 'Metrics that are not shown, by their whole names.',
  },
  'show-hidden-metrics-for-version': {
    section: 'Metrics',
    type: 'string',
    help: 'Show metrics that are deprecated for longer than a release: 1.32, the release before.',
  },
  'etcd-compaction-interval': {
    section: etcd,
    type: 'duration',
    default: '5m0s',
    help: 'How long history is kept in etcd, at least. 0 leaves it to others to compact.',
  },
  'encryption-provider-config': {
    section: etcd,
    type: 'string',
    help: 'An EncryptionConfiguration: which resources are encrypted in the database, how, and with which keys.',
  },
  'encryption-provider-config-automatic-reload': {
    section: etcd,
    type: 'boolean',
    default: 'false',
    help: 'Use --encryption-provider-config anew when the file changes.',
  },
  'event-ttl': {
    section: etcd,
    type: 'duration',
    default: '1h0m0s',
    help: 'How long events are kept.',
  },
  'storage-backend': { section: etcd, type: 'string', help: 'The one there is: etcd3.' },
  'storage-media-type': {
    section: etcd,
    type: 'string',
    default: 'application/json',
    help: 'The form in which built-in objects are stored: application/json or application/vnd.kubernetes.protobuf. With application/yaml it is JSON, which is YAML, too.',
  },
  'watch-cache': {
    section: etcd,
    type: 'boolean',
    default: 'true',
    help: 'Whether objects are kept in memory.',
    refused: 'all but writes is answered from memory, where the latest state is proven',
  },

  'bind-address': {
    section: serving,
    type: 'address',
    default: '0.0.0.0',
    help: 'The address to listen on.',
  },
  'secure-port': {
    section: serving,
    type: 'integer',
    default: '6443',
    help: 'The port to serve HTTPS on.',
  },
  'cert-dir': {
    section: serving,
    type: 'string',
    default: '/var/run/kubernetes',
    help: 'Where apiserver.crt and apiserver.key are; made there when absent. Ignored with --tls-cert-file.',
  },
  'tls-cert-file': {
    section: serving,
    type: 'string',
    help: "The server's certificate, PEM, with the intermediate ones behind it. Read again when it changes.",
  },
  'tls-private-key-file': {
    section: serving,
    type: 'string',
    help: 'The private key of --tls-cert-file, PEM.',
  },
  'tls-min-version': {
    section: serving,
    type: 'string',
    default: 'VersionTLS12',
    help: 'The oldest version of TLS that clients may use: VersionTLS12, VersionTLS13.',
  },
  'tls-cipher-suites': {
    section: serving,
    type: 'list',
    help: 'The cipher suites that clients with TLS 1.2 may use, by their IANA names. Without any: those with forward secrecy and authenticated encryption (ECDHE with GCM or ChaCha20).',
  },
  'disable-http2-serving': {
    section: serving,
    type: 'boolean',
    default: 'false',
    help: 'Whether clients are offered HTTP/1.1 only.',
  },
  'http2-max-streams-per-connection': {
    section: serving,
    type: 'integer',
    default: '0',
    help: 'How many requests may be open on one HTTP/2 connection. 0: 250.',
  },

  'anonymous-auth': {
    section: authentication,
    type: 'boolean',
    default: 'true',
    help: 'Whether requests without credentials are taken, as those of system:anonymous.',
  },
  'authentication-config': {
    section: authentication,
    type: 'string',
    help: 'An AuthenticationConfiguration: issuers of JSON web tokens, and which paths anonymous requests may have. Excludes --oidc-*.',
  },
  'client-ca-file': {
    section: authentication,
    type: 'string',
    help: 'The authorities of client certificates, PEM: the common name is the user, organizations are groups. Read again when it changes.',
  },
  'oidc-issuer-url': {
    section: authentication,
    type: 'string',
    help: 'The issuer of ID tokens, a URL with https. For more than one: --authentication-config.',
  },
  'oidc-client-id': {
    section: authentication,
    type: 'string',
    help: 'The audience that ID tokens must have.',
  },
  'oidc-ca-file': {
    section: authentication,
    type: 'string',
    help: "The authorities of the issuer's certificate, PEM. Without it: those of the system.",
  },
  'oidc-username-claim': {
    section: authentication,
    type: 'string',
    default: 'sub',
    help: 'The claim that becomes the name of the user.',
  },
  'oidc-username-prefix': {
    section: authentication,
    type: 'string',
    help: 'What names begin with. Default: the issuer and a #, but nothing for email addresses; - is nothing, too.',
  },
  'oidc-groups-claim': {
    section: authentication,
    type: 'string',
    help: 'The claim that has the groups of the user.',
  },
  'oidc-groups-prefix': {
    section: authentication,
    type: 'string',
    help: 'What the names of these groups begin with.',
  },
  'oidc-required-claim': {
    section: authentication,
    type: 'map',
    help: 'A claim that ID tokens must have, with its value: name=value.',
  },
  'oidc-signing-algs': {
    section: authentication,
    type: 'list',
    default: 'RS256',
    help: 'The algorithms that may sign ID tokens: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512.',
  },
  'token-auth-file': {
    section: authentication,
    type: 'string',
    help: 'A CSV file of bearer tokens: token,user,uid[,"group1,group2"].',
  },
  'requestheader-client-ca-file': {
    section: authentication,
    type: 'string',
    help: 'The authorities of front proxies, PEM: a proxy with a certificate of theirs says in headers who the user is. Read again when it changes.',
  },
  'requestheader-allowed-names': {
    section: authentication,
    type: 'list',
    help: 'The common names that certificates of front proxies may have. Without any: all.',
  },
  'requestheader-username-headers': {
    section: authentication,
    type: 'list',
    help: 'Headers that have the name of the user, as X-Remote-User; the first that is there counts.',
  },
  'requestheader-uid-headers': {
    section: authentication,
    type: 'list',
    help: 'Headers that have the uid of the user, as X-Remote-Uid; the first that is there counts.',
  },
  'requestheader-group-headers': {
    section: authentication,
    type: 'list',
    help: 'Headers that have a group of the user each, as X-Remote-Group.',
  },
  'requestheader-extra-headers-prefix': {
    section: authentication,
    type: 'list',
    help: 'What headers with other attributes of the user begin with, as X-Remote-Extra-.',
  },
  'enable-bootstrap-token-auth': {
    section: authentication,
    type: 'boolean',
    default: 'false',
    help: 'Whether Secrets of the type bootstrap.kubernetes.io/token in kube-system are tokens, with which nodes join.',
  },
  'authentication-token-webhook-config-file': {
    section: authentication,
    type: 'string',
    help: 'A kubeconfig with the server that is asked, with TokenReviews, whose a bearer token is.',
  },
  'authentication-token-webhook-version': {
    section: authentication,
    type: 'string',
    default: 'v1beta1',
    help: 'The version of these TokenReviews: v1 or v1beta1.',
  },
  'authentication-token-webhook-cache-ttl': {
    section: authentication,
    type: 'duration',
    default: '2m0s',
    help: 'How long its answers are kept.',
  },
  'api-audiences': {
    section: authentication,
    type: 'list',
    help: 'What tokens must be for to count here. Without any: the first --service-account-issuer.',
  },
  'service-account-issuer': {
    section: authentication,
    type: 'list',
    help: 'The issuer of service account tokens, usually a URL. Those of further ones count, too.',
  },
  'service-account-jwks-uri': {
    section: authentication,
    type: 'string',
    help: "Where others find the keys of the issuer, if not at this server's own address.",
  },
  'service-account-key-file': {
    section: authentication,
    type: 'list',
    help: 'Keys that verify service account tokens, PEM. Without any: that of --service-account-signing-key-file.',
  },
  'service-account-extend-token-expiration': {
    section: authentication,
    type: 'boolean',
    default: 'true',
    help: 'Whether tokens that kubelets project into pods live a year, for clients that never read them again.',
  },
  'service-account-lookup': {
    section: authentication,
    type: 'boolean',
    default: 'true',
    help: 'Tokens that secrets hold count only as long as their secret and their account exist.',
  },
  'service-account-max-token-expiration': {
    section: authentication,
    type: 'duration',
    default: '0s',
    help: 'How long a service account token lives at most. 0: as long as was asked for.',
  },

  'authorization-mode': {
    section: authorization,
    type: 'list',
    default: 'Node,RBAC',
    help: 'Authorizers in order: Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny.',
  },
  'authorization-config': {
    section: authorization,
    type: 'string',
    help: 'An AuthorizationConfiguration: authorizers in order, webhooks with their conditions. Instead of the other flags. Read again when it changes.',
  },
  'authorization-policy-file': {
    section: authorization,
    type: 'string',
    help: 'The policies of ABAC, a line of JSON each.',
  },
  'authorization-webhook-config-file': {
    section: authorization,
    type: 'string',
    help: 'The kubeconfig of the server that mode Webhook asks.',
  },
  'authorization-webhook-version': {
    section: authorization,
    type: 'string',
    default: 'v1beta1',
    help: 'The version of the SubjectAccessReviews that it is sent: v1beta1 or v1.',
  },
  'authorization-webhook-cache-authorized-ttl': {
    section: authorization,
    type: 'duration',
    default: '5m0s',
    help: 'How long its answers are kept that allow a request.',
  },
  'authorization-webhook-cache-unauthorized-ttl': {
    section: authorization,
    type: 'duration',
    default: '30s',
    help: 'How long its other answers are kept.',
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
    help: 'The CA by which pods know this server, for the root-ca-certificate-publisher-controller. Default: the last certificate of the serving chain.',
  },
  'legacy-service-account-token-clean-up-period': {
    section: generic,
    type: 'duration',
    default: '8760h0m0s',
    help: 'How long legacy tokens of service accounts may be unused before the legacy-serviceaccount-token-cleaner-controller deletes them.',
  },
  ...signingFlags,

  'advertise-address': {
    section: generic,
    type: 'address',
    help: 'The address at which clients reach this server. Default: the bind address.',
  },
  'external-hostname': {
    section: generic,
    type: 'string',
    help: 'The host name at which clients outside reach this server, for discovery.',
  },
  'feature-gates': {
    section: generic,
    type: 'map',
    help: "Name=true or Name=false, with kube-apiserver's names. The gates that change something are listed below.",
  },
  'request-timeout': {
    section: generic,
    type: 'duration',
    default: '1m0s',
    help: 'How long a request may take, watches aside.',
  },
  'enable-priority-and-fairness': {
    section: features,
    type: 'boolean',
    default: 'true',
    help: 'Whether requests wait in the queues of priority levels (FlowSchema, PriorityLevelConfiguration) and are served fairly.',
  },
  'max-requests-inflight': {
    section: generic,
    type: 'integer',
    default: '400',
    help: 'Together with --max-mutating-requests-inflight: the seats that priority levels share. With --enable-priority-and-fairness=false: how many reads may be under way at once, watches and other long-running requests aside; 0: any number.',
  },
  'max-mutating-requests-inflight': {
    section: generic,
    type: 'integer',
    default: '200',
    help: 'See --max-requests-inflight; with --enable-priority-and-fairness=false: how many writes may be under way at once; 0: any number.',
  },
  'request-memory-max': {
    section: generic,
    type: 'string',
    help: 'What requests under way and answers that are not taken yet may hold together: 256Mi. Beyond it requests are refused with 429. By default a quarter of the memory that the process may use, at most 1Gi.',
  },
  'cache-memory-max': {
    section: generic,
    type: 'string',
    help: 'What objects in memory, their recent past and other forms of them may take: 1Gi. Resources that do not fit are read from the database, and cannot be watched. By default two fifths of what the process may use beyond 192Mi, if that is limited from outside, else any amount.',
  },
  'min-request-timeout': {
    section: generic,
    type: 'integer',
    default: '1800',
    help: 'Seconds that a watch without a time of its own lasts at least; at most twice as long.',
  },
  'shutdown-delay-duration': {
    section: generic,
    type: 'duration',
    default: '0s',
    help: 'How long requests are still taken after the server was told to stop, while /readyz already fails.',
  },
  'shutdown-watch-termination-grace-period': {
    section: generic,
    type: 'duration',
    default: '0s',
    help: 'Over how long the ends of watches are spread when the server stops. 0: they end at once.',
  },
  'strict-transport-security-directives': {
    section: generic,
    type: 'list',
    help: 'What browsers are told by Strict-Transport-Security: max-age=SECONDS, includeSubDomains, preload. Without any: nothing.',
  },

  'runtime-config': {
    section: 'API enablement',
    type: 'map',
    help: 'Turns versions and resources on or off: api/beta=true, resource.k8s.io/v1beta1=true, apps/v1=false, v1/pods=false. api/all, api/ga, api/beta and api/alpha stand for all versions of a stage; alpha and beta versions are off by default.',
  },
  'enable-admission-plugins': {
    section: 'Admission',
    type: 'list',
    help: `Admission plugins that run besides those that do by default, which are ${pluginsOnByDefault}. Of: ${pluginsByName}. Their order in this flag does not matter.`,
  },
  'admission-control-config-file': {
    section: 'Admission',
    type: 'string',
    help: 'The file with the configurations of admission plugins: an AdmissionConfiguration.',
  },
  'disable-admission-plugins': {
    section: 'Admission',
    type: 'list',
    help: `Admission plugins that do not run although they do by default, as ${pluginsOnByDefault} do. Of: ${pluginsByName}. Their order in this flag does not matter.`,
  },
  'default-not-ready-toleration-seconds': {
    section: generic,
    type: 'integer',
    default: '300',
    help: 'How long pods tolerate a node that is not ready, unless they say so themselves.',
  },
  'default-unreachable-toleration-seconds': {
    section: generic,
    type: 'integer',
    default: '300',
    help: 'How long pods tolerate a node that is unreachable, unless they say so themselves.',
  },
  'enable-aggregator-routing': {
    section: misc,
    type: 'boolean',
    default: 'false',
    help: 'Whether webhooks behind a Service are called at its endpoints, not at its cluster IP.',
  },
  'admission-control': {
    section: 'Admission',
    type: 'list',
    help: `Deprecated, use --enable-admission-plugins or --disable-admission-plugins. The admission plugins that run, and no others: ${pluginsByName}.`,
  },

  'allow-privileged': {
    section: misc,
    type: 'boolean',
    default: 'false',
    help: 'Whether pods may ask for privileged containers.',
  },
  'kubelet-certificate-authority': {
    section: misc,
    type: 'string',
    help: 'Who signs the certificates of kubelets, PEM. Without it they are not checked.',
  },
  'kubelet-client-certificate': {
    section: misc,
    type: 'string',
    help: 'What kubelets are shown, PEM.',
  },
  'kubelet-client-key': { section: misc, type: 'string', help: 'The key to it, PEM.' },
  'kubelet-preferred-address-types': {
    section: misc,
    type: 'list',
    default: 'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
    help: 'Which addresses of nodes are taken, the first that there is.',
  },
  'endpoint-reconciler-type': {
    section: misc,
    type: 'string',
    default: 'lease',
    help: 'How the endpoints of the service default/kubernetes are kept: lease, or none. master-count is lease, too.',
  },
  'service-account-signing-endpoint': {
    section: misc,
    type: 'string',
    help: 'The socket of a signer of service account tokens, instead of keys: a path, or @name (gate ExternalServiceAccountTokenSigner).',
  },
  'service-account-signing-key-file': {
    section: misc,
    type: 'string',
    help: 'The private key that signs service account tokens, PEM: RSA or an elliptic curve.',
  },
  'service-cluster-ip-range': {
    section: misc,
    type: 'string',
    help: 'Where services get their addresses from: a CIDR range, or one for each family. Default: 10.0.0.0/24.',
  },
  'service-node-port-range': {
    section: misc,
    type: 'string',
    default: '30000-32767',
    help: 'The ports of nodes that services get, as in 30000-32767.',
  },

  ...servingFlags,
  ...tuningFlags,

  'tracing-config-file': {
    section: 'Traces',
    type: 'string',
    help: 'A file with a TracingConfiguration: where spans are sent to (OTLP over gRPC), and how many requests are traced.',
  },

  'logging-format': {
    section: 'Logs',
    type: 'string',
    help: 'text or json. Default: text on a terminal, else json.',
  },
  v: {
    section: 'Logs',
    type: 'integer',
    default: '0',
    help: 'How much is logged: from 2 on details of each request, from 4 on each decision on access. Changed while the server runs by a PUT to /debug/flags/v.',
  },
  vmodule: {
    section: 'Logs',
    type: 'string',
    help: 'The same for parts of the server: pattern=N,… Parts are access, aggregation, audit, cache, handle, http, tracing, webhooks. Changed by a PUT to /debug/flags/vmodule.',
  },

  profiling: {
    section: 'Features',
    type: 'boolean',
    default: 'true',
    help: 'Serve profiles of the process under /debug/pprof/, and /debug/flags/, for who may see these paths.',
  },
  'debug-socket-path': {
    section: 'Features',
    type: 'string',
    help: 'Serve them on a Unix domain socket at this path as well, without authentication, for the user of the process alone.',
  },
} as const satisfies { readonly [name: string]: Flag }

export type FlagName = keyof typeof flagTable

export const flags: { readonly [name in FlagName]: Flag } = flagTable

export const isFlagName = (name: string): name is FlagName => Object.hasOwn(flagTable, name)

/**
 * Those that kube-apiserver does not have: our own, and those of kube-controller-manager for
 * controllers that run here.
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

Serves the Kubernetes API on etcd, or on a store of its own. Flags have the names that they have for kube-apiserver; those of its flags that are not
listed here are refused by name.

${text}Feature gates with their stage and default. Setting one that is DEPRECATED logs a warning. Other gates of kube-apiserver are
accepted and have no effect:

${gates.map((line) => `  ${line}\n`).join('')}
  --help
        Shows this text.
`
}

/** What is said of a flag that changes nothing. */
export function becomesOf({ unused, refused }: Flag): string {
  if (unused !== undefined) return ` Has no effect: ${unused}.`
  return refused === undefined ? '' : ` Refused: ${refused}.`
}

function flagHelp([name, flag]: readonly [string, Flag]): string {
  const value = flag.type === 'boolean' ? '' : `=${flag.type}`
  const byDefault = flag.default === undefined ? '' : ` (default ${flag.default})`
  return `  --${name}${value}${byDefault}\n        ${flag.help}${becomesOf(flag)}\n`
}

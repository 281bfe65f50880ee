/** The flags of `keelson serve`, as data: parsing, checking and the help text all read this table. Names and defaults are kube-apiserver's. */

export type FlagType = 'string' | 'list' | 'integer' | 'boolean' | 'address'

export type Flag = {
  readonly type: FlagType
  /** Shown in the help text; undefined: there is no default. */
  readonly default?: string
  readonly help: string
}

const flagTable = {
  'advertise-address': {
    type: 'address',
    help: 'The address at which clients reach this server. Default: the bind address.',
  },
  'allow-privileged': {
    type: 'boolean',
    default: 'false',
    help: 'Whether pods may ask for privileged containers. No effect until pods are served.',
  },
  'authorization-mode': {
    type: 'list',
    help: 'Authorizers in order: RBAC, Node. Until they are there, members of system:masters may do everything and others only discovery.',
  },
  'bind-address': { type: 'address', default: '0.0.0.0', help: 'The address to listen on.' },
  'cert-dir': {
    type: 'string',
    default: '/var/run/kubernetes',
    help: 'Where apiserver.crt and apiserver.key are; made there when absent. Ignored with --tls-cert-file.',
  },
  controllers: {
    type: 'list',
    default: '*',
    help: 'Controllers that run inside the server: "*" all, "-x" not x, "-*" none. There are none yet.',
  },
  'disable-admission-plugins': {
    type: 'list',
    help: 'Admission plugins that are not to run. Known: ServiceAccount. None of them is there yet.',
  },
  'endpoint-reconciler-type': {
    type: 'string',
    default: 'lease',
    help: 'How the endpoints of the service default/kubernetes are kept: lease, none. No effect until services are served.',
  },
  'etcd-prefix': { type: 'string', default: '/registry', help: 'What all keys in etcd begin with.' },
  'etcd-servers': { type: 'list', help: 'Where etcd is, as URLs separated by commas: http://127.0.0.1:2379.' },
  'secure-port': { type: 'integer', default: '6443', help: 'The port to serve HTTPS on.' },
  'service-account-issuer': {
    type: 'list',
    help: 'The issuer of service account tokens. No effect until service accounts are served.',
  },
  'service-account-key-file': {
    type: 'list',
    help: 'Public keys that verify service account tokens. No effect until service accounts are served.',
  },
  'service-account-signing-key-file': {
    type: 'string',
    help: 'The private key that signs service account tokens. No effect until service accounts are served.',
  },
  'service-cluster-ip-range': {
    type: 'list',
    help: 'Where services get their addresses from, as CIDR ranges. No effect until services are served.',
  },
  'tls-cert-file': { type: 'string', help: "The server's certificate, PEM, with the intermediate ones behind it." },
  'tls-private-key-file': { type: 'string', help: 'The private key of --tls-cert-file, PEM.' },
  'token-auth-file': { type: 'string', help: 'A CSV file of bearer tokens: token,user,uid[,"group1,group2"].' },
} as const satisfies { readonly [name: string]: Flag }

export type FlagName = keyof typeof flagTable

export const flags: { readonly [name in FlagName]: Flag } = flagTable

export const isFlagName = (name: string): name is FlagName => Object.hasOwn(flagTable, name)

export function helpText(): string {
  const lines = Object.entries(flags).map(([name, flag]) => {
    const value = flag.type === 'boolean' ? '' : `=${flag.type}`
    const byDefault = flag.default === undefined ? '' : ` (default ${flag.default})`
    return `  --${name}${value}${byDefault}\n        ${flag.help}\n`
  })
  return `Usage: keelson serve --etcd-servers=URL [flags]

Serves the Kubernetes API on etcd.

Flags:
${lines.join('')}
  --help
        Shows this text.
`
}

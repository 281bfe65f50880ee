/**
 * Creates the configuration of a test cluster: that of `keelson serve`, with the flags that
 * `keelson dev` sets and with the shared credentials.
 */
import { releasesFor } from '../../api/releases.ts'
import { mastersGroup, type TokenEntry } from '../../api/user.ts'
import { checkArgs, type Config } from '../../config/config.ts'
import { type Log, silent } from '../../lib/telemetry/log.ts'
import { adminName, type Credentials } from './credentials.ts'

export type ConfigureOptions = {
  /**
   * The Kubernetes release of the cluster, such as `1.33`, `1.33.x` or `latest`. The clusters of a
   * process can have different releases. The default is 1.33.
   */
  readonly kubernetes?: string
  /**
   * Flags of `keelson serve`, such as `--feature-gates=CBORServingAndStorage=true`. Flags for the
   * store, for addresses and for certificates have no effect.
   */
  readonly flags?: readonly string[]
  /**
   * The controllers of kube-controller-manager that run in the server, such as garbage collection,
   * deletion of namespaces and service accounts. By default, all of them run. With `false`, none
   * run, as with envtest. A list has the same items as the --controllers flag.
   */
  readonly controllers?: boolean | readonly string[]
}

/** Returns the configuration. If flags are invalid, throws one error that contains all messages. */
export function configure(
  {
    kubernetes,
    flags = [],
    controllers = true,
    log = silent,
  }: ConfigureOptions & { readonly log?: Log },
  credentials: Credentials,
): Config {
  const release = kubernetes === undefined ? [] : [`--kubernetes=${kubernetes}`]
  const checked = checkArgs(
    [...usualFlags, ...release, ...controllerFlags(controllers), ...flags],
    { releases: releasesFor(process.env) },
  )
  if (checked.kind === 'faults') throw new Error([...checked.faults, ...checked.hints].join('\n'))
  const { config, warnings } = checked
  for (const warning of warnings) log('warn', warning)
  const { authority, clientCaPem, server } = credentials
  const { signing } = config.controllers
  return {
    ...config,
    // Values are stored as JSON, because the history decodes them without a schema.
    storage: { ...config.storage, media: 'json' },
    network: { ...config.network, bindAddress: '127.0.0.1', port: 0 },
    tls: { ...config.tls, certificate: { kind: 'given', certificate: server } },
    authentication: {
      ...config.authentication,
      clientCaPem,
      tokens: [...config.authentication.tokens, adminToken(credentials.token)],
      serviceAccounts: serviceAccountsOf(config, credentials),
    },
    controllers: {
      ...config.controllers,
      rootCaPem: authority.certificatePem,
      signing:
        signing.pairs.length > 0 ? signing : { ...signing, pairs: [signingPair(credentials)] },
    },
  }
}

/**
 * Returns the configuration of ServiceAccounts. A fork that has its own keys signs tokens with
 * them, even if a flag specifies a key. The original cluster accepts tokens that are signed with
 * the key of the flag, so such a fork must not use this key.
 */
function serviceAccountsOf(
  { authentication: { serviceAccounts } }: Config,
  { accountKeyPem, otherAccountKeyPems }: Credentials,
): Config['authentication']['serviceAccounts'] {
  const given = serviceAccounts?.signing
  const isFork = otherAccountKeyPems.length > 0
  if (serviceAccounts !== null && (!isFork || given?.kind !== 'key')) return serviceAccounts
  const verifyingPems = [
    accountKeyPem,
    ...otherAccountKeyPems,
    ...(given?.kind === 'key' ? given.verifyingPems : []),
  ]
  return {
    ...(serviceAccounts ?? usualAccounts),
    signing: { kind: 'key', pem: accountKeyPem, verifyingPems },
  }
}

const issuer = 'https://kubernetes.default.svc'

const usualAccounts = {
  issuers: [issuer],
  audiences: [issuer],
  extendsExpiration: true,
  secondsMax: null,
  jwksUri: null,
} as const

const usualFlags = [
  '--store=memory',
  '--bind-address=127.0.0.1',
  '--allow-privileged=true',
  // No test connects through the Service `kubernetes`, so its endpoints are not maintained. The
  // server would have to renew them all the time.
  '--endpoint-reconciler-type=none',
] as const

function controllerFlags(controllers: boolean | readonly string[]): readonly string[] {
  if (controllers === true)
    return ['--controllers=*,bootstrap-signer-controller,token-cleaner-controller']
  const named = controllers === false ? [] : controllers
  // Without the controller that creates ServiceAccounts, the ServiceAccount admission plugin would
  // reject every Pod.
  const accounts = named.some((name) => name === '*' || name === 'serviceaccount-controller')
  return [
    `--controllers=${named.join(',')}`,
    ...(accounts ? [] : ['--disable-admission-plugins=ServiceAccount']),
  ]
}

const adminToken = (token: string): TokenEntry => ({
  token,
  user: { name: adminName, uid: '', groups: [mastersGroup] },
})

const signingPair = ({
  clientAuthority,
}: Credentials): Config['controllers']['signing']['pairs'][number] => ({
  signers: [
    'kubernetes.io/kube-apiserver-client',
    'kubernetes.io/kube-apiserver-client-kubelet',
    'kubernetes.io/kubelet-serving',
    'kubernetes.io/legacy-unknown',
  ],
  certificatePath: '',
  keyPath: '',
  ...clientAuthority,
})

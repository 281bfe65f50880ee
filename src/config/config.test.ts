import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { formatCidr } from '../api/ip.ts'
import { printHelp } from '../lib/process/command-help.ts'
import { checkArgs, type Config } from './config.ts'
import { flagsOf, ownFlagNames } from './flags.ts'
import { serveHelp } from './serve-help.ts'

const dir = mkdtempSync(join(tmpdir(), 'keelson-config-'))
after(() => rmSync(dir, { recursive: true }))

const etcd = '--etcd-servers=http://127.0.0.1:2379'

function configOf(...args: readonly string[]): Config {
  const checked = checkArgs(args)
  if (checked.kind === 'faults') assert.fail(checked.faults.join())
  return checked.config
}

function faultsOf(...args: readonly string[]): readonly string[] {
  const checked = checkArgs(args)
  return checked.kind === 'faults' ? checked.faults : []
}

const tokensPath = join(dir, 'tokens.csv')
writeFileSync(tokensPath, 'secret,admin,1,"system:masters"\n')
const severalFlags = [
  etcd,
  '--secure-port',
  '1234',
  '--bind-address=127.0.0.1',
  '--cert-dir=/c',
  `--token-auth-file=${tokensPath}`,
  '--allow-privileged',
  '--authorization-mode=Node,RBAC',
  // These two flags are set to their default values.
  '--profiling',
  '--goaway-chance=0',
]

/**
 * The configuration that the flags in `severalFlags` should result in, without the sections that
 * other tests cover.
 */
const configOfSeveralFlags = {
  storage: {
    store: { kind: 'etcd', servers: ['http://127.0.0.1:2379'], tls: null },
    overrides: [],
    prefix: '/registry',
    media: 'json',
    compactionMs: 300_000,
    encryption: null,
    eventTtlSeconds: 3600,
    sizePollMs: 30_000,
    leaseReuseSecondsMax: 60,
  },
  network: {
    bindAddress: '127.0.0.1',
    port: 1234,
    advertiseAddress: '127.0.0.1',
    endpointAddress: '0.0.0.0',
    externalHost: '127.0.0.1',
    egress: null,
  },
  tls: {
    certificate: { kind: 'folder', path: '/c' },
    minVersion: 'TLSv1.2',
    ciphers: null,
    curves: null,
  },
  serving: {
    namedCertificates: [],
    corsOrigins: [],
    goawayChance: 0,
    livezGraceMs: 0,
    sendsRetryAfter: false,
    fillMsMax: 60_000,
    sharesPort: false,
    tunnelBytesPerSecondMax: 0,
    servesHttp2: true,
    streamsPerConnectionMax: null,
    strictTransportSecurity: null,
    stopDelayMs: 0,
    watchGraceMs: 0,
  },
  requests: {
    hasFairness: true,
    inFlight: { readOnlyMax: 400, mutatingMax: 200 },
    deleteWorkers: 1,
    collectsGarbage: true,
    timeoutMs: 60_000,
    watchMsMin: 1_800_000,
    memory: { requestBytesMax: null, cacheBytesMax: null },
  },
  authentication: {
    anonymous: { isEnabled: true, paths: [] },
    requestHeader: null,
    hasBootstrapTokens: false,
    looksUpServiceAccounts: true,
    jwt: [],
    signingAlgorithms: [],
    file: null,
    webhook: null,
    tokens: [{ token: 'secret', user: { name: 'admin', uid: '1', groups: ['system:masters'] } }],
    serviceAccounts: null,
    clientCaPem: null,
    clientCaPath: null,
  },
  authorization: {
    authorizers: [
      { type: 'Node', name: 'node' },
      { type: 'RBAC', name: 'rbac' },
    ],
    file: null,
  },
  aggregation: { callsEndpoints: false, proxyClient: null },
  controllers: {
    names: [],
    rootCaPem: null,
    legacyTokenPeriodMs: 365 * 24 * 3_600_000,
    signing: { pairs: [], durationMs: 365 * 24 * 3_600_000 },
  },
  telemetry: {
    audit: { policy: null, log: null, webhook: null },
    metrics: { release: 33, allowedLabels: new Map(), disabled: new Set(), showsHidden: false },
    tracing: null,
    logging: { format: 'auto', verbosity: 0, modules: [] },
    hasProfiles: true,
    debugSocketPath: null,
  },
}

test('flags are converted to one frozen configuration', () => {
  const config = configOf(...severalFlags)
  for (const [name, group] of Object.entries(configOfSeveralFlags)) {
    assert.deepEqual({ ...config }[name], group, name)
  }
  assert.ok(Object.isFrozen(config.authentication.tokens[0]?.user.groups))
})

test('flags that are not set have their default values', () => {
  const { admission, cluster, runtime } = configOf(...severalFlags)
  const { kubelet, services } = cluster
  assert.deepEqual(runtime.emulation, {
    release: 33,
    minor: 33,
    minCompatibility: 32,
    isForwardCompatible: false,
    isRuntimeConfigForwardCompatible: false,
  })
  assert.ok(admission.allowsPrivileged)
  assert.deepEqual(
    [kubelet.addressTypes[0], kubelet.caPem, kubelet.client],
    ['Hostname', null, null],
  )
  assert.deepEqual(services.ranges.map(formatCidr), ['10.0.0.0/24'])
  assert.deepEqual(services.nodePorts, { first: 30_000, last: 32_767 })
})

test('plugins, feature gates and APIs have the defaults of kube-apiserver', () => {
  const { admission, featureGates, runtime } = configOf(...severalFlags)
  assert.ok(admission.isOn('ServiceAccount') && !admission.isOn('NodeRestriction'))
  assert.ok(featureGates.isOn('APIResponseCompression') && !featureGates.isOn('ContextualLogging'))
  assert.ok(!featureGates.isOn('WatchList') && featureGates.isOn('APIServerIdentity'))
  assert.ok(runtime.isServed({ group: 'apps', version: 'v1', plural: 'deployments' }))
})

test('the configuration contains the values of all flags as text', () => {
  const { flagValues } = configOf(...severalFlags)
  const shown = [
    'secure-port',
    'bind-address',
    'authorization-mode',
    'tls-cipher-suites',
    'client-ca-file',
  ]
  assert.deepEqual(
    shown.map((name) => flagValues.get(name)),
    ['1234', '127.0.0.1', '[Node,RBAC]', '[]', ''],
  )
})

/** Returns the storage configuration, or the errors about it. */
const storeOf = (...args: readonly string[]): unknown => {
  const checked = checkArgs(args)
  return checked.kind === 'config'
    ? checked.config.storage.store
    : checked.faults.filter((one) => /store|etcd|data/.test(one))
}

test('--store, --etcd-servers and --data-dir select the store, and conflicting values are refused', () => {
  const servers = ['http://127.0.0.1:2379']
  assert.deepEqual(storeOf(etcd), { kind: 'etcd', servers, tls: null })
  assert.deepEqual(storeOf(etcd, '--store=etcd'), { kind: 'etcd', servers, tls: null })
  const login = { user: 'root', passwordPath: import.meta.filename }
  const flagsOfLogin = [`--etcd-user=${login.user}`, `--etcd-password-file=${login.passwordPath}`]
  assert.deepEqual(storeOf(etcd, ...flagsOfLogin), { kind: 'etcd', servers, tls: null, login })
  assert.match(
    faultsOf(etcd, '--etcd-user=root').join(),
    /set both --etcd-user and --etcd-password-file, or neither/,
  )
  assert.deepEqual(storeOf('--data-dir=/x'), { kind: 'sqlite', folder: '/x' })
  assert.deepEqual(storeOf('--store=memory'), { kind: 'memory' })
  assert.deepEqual(storeOf('--store=memory', etcd), [
    '--etcd-servers cannot be used with --store=memory: leave one of them out',
  ])
  assert.deepEqual(storeOf('--store=memory', '--data-dir=/x'), [
    '--data-dir cannot be used with --store=memory: leave one of them out',
  ])
  assert.deepEqual(storeOf('--store=sqlite'), [
    '--store=sqlite requires --data-dir, the folder to store everything in',
  ])
  assert.deepEqual(storeOf(etcd, '--store=disk'), [
    '--store "disk" invalid, allowed values: etcd, sqlite, memory',
  ])
  assert.deepEqual(storeOf(etcd, '--data-dir=/x'), [
    '--data-dir cannot be used with etcd: leave out either --data-dir or --etcd-servers',
  ])
})

test('all errors in the flags are reported together', () => {
  const faults = faultsOf(
    '--nope=1',
    '--secure-port=0',
    'word',
    '--bind-address=here',
    '--token-auth-file=/none',
  )
  assert.equal(faults.length, 6)
  const all = faults.join('\n')
  for (const part of [
    'unknown flag: --nope',
    '"keelson serve" does not take any arguments, got ["word"]',
    '--etcd-servers must',
    '--secure-port 0',
    'failed to parse IP: "here"',
    '/none',
  ]) {
    assert.ok(all.includes(part), part)
  }
})

test('the words of a flag name can be separated by underscores, and -v accepts its level in several forms', () => {
  const port = (...args: readonly string[]) => configOf(etcd, ...args).network.port
  assert.deepEqual([port('--secure_port=7443'), port('--secure_port', '7444')], [7443, 7444])
  const level = (...args: readonly string[]) => configOf(etcd, ...args).telemetry.logging.verbosity
  assert.deepEqual([level('-v4'), level('-v=5'), level('-v', '6'), level('--v=7')], [4, 5, 6, 7])
  assert.deepEqual(faultsOf(etcd, '-v'), ["flag needs an argument: 'v' in -v"])
  assert.deepEqual(faultsOf(etcd, '--secure_port'), ['flag needs an argument: --secure_port'])
  assert.deepEqual(faultsOf(etcd, '--no_such'), ['unknown flag: --no_such'])
  assert.equal(port('--help=false', '--version=0', '--secure-port=7445'), 7445)
})

const refusals: readonly [string, RegExp][] = [
  [
    '--secure-port=x',
    /invalid argument "x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax/,
  ],
  ['--secure-port=99999999999999999999', /strconv.ParseInt: parsing "9+": value out of range/],
  [
    '--request-timeout=5',
    /invalid argument "5" for "--request-timeout" flag: time: missing unit in duration "5"/,
  ],
  ['--request-timeout=-1s', /--request-timeout can not be negative value/],
  ['--min-request-timeout=-1', /--min-request-timeout can not be negative value/],
  ['--anonymous-auth=maybe', /strconv.ParseBool: parsing "maybe": invalid syntax/],
  ['--bind-address=localhost', /failed to parse IP: "localhost"/],
  ['--bind-address=', /failed to parse IP: ""/],
  ['--bind-address=fe80::1%eth0', /failed to parse IP: "fe80::1%eth0"/],
  [
    '--allow-metric-labels=m=1',
    /--allow-metric-labels must have a list of kv pair with format `metricName,labelName=/,
  ],
  ['--allow-metric-labels=m', /m must be formatted as key=value/],
  ['--show-hidden-metrics-for-version=1.33', /must be omitted or have the value '1.32'/],
  ['--tls-cipher-suites=TLS_NONE', /Cipher suite TLS_NONE not supported or doesn't exist/],
  ['--tls-min-version=VersionTLS99', /unknown tls version "VersionTLS99"/],
  ['--storage-media-type=application/xml', /invalid, allowed values: application\/json, /],
  ['--storage-backend=etcd2', /--storage-backend invalid, allowed values: etcd3/],
  ['--logging-format=x', /format: Invalid value: "x": Unsupported log format/],
  ['--client-ca-file=/none', /^open \/none: no such file or directory$/],
  ['--audit-policy-file=/none', /loading audit policy file: failed to read file path "\/none"/],
  ['--goaway-chance=1', /--goaway-chance can not be less than 0 or greater than 0.02/],
  ['--goaway-chance=x', /strconv.ParseFloat: parsing "x": invalid syntax/],
  [
    '--aggregator-reject-forwarding-redirect=false',
    /^--aggregator-reject-forwarding-redirect is not supported, since/,
  ],
  [
    '--cors-allowed-origins=(',
    /invalid regular expression: error parsing regexp: missing closing \): `\(`, help: /,
  ],
  ['--cors-allowed-origins=example.com', /does not pin to start\/end of host/],
  ['--cors-allowed-origins=//a$,', /^empty value in --cors-allowed-origins, help: /],
  [`--cors-allowed-origins=^${'a{1000}'.repeat(3)}$`, /regular expression is too long/],
  ['--livez-grace-period=-1s', /--livez-grace-period can not be a negative value/],
  ['--shutdown-watch-termination-grace-period=-1s', /if provided, can not be a negative value/],
  [
    '--storage-initialization-timeout=-1s',
    /--storage-initialization-timeout can not be negative value/,
  ],
  [
    '--tls-sni-cert-key=x',
    /"--tls-sni-cert-key" flag: expected comma separated certificate and key file paths/,
  ],
  ['--tls-sni-cert-key=a,b:', /empty names list is not allowed/],
  ['--tls-sni-cert-key=a,b:192.0.2.1', /192\.0\.2\.1 is not a host name/],
  [
    '--tls-sni-cert-key=/a,/b',
    /^failed to load SNI cert and key: open \/a: no such file or directory$/,
  ],
  ['--watch-cache-sizes=pods', /^invalid value of watch cache size: pods$/],
  ['--watch-cache-sizes=pods#x', /^invalid size of watch cache size: pods#x$/],
  ['--watch-cache-sizes=pods#-1', /^watch cache size cannot be negative: pods#-1$/],
  [
    '--apiserver-count=0',
    /^--apiserver-count should be a positive number, but value '0' provided$/,
  ],
  [
    '--kubernetes-service-node-port=80',
    /^kubernetes service node port range 30000-32767 doesn't contain 80$/,
  ],
  [
    '--kubernetes-service-node-port=-1',
    /^--kubernetes-service-node-port -1 must be between 0 and 65535, inclusive/,
  ],
  [
    '--service-cluster-ip-range=fd00::/108 --advertise-address=192.0.2.10',
    /must match public address family "192/,
  ],
  [
    '--log-flush-frequency=x',
    /^invalid argument "x" for "--log-flush-frequency" flag: time: invalid duration "x"$/,
  ],
  [
    '--log-json-split-stream',
    /^options.json.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled$/,
  ],
  [
    '--log-text-info-buffer-size=1Ki',
    /^options.text.infoBufferSize: Forbidden: Feature LoggingAlphaOptions/,
  ],
  ['--log-text-info-buffer-size=x', /quantities must match the regular expression/],
  [
    '-vx',
    /^invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax$/,
  ],
  [
    '--v=-1',
    /^invalid argument "-1" for "-v, --v" flag: strconv.ParseUint: parsing "-1": invalid syntax$/,
  ],
  ['--enable-logs-handler', /^--enable-logs-handler is not supported, since/],
  [
    '--peer-ca-file=/x',
    /^--peer-ca-file requires UnknownVersionInteroperabilityProxy feature to be turned on$/,
  ],
  [
    '--egress-selector-config-file=/none',
    /^failed to read egress selector config: unable to read .* \[open \/none/,
  ],
  ['--emulated-version=x', /^could not parse "x" as version$/],
  ['--emulated-version=1.33.1', /^patch version not allowed, got: kube=1.33.1$/],
  ['--emulated-version=1.34', /^emulation version 1.34 is not between \[1.31, 1.33.0\]$/],
  [
    '--emulated-version=1.31 --feature-gates=DeclarativeValidation=true',
    /feature is PreAlpha at emulated version 1.31$/,
  ],
  [
    '--emulated-version=1.32 --runtime-config=networking.k8s.io/v1/ipaddresses=true',
    /^cannot enable resource networking.k8s.io\/v1, Resource=ipaddresses in runtime-config because it is introduced at 1.33/,
  ],
  [
    '--emulated-version=1.31 --runtime-config=resource.k8s.io/v1beta1=true',
    /^cannot enable version resource.k8s.io\/v1beta1 in runtime-config because all the resources/,
  ],
  [
    '--emulation-forward-compatible',
    /EmulationForwardCompatible cannot be set to true if the emulation version/,
  ],
  ['--max-requests-inflight=-1', /--max-requests-inflight can not be negative value/],
  [
    '--vmodule=x',
    /invalid argument "x" for "--vmodule" flag: "x" does not have the pattern=N format/,
  ],
  ['--feature-gates=Nope=true', /unrecognized feature gate: Nope/],
  ['--feature-gates=WatchList', /missing bool value for WatchList/],
  ['--feature-gates=WatchList=maybe', /invalid value of WatchList=maybe, err: strconv.ParseBool/],
  ['--feature-gates=x:WatchList=true', /component not registered: x/],
  [
    '--feature-gates=StructuredAuthorizationConfiguration=false',
    /to false, feature is locked to true/,
  ],
  ['--feature-gates=ServerSideApply=true', /unrecognized feature gate: ServerSideApply/],
  ['--runtime-config=nope/v1=true', /unknown api groups nope/],
  ['--runtime-config=apps/v9=true', /group version apps\/v9 that has not been registered/],
  ['--runtime-config=apps/v1=maybe', /invalid value of apps\/v1: maybe, err: strconv.ParseBool/],
  ['--runtime-config=api/gamma=true', /unknown api groups api/],
  ['--runtime-config=a/b/c/d=true', /runtime-config invalid key a\/b\/c\/d/],
  ['--runtime-config=api/all=false', /invalid key with only api\/all=false/],
  [
    '--runtime-config=apps/v1/Deployments=true',
    /resource is always lowercase plural, not "Deployments"/,
  ],
  [
    '--runtime-config=apps/v9beta1=true',
    /group version apps\/v9beta1 that has not been registered/,
  ],
  [
    '--strict-transport-security-directives=max-age',
    /invalid, allowed values: max-age=expireTime, /,
  ],
  [
    '--strict-transport-security-directives=preload,',
    /^empty value in strict-transport-security-directives$/,
  ],
  ['--secure-port=65536', /--secure-port 65536 must be between 1 and 65535/],
  ['--tls-cert-file=/none', /^missing filename for serving cert$/],
  [
    '--tls-cert-file=/none --tls-private-key-file=/none',
    /^open \/none: no such file or directory$/,
  ],
  ['--authorization-mode=RBAC,RBAC', /more than once/],
  ['--root-ca-file=/none', /open \/none: no such file or directory/],
  ['--cluster-signing-cert-file=/none', /"cluster-signing": cannot specify cert without key/],
  [
    '--cluster-signing-kubelet-client-key-file=/none',
    /"cluster-signing-kube-apiserver-client": cannot specify key without cert/,
  ],
  ['--legacy-service-account-token-clean-up-period=0s', /invalid CleanUpPeriod: 0s/],
  ['--controllers=deployment-controller', /deployment-controller does not run in Keelson/],
  ['--controllers=*,-nope', /"nope" is not in the list of known controllers/],
  ['--authorization-mode=Nope', /authorization-mode "Nope" is not a valid mode/],
  [
    '--authorization-mode=Webhook',
    /authorization-mode Webhook's authorization config file not passed/,
  ],
  ['--oidc-client-id=c', /oidc-issuer-url and oidc-client-id must be specified together/],
  ['--authentication-config=/none', /open \/none: no such file or directory/],
  ['--requestheader-client-ca-file=/none', /open \/none: no such file or directory/],
  ['--requestheader-username-headers=,', /empty value in "requestheader-username-headers"/],
  ['--endpoint-reconciler-type=nope', /^Reconciler not implemented: nope$/],
  ['--allow-privileged=perhaps', /strconv.ParseBool/],
  ['--service-cluster-ip-range=10.0.0.0', /service-cluster-ip-range\[0\] is not a valid cidr/],
  ['--service-cluster-ip-range=10.0.0.0/16,10.1.0.0/16', /must be of different IP family/],
  [
    '--service-cluster-ip-range=10.0.0.0/16,fd00::/64',
    /\[1\] is too large; for 128-bit addresses, the mask must be >= 108/,
  ],
  [
    '--service-cluster-ip-range=2001:db8::/64',
    /specified --service-cluster-ip-range is too large; for 128-bit addresses, the mask must be >= 108/,
  ],
  ['--service-cluster-ip-range=10.0.0.0/30', /must be at least 8 IP addresses/],
  ['--service-node-port-range=32767-30000', /end port cannot be less than start port: 32767-30000/],
  ['--service-node-port-range=30000-70000', /cannot be greater than 65535/],
  ['--service-node-port-range=x', /strconv.Atoi: parsing "x": invalid syntax/],
  ['--service-account-issuer=', /service-account-issuer should not be an empty string/],
  [
    '--service-account-issuer=a --service-account-issuer=a',
    /service-account-issuer "a" is already specified/,
  ],
  [
    '--service-account-issuer=https://a:b',
    /contained a ':' but was not a valid URL: parse "https:\/\/a:b": invalid port ":b" after host/,
  ],
  [
    '--service-account-jwks-uri=https://%zz',
    /must be a valid URL: parse "https:\/\/%zz": invalid URL escape "%zz"/,
  ],
  ['--service-account-key-file=/none', /service-account-issuer is a required flag/],
  ['--service-account-key-file=/none', /open \/none: no such file or directory/],
  ['--disable-admission-plugins=Nope', /disable-admission-plugins plugin "Nope" is unknown/],
  ['--enable-admission-plugins=Nope', /enable-admission-plugins plugin "Nope" is unknown/],
  ['--enable-admission-plugins="Priority,LimitRanger"', /plugin "Priority,LimitRanger" is unknown/],
  ['--enable-admission-plugins=Priority,', /enable-admission-plugins plugin "" is unknown/],
  ['--kubelet-preferred-address-types=a"b', /bare "/],
  [
    '--enable-admission-plugins=EventRateLimit',
    /couldn't init admission plugin "EventRateLimit": limits: Invalid value/,
  ],
  ['--admission-control=Nope', /^admission-control plugin "Nope" is unknown$/],
  [
    '--admission-control=Priority --enable-admission-plugins=',
    /^admission-control and enable-admission-plugins\/disable-admission-plugins flags are mutually exclusive$/,
  ],
  ['--admission-control= --disable-admission-plugins=Priority', /are mutually exclusive$/],
  [
    '--enable-admission-plugins=Priority,LimitRanger --disable-admission-plugins=Priority,LimitRanger',
    /\[LimitRanger Priority\] in enable-admission-plugins and disable-admission-plugins overlapped/,
  ],
  [
    '--feature-gates=AuthorizeWithSelectors=false',
    /^AuthorizeNodeWithSelectors feature requires AuthorizeWithSelectors feature to be enabled$/,
  ],
  ['--etcd-prefix', /^flag needs an argument: --etcd-prefix$/],
]
for (const [flag, message] of refusals) {
  test(`the flag ${flag} is refused`, () => {
    const faults = flag.startsWith('--etcd-servers')
      ? faultsOf(flag)
      : faultsOf(etcd, ...flag.split(' '))
    assert.ok(
      faults.some((fault) => message.test(fault)),
      faults.join('\n'),
    )
  })
}

test('the help text describes every flag', () => {
  const text = printHelp(serveHelp())
  for (const [name] of flagsOf()) assert.ok(text.includes(`--${name}`), name)
})

test('the flag table contains every flag of kube-apiserver', () => {
  // kube-apiserver has 172 flags. They include --help and --version, which are not in the flag
  // table. `ownFlagNames` lists the flags that only Keelson has.
  assert.equal(flagsOf().length + 2 - ownFlagNames.size, 172)
})

const origins = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `^https://app-${at}\\.apps\\.example\\.com(:[0-9]+)?$`,
  ).join()

test('a hundred CORS origins are allowed, and a thousand are refused', () => {
  const checked = checkArgs([etcd, `--cors-allowed-origins=${origins(100)}`])
  assert.ok(checked.kind === 'config')
  assert.equal(checked.config.serving.corsOrigins.length, 100)
  const [last] = checked.config.serving.corsOrigins.slice(-1)
  assert.ok(last?.test('https://app-99.apps.example.com:8443'))
  assert.match(
    faultsOf(etcd, `--cors-allowed-origins=${origins(1000)}`).join(),
    /too many or too long/,
  )
})

function hintsOf(...args: readonly string[]): readonly string[] {
  const checked = checkArgs(args)
  return checked.kind === 'faults' ? checked.hints : []
}

test('an error message that does not say how to correct a flag is followed by a hint', () => {
  assert.match(hintsOf('--nope', etcd).join(), /keelson serve --help/)
  assert.match(hintsOf().join(), /--data-dir/)
  assert.match(hintsOf(etcd, '--tls-cert-file=/none').join(), /--tls-private-key-file is missing/)
  assert.match(hintsOf(etcd, '--tls-cipher-suites=TLS_NONE').join(), /IANA names/)
})

for (const [given, hint] of [
  ['--secure-prt=1', '--secure-prt: did you mean --secure-port?'],
  ['--port=1', '--port: did you mean --secure-port?'],
  ['--tls-cert=a', '--tls-cert: did you mean --tls-cert-file?'],
  ['--in_memory', '--in-memory: did you mean --store?'],
  [
    '--enable-admission-plugins=Podsecurty',
    '--enable-admission-plugins: Podsecurty: did you mean PodSecurity?',
  ],
  [
    '--disable-admission-plugins=quota',
    '--disable-admission-plugins: quota: did you mean ResourceQuota?',
  ],
  ['--feature-gates=WatchLst=true', '--feature-gates: WatchLst: did you mean WatchList?'],
  ['--runtime-config=app/v1', '--runtime-config: app: did you mean apps?'],
  ['--runtime-config=apps/v3', '--runtime-config: apps has the versions v1, v1beta2, v1beta1'],
  ['--runtime-config=api/beat=true', '--runtime-config: api/beat: did you mean api/beta?'],
] as const)
  test(`the hint for ${given} is ${hint}`, () => {
    assert.equal(hintsOf(given, etcd)[0], hint)
  })

test('a gate that does not exist in the emulated version gets no suggestion', () => {
  const gates = ['--emulated-version=1.31', '--feature-gates=HPAConfigurableTolerance=true']
  assert.deepEqual(hintsOf(...gates, etcd), [])
})

test('errors and hints of keelson dev name this command and suggest flags of this command', () => {
  const checked = checkArgs(['help', '--ephemerl', '--in-memory', etcd], {
    command: { command: 'keelson dev', ownFlags: ['ephemeral'] },
  })
  assert.ok(checked.kind === 'faults')
  assert.equal(checked.faults[0], '"keelson dev" does not take any arguments, got ["help"]')
  assert.deepEqual(checked.hints, [
    '--ephemerl: did you mean --ephemeral?',
    '--in-memory: did you mean --ephemeral?',
    'keelson dev --help lists the flags',
  ])
})

test('--etcd-servers accepts a Unix socket', () => {
  assert.deepEqual(faultsOf('--etcd-servers=unix:///run/etcd/client:1'), [])
})

test('flags without effect are accepted, and deprecated flags cause a warning', () => {
  const checked = checkArgs([
    '--etcd-servers=127.0.0.1:2379',
    '--watch-cache-sizes=pods#0,deployments.apps#100',
    '--default-watch-cache-size=-1',
    '--etcd-healthcheck-timeout=1s',
    '--kubelet-timeout=1s',
    '--proxy-client-cert-file=/none',
    '--endpoint-reconciler-type=master-count',
    '--apiserver-count=3',
    '--emulated-version=1.33',
    '--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA',
  ])
  assert.ok(checked.kind === 'config')
  assert.ok(checked.config.storage.store.kind === 'etcd')
  assert.deepEqual(checked.config.storage.store.servers, ['http://127.0.0.1:2379'])
  assert.equal(checked.config.cluster.services.endpoints, 'lease')
  assert.deepEqual(checked.warnings, [
    'Flag --default-watch-cache-size has been deprecated, watch caches are sized automatically and this flag will be removed in a future version',
    'Flag --apiserver-count has been deprecated, apiserver-count is deprecated and will be removed in a future version.',
    '--tls-cipher-suites: TLS_RSA_WITH_RC4_128_SHA is insecure, and is not offered to clients',
  ])
})

test('if a feature gate is repeated, its last value is used, and setting a GA gate causes a warning', () => {
  const gates = '--feature-gates=WatchList=true,kube:WatchList=false,MultiCIDRServiceAllocator=true'
  const checked = checkArgs([etcd, gates, '--feature-gates=WatchList=true'])
  assert.ok(checked.kind === 'config')
  assert.ok(checked.config.featureGates.isOn('WatchList'))
  assert.equal(checked.config.featureGates.all.length, 191)
  assert.deepEqual(checked.warnings, [
    'Setting GA feature gate MultiCIDRServiceAllocator=true. It will be removed in a future release.',
  ])
})

test('the most specific key of --runtime-config determines whether a resource is served', () => {
  const checked = checkArgs([
    etcd,
    '--enable-priority-and-fairness=false',
    '--runtime-config=api/all=false,v1=true,v1/pods=false,batch/v1',
  ])
  assert.ok(checked.kind === 'config')
  const { isServed } = checked.config.runtime
  const served = ['/v1/configmaps', '/v1/pods', 'batch/v1/jobs', 'apps/v1/deployments'].filter(
    (id) => {
      const [group = '', version = '', plural = ''] = id.split('/')
      return isServed({ group, version, plural })
    },
  )
  assert.deepEqual(served, ['/v1/configmaps', 'batch/v1/jobs'])
})

test('--runtime-config can enable versions that are not stable', () => {
  const checked = checkArgs([
    etcd,
    '--runtime-config=storage.k8s.io/v1alpha1=true,networking.k8s.io/v1beta1/ipaddresses',
  ])
  assert.ok(checked.kind === 'config')
  const { isServed } = checked.config.runtime
  const served = [
    'storage.k8s.io/v1alpha1/volumeattributesclasses',
    'storage.k8s.io/v1beta1/volumeattributesclasses',
    'networking.k8s.io/v1beta1/ipaddresses',
    'networking.k8s.io/v1beta1/servicecidrs',
  ].map((id) => {
    const [group = '', version = '', plural = ''] = id.split('/')
    return isServed({ group, version, plural })
  })
  assert.deepEqual(served, [true, false, true, false])
})

test('anonymous requests are disabled if the AlwaysAllow authorizer is enabled', () => {
  const checked = checkArgs([etcd, '--authorization-mode=AlwaysAllow'])
  assert.ok(checked.kind === 'config')
  assert.equal(checked.config.authentication.anonymous.isEnabled, false)
  assert.match(
    checked.warnings.join(),
    /AnonymousAuth is not allowed with the AlwaysAllow authorizer/,
  )
})

const configured = (text: string): string => {
  const path = join(dir, 'authentication.yaml')
  const head = 'apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\n'
  writeFileSync(path, head + text)
  return `--authentication-config=${path}`
}

test('an AuthenticationConfiguration file can restrict anonymous requests to certain paths', () => {
  const checked = checkArgs([
    etcd,
    configured('anonymous: {enabled: true, conditions: [{path: /livez}]}\n'),
  ])
  assert.ok(checked.kind === 'config')
  assert.deepEqual(checked.config.authentication.anonymous, { isEnabled: true, paths: ['/livez'] })
})

test('a configuration for an admission plugin that does not exist causes a warning', () => {
  const path = join(dir, 'admission.yaml')
  const plugins = ['NoSuchPlugin', 'PodSecurity', 'AlwaysDeny', 'podsecurity', 'NoSuchPlugin'].map(
    (name) => ({ name }),
  )
  const head = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration' }
  writeFileSync(path, JSON.stringify({ ...head, plugins }))
  const checked = checkArgs([etcd, `--admission-control-config-file=${path}`])
  assert.ok(checked.kind === 'config')
  assert.deepEqual(checked.warnings, [
    'admission-control-config-file: plugin "NoSuchPlugin" is unknown, so its configuration is not used',
    'admission-control-config-file: plugin "podsecurity" is unknown, so its configuration is not used',
  ])
})

test('--testing is in the help text, and is refused by all commands except keelson serve', () => {
  assert.match(printHelp(serveHelp()), /^ {2}--testing \(default false\)$/m)
  assert.deepEqual(faultsOf(etcd, '--testing'), [
    '--testing is only supported by keelson serve: leave it out',
  ])
  assert.deepEqual(faultsOf(etcd, '--testing=false'), [])
  assert.deepEqual(faultsOf(etcd, '--testing-now=2030-01-01T00:00:00Z'), [
    '--testing-now is only supported by keelson serve --testing: leave it out',
  ])
})

const checkTwoReleases = (...args: readonly string[]) =>
  checkArgs([etcd, ...args], { releases: [33, 34] })

test('--kubernetes chooses the release, and the values of other version flags depend on this release', () => {
  const chosen = checkTwoReleases('--kubernetes=1.34.x', '--emulated-version=1.33')
  assert.ok(chosen.kind === 'config')
  const { release, runtime, featureGates, telemetry } = chosen.config
  assert.deepEqual([release, featureGates.release, telemetry.metrics.release], [34, 34, 34])
  assert.deepEqual([runtime.emulation.release, runtime.emulation.minor], [34, 33])
  const faultsWith = (...args: readonly string[]) => {
    const checked = checkTwoReleases(...args)
    return checked.kind === 'faults' ? checked.faults : []
  }
  assert.deepEqual(faultsWith('--kubernetes=1.33', '--emulated-version=1.34'), [
    'emulation version 1.34 is not between [1.31, 1.33.0]',
  ])
  assert.deepEqual(faultsWith('--kubernetes=1.34', '--show-hidden-metrics-for-version=1.33'), [])
  assert.deepEqual(faultsWith('--kubernetes=1.35'), [
    '--kubernetes: Kubernetes version "1.35" is not known. Known versions: 1.33, 1.34, latest',
  ])
})

const checkNewest = (...args: readonly string[]) =>
  checkArgs([etcd, ...args], { releases: [33, 35, 36] })

test('a flag that a later release added is unknown to the releases before', () => {
  const checked = checkNewest('--kubernetes=1.35', '--tls-curve-preferences=29')
  assert.ok(checked.kind === 'faults')
  assert.deepEqual(checked.faults, ['unknown flag: --tls-curve-preferences'])
  assert.deepEqual(checked.hints, ['--tls-curve-preferences: Kubernetes has it since 1.36'])
  const known = checkNewest('--kubernetes=1.36', '--tls-curve-preferences=29,23')
  assert.ok(known.kind === 'config')
  assert.equal(known.config.tls.curves, 'X25519:P-256')
  assert.ok(!known.config.flagValues.has('tls-curves') && known.config.flagValues.has('v'))
})

test('a default that a later release changed depends on the release', () => {
  for (const [version, daysMax] of [
    ['1.35', '0'],
    ['1.36', '366'],
  ] as const) {
    const checked = checkNewest(`--kubernetes=${version}`)
    assert.ok(checked.kind === 'config')
    assert.equal(checked.config.flagValues.get('audit-log-maxage'), daysMax, version)
  }
})

test('--min-compatibility-version must be between the oldest supported version and --emulated-version', () => {
  const chosen = checkNewest('--kubernetes=1.36', '--min-compatibility-version=1.34')
  assert.ok(chosen.kind === 'config')
  assert.equal(chosen.config.featureGates.minCompatibility, 34)
  for (const [flags, fault] of [
    [['1.32'], 'minCompatibilityVersion version 1.32 is not between [1.33, 1.36]'],
    [['1.37'], 'minCompatibilityVersion version 1.37 is not between [1.33, 1.36]'],
    [
      ['1.36', '--emulated-version=1.35'],
      'minCompatibilityVersion version 1.36 is not between [1.33, 1.35]',
    ],
    [['x'], 'could not parse "x" as version'],
  ] as const) {
    const [version = '', ...others] = flags
    const given = `--min-compatibility-version=${version}`
    const checked = checkNewest('--kubernetes=1.36', given, ...others)
    assert.deepEqual(checked.kind === 'faults' ? checked.faults : [], [fault])
  }
})

const faultsOfRelease = (release: number, key: string) => {
  const checked = checkNewest(`--kubernetes=1.${release}`, `--runtime-config=${key}=true`)
  return checked.kind === 'faults' ? checked.faults : []
}

test('--runtime-config accepts only API versions that the chosen release has', () => {
  const key = 'scheduling.k8s.io/v1alpha2'
  assert.deepEqual(faultsOfRelease(36, key), [])
  assert.deepEqual(faultsOfRelease(35, key), [`group version ${key} that has not been registered`])
  assert.deepEqual(faultsOfRelease(35, 'resource.k8s.io/v1'), [])
  assert.deepEqual(faultsOfRelease(36, 'lifecycle.k8s.io/v1alpha1'), [
    'unknown api groups lifecycle.k8s.io',
  ])
})

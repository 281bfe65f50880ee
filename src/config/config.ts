/**
 * Converts flags and files to one validated Config. All errors are reported together, before the
 * server starts any component. An error that kube-apiserver also reports has the same message. The
 * message or its hint explains what to do.
 */
import { isIP } from 'node:net'
import { defaultMinor, parseRelease, servedMinors } from '../api/releases.ts'
import type { TokenEntry } from '../api/user.ts'
import { readAuthorityFile } from './authority-file.ts'
import { type AuthenticationConfig, readAuthentication } from './authentication.ts'
import { type KubeletConfig, readKubelet } from './kubelet.ts'
import { type AuthorizationConfig, isOpenByFlags, readAuthorization } from './authorization.ts'
import { type AdmissionConfig, readAdmissionFiles } from './admission.ts'
import { type AdmissionPlugins, parseAdmissionPlugins } from './admission-plugins.ts'
import { type AuditConfig, readAudit } from './audit.ts'
import type { MetricChoice } from '../lib/telemetry/metrics.ts'
import { type ModuleLevel, parseLevel, parseModules } from '../lib/telemetry/verbosity.ts'
import type { Certificate } from '../lib/x509/certificates.ts'
import { readMetrics } from './metrics.ts'
import { readCipherSuites } from './cipher-suites.ts'
import { readEgress } from './egress.ts'
import { type Emulation, readEmulation } from './emulation.ts'
import { type ControllerName, parseControllers } from './controllers.ts'
import { type EncryptionConfig, readEncryption } from './encryption.ts'
import type { Gates } from '../api/gates.ts'
import { type FeatureGates, parseFeatureGates } from './feature-gates.ts'
import { type FlowControlConfig, readFlowControl } from './flow-control.ts'
import { type MemoryConfig, readMemory } from './memory.ts'
import { readFlagFile } from './flag-file.ts'
import { type FlagName, flags, flagsOf, hasFlag } from './flags.ts'
import { readTextFile } from './files/read-file.ts'
import { type NamedCommand, parseArgs } from './parse-args.ts'
import { parseRuntimeConfig, type RuntimeConfig } from './runtime-config.ts'
import { readServiceAccounts, type ServiceAccounts } from './service-accounts.ts'
import { readServing, type ServingConfig } from './serving.ts'
import { type EtcdConfig, readEtcd } from './storage.ts'
import { readSigning, type SigningConfig } from './signing.ts'
import { parseTokenFile } from './token-file.ts'
import type { EgressConfig } from '../net/egress/egress-config.ts'
import type { TracingConfig } from './files/tracing.ts'
import { readCurves } from './tls-curves.ts'
import { readTracing } from './tracing.ts'
import { readServices, type ServicesConfig } from './services.ts'
import { readTuning, type TuningConfig } from './tuning.ts'
import { Values } from './values.ts'

/** Configuration of the storage: where objects are stored, and in which encoding. */
export type StorageConfig = EtcdConfig & {
  /** Configuration of encryption at rest. If null, data in the database is not encrypted. */
  readonly encryption: EncryptionConfig | null
  readonly eventTtlSeconds: number
  /**
   * How often the server asks etcd for the size of the database, in milliseconds. 0 means never.
   */
  readonly sizePollMs: number
  /**
   * Maximum time in seconds by which an object outlives its TTL because it shares an etcd lease
   * with other objects.
   */
  readonly leaseReuseSecondsMax: number
}

/** The addresses of the server, and its outgoing connections. */
export type NetworkConfig = {
  readonly bindAddress: string
  /** The port on which the server listens. 0 means any free port, which only tests use. */
  readonly port: number
  /** The address at which clients reach the server. */
  readonly advertiseAddress: string
  /**
   * The address in the endpoints of default/kubernetes. If it is the unspecified address (0.0.0.0
   * or ::), the first non-loopback address of the host is used, even if the server listens only on
   * loopback, as in kube-apiserver.
   */
  readonly endpointAddress: string
  /** The host name of the server in discovery documents. Defaults to the advertised address. */
  readonly externalHost: string
  /** The configuration of proxies for outgoing connections. If null, all connections are direct. */
  readonly egress: EgressConfig | null
}

export type TlsConfig = {
  readonly certificate:
    | { readonly kind: 'files'; readonly certificatePath: string; readonly keyPath: string }
    /** The serving certificate is in this folder, and is created if it does not exist. */
    | { readonly kind: 'folder'; readonly path: string }
    /** A certificate that tests provide. No flag sets it. */
    | { readonly kind: 'given'; readonly certificate: Certificate }
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  /** Cipher suites in OpenSSL syntax. If null, the default of the listener is used. */
  readonly ciphers: string | null
  /** Key exchange groups in OpenSSL syntax. If null, the default of OpenSSL is used. */
  readonly curves: string | null
}

/** Defines how connections are served and closed. */
export type ConnectionConfig = ServingConfig & {
  /** Whether HTTP/2 is offered to clients. */
  readonly servesHttp2: boolean
  /**
   * Maximum number of concurrent streams on an HTTP/2 connection. If null, the default of the
   * listener is used.
   */
  readonly streamsPerConnectionMax: number | null
  /** Value of the Strict-Transport-Security header. If null, the header is not sent. */
  readonly strictTransportSecurity: string | null
  /** How long connections are still accepted after the server is asked to stop. */
  readonly stopDelayMs: number
  /** Period over which watches are closed when the server stops. */
  readonly watchGraceMs: number
}

/** Limits for requests. */
export type RequestConfig = FlowControlConfig &
  Pick<TuningConfig, 'deleteWorkers' | 'collectsGarbage'> & {
    readonly timeoutMs: number
    readonly watchMsMin: number
    readonly memory: MemoryConfig
  }

/** Configuration of client authentication. */
export type IdentityConfig = AuthenticationConfig & {
  readonly tokens: readonly TokenEntry[]
  /** Configuration of service account tokens. If null, they are not supported. */
  readonly serviceAccounts: ServiceAccounts | null
  /**
   * CA certificates that verify client certificates, in PEM format. If null, client certificates
   * are ignored.
   */
  readonly clientCaPem: string | null
  /** The file that contains `clientCaPem`. */
  readonly clientCaPath: string | null
}

export type ControllersConfig = {
  /** The controllers of kube-controller-manager that run in this server. */
  readonly names: readonly ControllerName[]
  /** The CA bundle that controllers publish. If null, it is the CA of the serving certificate. */
  readonly rootCaPem: string | null
  /** Time after which an unused service account token in a Secret becomes invalid. */
  readonly legacyTokenPeriodMs: number
  /** The CAs that controllers use to sign certificates. */
  readonly signing: SigningConfig
}

/** Configuration of auditing, metrics, tracing and logging. */
export type TelemetryConfig = {
  readonly audit: AuditConfig
  readonly metrics: MetricChoice
  /** Configuration of tracing. If null, no requests are traced. */
  readonly tracing: TracingConfig | null
  readonly logging: {
    readonly format: 'text' | 'json' | 'auto'
    readonly verbosity: number
    readonly modules: readonly ModuleLevel[]
  }
  /** Whether profiles and other debug pages are served. */
  readonly hasProfiles: boolean
  /** Path of a Unix socket that serves the debug pages. If null, no socket is opened. */
  readonly debugSocketPath: string | null
}

export type Config = {
  /** Minor version of Kubernetes that this server implements. */
  readonly release: number
  readonly storage: StorageConfig
  readonly network: NetworkConfig
  readonly tls: TlsConfig
  readonly serving: ConnectionConfig
  readonly requests: RequestConfig
  readonly authentication: IdentityConfig
  readonly authorization: AuthorizationConfig
  readonly admission: AdmissionPlugins &
    AdmissionConfig & {
      /** Whether pods can have privileged containers. */
      readonly allowsPrivileged: boolean
    }
  readonly aggregation: {
    /**
     * Whether a webhook or an aggregated API server behind a Service is called at the endpoints of
     * the Service instead of its cluster IP.
     */
    readonly callsEndpoints: boolean
    /**
     * The files with the client certificate and key that this server presents to aggregated API
     * servers. Null if no certificate is presented. As in kube-apiserver, this is the case unless
     * both --proxy-client-cert-file and --proxy-client-key-file are set.
     */
    readonly proxyClient: { readonly certificatePath: string; readonly keyPath: string } | null
  }
  readonly controllers: ControllersConfig
  readonly featureGates: FeatureGates
  readonly runtime: RuntimeConfig & { readonly emulation: Emulation }
  readonly cluster: { readonly services: ServicesConfig; readonly kubelet: KubeletConfig }
  readonly telemetry: TelemetryConfig
  /** The value of every flag as text, in the format that Go prints. */
  readonly flagValues: ReadonlyMap<string, string>
}

export type ConfigResult =
  | { readonly kind: 'config'; readonly config: Config; readonly warnings: readonly string[] }
  /** The errors. `hints` explain how to fix those errors whose messages do not explain it. */
  | {
      readonly kind: 'faults'
      readonly faults: readonly string[]
      readonly hints: readonly string[]
    }

export type CheckOptions = {
  /** The command that the arguments belong to. The default is `keelson serve`. */
  readonly command?: NamedCommand
  /** The minor versions of the releases that the user can choose. */
  readonly releases?: readonly number[]
}

export function checkArgs(
  args: readonly string[],
  { command, releases = servedMinors }: CheckOptions = {},
): ConfigResult {
  const { raw, faults, hints } = parseArgs(args, command)
  const chosen = parseRelease(raw.get('kubernetes')?.at(-1) ?? `1.${defaultMinor}`, releases)
  const release = 'minor' in chosen ? chosen.minor : defaultMinor
  const values = new Values({ ...flags, ...Object.fromEntries(flagsOf(release)) }, raw, faults)
  if ('fault' in chosen) values.fault(`--kubernetes: ${chosen.fault}`)
  values.hints.push(...hints)
  const warnings: string[] = []
  for (const [name] of raw) {
    const { deprecated, since } = flags[name]
    if (!hasFlag(name, release))
      values.fault(`unknown flag: --${name}`, `--${name}: Kubernetes has it since 1.${since}`)
    if (deprecated !== undefined) warnings.push(`Flag --${name} has been deprecated, ${deprecated}`)
  }
  const config = readConfig(values, release, (text) => warnings.push(text))
  if (values.faults.length > 0)
    return { kind: 'faults', faults: values.faults, hints: values.hints }
  return { kind: 'config', config: deepFreeze(config), warnings }
}

/** Reads all flags, and reports errors in the order of these calls. */
function readFlags(values: Values, release: number, warn: (text: string) => void) {
  const emulation = readEmulation(values, release)
  const featureGates = readGates(values, emulation, warn)
  const bindAddress = values.address('bind-address')
  const advertised = values.address('advertise-address')
  const advertiseAddress = advertised || bindAddress
  const authorization = readAuthorization(values, { gates: featureGates, warn })
  const isOpen = isOpenByFlags(authorization)
  return {
    etcd: readEtcd(values),
    encryption: readEncryption(values, featureGates),
    bindAddress,
    port: readPort(values),
    advertiseAddress,
    endpointAddress: advertised || (isLoopback(bindAddress) ? anyOf(bindAddress) : bindAddress),
    externalHost: values.string('external-hostname') || advertiseAddress,
    tls: readTls(values),
    metrics: readMetrics(values, release, warn),
    tlsMinVersion: readTlsVersion(values),
    tlsCiphers: readCipherSuites(values, warn),
    tlsCurves: readCurves(values),
    servesHttp2: !values.boolean('disable-http2-serving'),
    streamsPerConnectionMax: values.integer('http2-max-streams-per-connection') || null,
    tokens: readTokens(values, warn),
    serviceAccounts: readServiceAccounts(values, { gates: featureGates, warn }),
    clientCaPem: readClientCa(values),
    clientCaPath: values.string('client-ca-file') || null,
    authentication: readAuthentication(values, { gates: featureGates, warn, isOpen }),
    authorization,
    controllers: readControllers(values),
    rootCaPem: readRootCa(values),
    legacyTokenPeriodMs: readCleanUpPeriod(values),
    signing: readSigning(values),
    requestTimeoutMs: values.durationMs('request-timeout', { isNegativeFault: true }),
    flowControl: readFlowControl(values),
    memory: readMemory(values),
    watchMsMin: 1000 * values.count('min-request-timeout'),
    eventTtlSeconds: values.durationMs('event-ttl') / 1000,
    stopDelayMs: values.durationMs('shutdown-delay-duration', { isNegativeFault: true }),
    watchGraceMs: readWatchGrace(values),
    strictTransportSecurity: readStrictTransportSecurity(values),
    flagValues: flagValues(values, release),
    serving: readServing(values),
    tuning: readTuning(values),
    featureGates,
    emulation,
    runtime: readRuntime(values, emulation),
    services: readServices(values, { gates: featureGates, address: publicOf(advertiseAddress) }),
    kubelet: readKubelet(values, warn),
    allowsPrivileged: values.boolean('allow-privileged'),
    admission: readAdmission(values, release, warn),
    callsEndpoints: values.boolean('enable-aggregator-routing'),
    proxyClient: readProxyClient(values),
    audit: readAudit(values, warn),
    egress: readEgress(values),
    tracing: readTracing(values, featureGates),
    logging: readLogging(values, featureGates),
    hasProfiles: values.boolean('profiling'),
    debugSocketPath: values.string('debug-socket-path') || null,
  }
}

function readConfig(values: Values, release: number, warn: (text: string) => void): Config {
  const read = readFlags(values, release, warn)
  const { deleteWorkers, collectsGarbage, sizePollMs, leaseReuseSecondsMax } = read.tuning
  const { bindAddress, port, advertiseAddress, endpointAddress, externalHost, egress } = read
  const { servesHttp2, streamsPerConnectionMax, strictTransportSecurity } = read
  const { tokens, serviceAccounts, clientCaPem, clientCaPath } = read
  const { rootCaPem, legacyTokenPeriodMs, signing } = read
  const { audit, metrics, tracing, logging, hasProfiles, debugSocketPath } = read
  return {
    release,
    storage: {
      ...read.etcd,
      encryption: read.encryption,
      eventTtlSeconds: read.eventTtlSeconds,
      sizePollMs,
      leaseReuseSecondsMax,
    },
    network: { bindAddress, port, advertiseAddress, endpointAddress, externalHost, egress },
    tls: {
      certificate: read.tls,
      minVersion: read.tlsMinVersion,
      ciphers: read.tlsCiphers,
      curves: read.tlsCurves,
    },
    serving: {
      ...read.serving,
      servesHttp2,
      streamsPerConnectionMax,
      strictTransportSecurity,
      stopDelayMs: read.stopDelayMs,
      watchGraceMs: read.watchGraceMs,
    },
    requests: {
      ...read.flowControl,
      deleteWorkers,
      collectsGarbage,
      timeoutMs: read.requestTimeoutMs,
      watchMsMin: read.watchMsMin,
      memory: read.memory,
    },
    authentication: { ...read.authentication, tokens, serviceAccounts, clientCaPem, clientCaPath },
    authorization: read.authorization,
    admission: { ...read.admission, allowsPrivileged: read.allowsPrivileged },
    aggregation: { callsEndpoints: read.callsEndpoints, proxyClient: read.proxyClient },
    controllers: { names: read.controllers, rootCaPem, legacyTokenPeriodMs, signing },
    featureGates: read.featureGates,
    runtime: { ...read.runtime, emulation: read.emulation },
    cluster: { services: read.services, kubelet: read.kubelet },
    telemetry: { audit, metrics, tracing, logging, hasProfiles, debugSocketPath },
    flagValues: read.flagValues,
  }
}

function flagValues(values: Values, release: number): ReadonlyMap<string, string> {
  return new Map(
    flagsOf(release).map(([name, { type }]) => {
      const text = values.raw(name).join(',')
      return [name, type === 'list' ? `[${text}]` : text]
    }),
  )
}

/**
 * Returns the address for the endpoints of default/kubernetes. Returns an empty string if the
 * address is not known before the server starts.
 */
const publicOf = (address: string): string =>
  isLoopback(address) || address === anyOf(address) || isIP(address) === 0 ? '' : address

/** Whether an address is a loopback address: in 127.0.0.0/8, or ::1. */
const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1'
const anyOf = (address: string): string => (address.includes(':') ? '::' : '0.0.0.0')

function readPort(values: Values): number {
  const port = values.integer('secure-port')
  if (port < 1 || port > 65_535)
    values.fault(
      `--secure-port ${port} must be between 1 and 65535, inclusive. It cannot be turned off with 0`,
    )
  return port
}

function readTls(values: Values): TlsConfig['certificate'] {
  const certificatePath = values.string('tls-cert-file')
  const keyPath = values.string('tls-private-key-file')
  if (certificatePath === '' && keyPath === '')
    return { kind: 'folder', path: values.string('cert-dir') }
  if (certificatePath === '' || keyPath === '') {
    const absent = certificatePath === '' ? '--tls-cert-file' : '--tls-private-key-file'
    const hint = `${absent} is missing: --tls-cert-file and --tls-private-key-file must be set together`
    values.fault('missing filename for serving cert', hint)
  } else {
    const fault = [certificatePath, keyPath].map(readTextFile).find((read) => 'fault' in read)
    if (fault !== undefined)
      values.fault(fault.fault, 'set --tls-cert-file and --tls-private-key-file to readable files')
  }
  return { kind: 'files', certificatePath, keyPath }
}

function readTlsVersion(values: Values): TlsConfig['minVersion'] {
  const version = values.string('tls-min-version')
  if (version === 'VersionTLS13') return 'TLSv1.3'
  if (version !== 'VersionTLS12' && version !== '') {
    const isOld = version === 'VersionTLS10' || version === 'VersionTLS11'
    values.fault(
      isOld
        ? `--tls-min-version ${version} is not supported: use VersionTLS12`
        : `unknown tls version ${JSON.stringify(version)}`,
    )
  }
  return 'TLSv1.2'
}

function readWatchGrace(values: Values): number {
  const ms = values.durationMs('shutdown-watch-termination-grace-period')
  if (ms < 0)
    values.fault(
      'shutdown-watch-termination-grace-period, if provided, can not be a negative value',
    )
  return ms
}

function readProxyClient(values: Values): Config['aggregation']['proxyClient'] {
  const certificatePath = values.string('proxy-client-cert-file')
  const keyPath = values.string('proxy-client-key-file')
  return certificatePath === '' || keyPath === '' ? null : { certificatePath, keyPath }
}

/** Returns the value of the Strict-Transport-Security header (RFC 6797, section 6.1). */
function readStrictTransportSecurity(values: Values): string | null {
  const directives = values.slice('strict-transport-security-directives')
  if (directives.some((directive) => directive.trim() === '')) {
    values.fault('empty value in strict-transport-security-directives')
  }
  if (
    directives.some(
      (directive) => !/^(\s*|includeSubDomains|preload|max-age=[^=]*)$/.test(directive),
    )
  ) {
    values.fault(
      '--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information',
    )
  }
  return directives.join('; ') || null
}

function readTokens(values: Values, warn: (text: string) => void): readonly TokenEntry[] {
  const path = values.string('token-auth-file')
  const text = path === '' ? undefined : readFlagFile(values, path)
  if (text === undefined) return []
  const { tokens, fault } = parseTokenFile(path, text, warn)
  if (fault !== undefined) values.fault(fault)
  return tokens
}

function readClientCa(values: Values): string | null {
  const path = values.string('client-ca-file')
  return path === '' ? null : (readAuthorityFile(values, 'client-ca-bundle', path) ?? null)
}

function readRootCa(values: Values): string | null {
  const path = values.string('root-ca-file')
  return path === '' ? null : (readAuthorityFile(values, 'root-ca-file', path) ?? null)
}

function readCleanUpPeriod(values: Values): number {
  const ms = values.durationMs('legacy-service-account-token-clean-up-period')
  if (ms <= 0)
    values.fault(
      `invalid CleanUpPeriod: ${values.string('legacy-service-account-token-clean-up-period')}`,
    )
  return ms
}

function readControllers(values: Values): readonly ControllerName[] {
  const { controllers, faults, hints } = parseControllers(values.list('controllers'))
  values.faults.push(...faults)
  values.hints.push(...hints)
  return controllers
}

function readGates(
  values: Values,
  emulation: Emulation,
  warn: (text: string) => void,
): FeatureGates {
  const entries = values.list('feature-gates')
  const { gates, faults, hints, warnings } = parseFeatureGates(entries, emulation)
  values.faults.push(...faults)
  values.hints.push(...hints)
  for (const warning of warnings) warn(warning)
  if (gates.isOn('AuthorizeNodeWithSelectors') && !gates.isOn('AuthorizeWithSelectors')) {
    values.fault(
      'AuthorizeNodeWithSelectors feature requires AuthorizeWithSelectors feature to be enabled',
    )
  }
  return gates
}

function readRuntime(values: Values, emulation: Emulation): RuntimeConfig {
  const { runtime, faults, hints } = parseRuntimeConfig(values.list('runtime-config'), emulation)
  values.faults.push(...faults)
  values.hints.push(...hints)
  return runtime
}

function readAdmission(
  values: Values,
  release: number,
  warn: (text: string) => void,
): AdmissionPlugins & AdmissionConfig {
  const given = (flag: FlagName) => (values.isGiven(flag) ? values.slice(flag) : undefined)
  const flagsGiven = {
    enabled: given('enable-admission-plugins'),
    disabled: given('disable-admission-plugins'),
    exactly: given('admission-control'),
  }
  const { plugins, faults, hints, warnings } = parseAdmissionPlugins(flagsGiven, release)
  values.faults.push(...faults)
  values.hints.push(...hints)
  for (const warning of warnings) warn(warning)
  return { ...plugins, ...readAdmissionFiles(values, plugins, warn) }
}

function readLogging(values: Values, gates: Gates): TelemetryConfig['logging'] {
  const format = values.string('logging-format')
  if (values.isGiven('logging-format') && !/^(text|json)$/.test(format)) {
    values.fault(`format: Invalid value: ${JSON.stringify(format)}: Unsupported log format`)
  }
  if (format === 'json' && !gates.isOn('LoggingBetaOptions')) {
    values.fault('format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature')
  }
  const modules = readModules(values)
  if (modules.length > 0 && format === 'json')
    values.fault('vmodule: Forbidden: Only supported for text log format')
  return {
    format: format === 'json' ? 'json' : format === 'text' ? 'text' : 'auto',
    verbosity: readVerbosity(values),
    modules,
  }
}

function readVerbosity(values: Values): number {
  const text = values.string('v')
  const level = parseLevel(text)
  if (typeof level === 'number') return level
  values.fault(`invalid argument ${JSON.stringify(text)} for "-v, --v" flag: ${level}`)
  return 0
}

function readModules(values: Values): readonly ModuleLevel[] {
  return values.array('vmodule').flatMap((given) => {
    const modules = parseModules(given)
    if (typeof modules !== 'string') return modules
    values.fault(`invalid argument ${JSON.stringify(given)} for "--vmodule" flag: ${modules}`)
    return []
  })
}

/**
 * Freezes plain objects and arrays. Instances of classes, such as compiled expressions, are not
 * frozen.
 */
function deepFreeze<T>(value: T): T {
  // Object.freeze throws for typed arrays and buffers.
  if (
    typeof value !== 'object' ||
    value === null ||
    ArrayBuffer.isView(value) ||
    Object.isFrozen(value)
  )
    return value
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}

/**
 * The checks of the health endpoints. Their names and order are those of kube-apiserver, because
 * tools request and exclude checks by name. kube-apiserver has a check for each step of its
 * startup. This server starts in one step, so most of these checks have the same result.
 */
import type { HealthCheck } from './health.ts'

/** The state on which the checks are based. */
export type HealthState = {
  /** Returns the reason why etcd currently cannot be used, or undefined if it can be used. */
  readonly etcdFault: () => string | undefined
  /** Whether the server has started completely. */
  readonly isStarted: () => boolean
  /** Whether the initial loading of the cache is complete. */
  readonly isFilled: () => boolean
  /**
   * Whether aggregated discovery contains the resources of every remote server that provides them.
   */
  readonly areRemotesListed: () => boolean
  /**
   * Whether a client certificate for remote servers is configured. The certificate can be replaced
   * at runtime.
   */
  readonly hasProxyClient: boolean
  /** Whether this server maintains a Lease that shows that it is running. */
  readonly hasIdentity: boolean
  /** Whether the system namespaces and the other objects of a new cluster exist. */
  readonly isBootstrapped: () => boolean
  readonly isStopping: () => boolean
  /** Additional checks for KMS plugins and for other databases. */
  readonly others?: readonly HealthCheck[]
  /**
   * Maximum duration of the startup before /livez fails. `upMs` returns the time since startup
   * began.
   */
  readonly livezGraceMs: number
  readonly upMs: () => number
}

/** Names of kube-apiserver's post-start hooks for a server's Lease (gate APIServerIdentity). */
const identityHooks: readonly string[] = [
  'start-kube-apiserver-identity-lease-controller',
  'start-kube-apiserver-identity-lease-garbage-collector',
]

const hooks: readonly string[] = [
  'start-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'priority-and-fairness-config-consumer',
  'priority-and-fairness-filter',
  'storage-object-count-tracker-hook',
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-system-namespaces-controller',
  'start-cluster-authentication-info-controller',
  ...identityHooks,
  'start-legacy-token-tracking-controller',
  'start-service-ip-repair-controllers',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'priority-and-fairness-config-producer',
  'bootstrap-controller',
  'start-kubernetes-service-cidr-controller',
  'aggregator-reload-proxy-client-cert',
  'start-kube-aggregator-informers',
  'apiservice-status-local-available-controller',
  'apiservice-status-remote-available-controller',
  'apiservice-registration-controller',
  'apiservice-discovery-controller',
  'kube-apiserver-autoregistration',
  'apiservice-openapi-controller',
  'apiservice-openapiv3-controller',
]

/**
 * Name of kube-apiserver's post-start hook that waits until aggregated discovery contains every
 * APIService.
 */
const discoveryHook = 'apiservice-discovery-controller'

/**
 * Name of kube-apiserver's post-start hook that exists only if a client certificate for remote
 * servers is configured.
 */
const reloadHook = 'aggregator-reload-proxy-client-cert'

/** Names of kube-apiserver's post-start hooks that create the initial objects of a cluster. */
const bootstrapHooks: ReadonlySet<string> = new Set([
  'start-system-namespaces-controller',
  'start-cluster-authentication-info-controller',
  'start-legacy-token-tracking-controller',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'priority-and-fairness-config-producer',
  'bootstrap-controller',
  'start-kubernetes-service-cidr-controller',
  'kube-apiserver-autoregistration',
])

const unless = (isOk: () => boolean, why: string) => (): string | undefined =>
  isOk() ? undefined : why
const isFine = (): undefined => undefined

export function createChecks({
  etcdFault,
  isStarted,
  isFilled,
  areRemotesListed,
  hasProxyClient,
  hasIdentity,
  isBootstrapped,
  isStopping,
  others = [],
  livezGraceMs,
  upMs,
}: HealthState): readonly HealthCheck[] {
  const checks: HealthCheck[] = [
    { name: 'ping', fault: isFine },
    { name: 'log', fault: isFine },
    { name: 'etcd', fault: etcdFault },
    { name: 'etcd-readiness', fault: etcdFault, isForReadiness: true },
    ...others,
    {
      name: 'informer-sync',
      fault: unless(isFilled, 'the caches are not filled yet'),
      isForReadiness: true,
    },
  ]
  const untilDone = (isDone: () => boolean): Pick<HealthCheck, 'fault' | 'livenessFault'> => ({
    fault: unless(isDone, 'not finished'),
    livenessFault: unless(() => isDone() || upMs() <= livezGraceMs, 'not finished'),
  })
  for (const hook of hooks) {
    if ((hook === reloadHook && !hasProxyClient) || (identityHooks.includes(hook) && !hasIdentity))
      continue
    const isDone = bootstrapHooks.has(hook)
      ? isBootstrapped
      : hook === discoveryHook
        ? areRemotesListed
        : isStarted
    checks.push({ name: `poststarthook/${hook}`, ...untilDone(isDone) })
    if (hook === 'kube-apiserver-autoregistration')
      checks.push({ name: 'autoregister-completion', ...untilDone(isBootstrapped) })
  }
  checks.push({
    name: 'shutdown',
    fault: () => (isStopping() ? 'process is shutting down' : undefined),
    isForReadiness: true,
  })
  return checks
}

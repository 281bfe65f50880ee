/**
 * The controllers of kube-controller-manager that run inside the server, on one replica at a time.
 */
import type { OpenCharges } from '../admission/resource-quota/open-charges.ts'
import type { Gates } from '../api/gates.ts'
import type { KubeObject } from '../api/object.ts'
import type { ControllerName } from '../config/controllers.ts'
import type { Handler } from '../api/request.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { Timers } from '../lib/time/timers.ts'
import type { Registry } from '../registry/registry.ts'
import { signClusterInfo } from './bootstrap-signer.ts'
import { approveRequests } from './certificates/approve.ts'
import { cleanRequests } from './certificates/clean.ts'
import { signRequests } from './certificates/sign.ts'
import type { Signers } from './certificates/signers.ts'
import { followAggregatedRoles } from './cluster-role-aggregation.ts'
import { controllerHandle } from './controller-user.ts'
import { Election, type ElectionOptions } from './election.ts'
import { GarbageCollector } from './garbage-collector/garbage-collector.ts'
import { cleanLegacyTokens } from './legacy-token-cleaner.ts'
import { NamespaceController } from './namespace/namespace-controller.ts'
import { defaultAccount, rootCa } from './namespace-objects.ts'
import { keepInNamespaces } from './per-namespace-object.ts'
import { checkPolicies } from './policy-status.ts'
import type { QueueMetrics } from '../lib/telemetry/queue-metrics.ts'
import { QuotaController } from './resource-quota/quota-controller.ts'
import type { CacheAccessOf } from './cache-access.ts'
import type { RemoteApis } from './remote/remote-content.ts'
import { RetriedStart } from './retried-start.ts'
import { startInTurns } from './start-in-turns.ts'
import { cleanTokens } from './token-cleaner.ts'
import { deleteFinishedJobs } from './ttl-after-finished.ts'
import { protectClaims, protectVolumes } from './volume-protection.ts'

export type ElectedControllersOptions = {
  readonly handle: Handler
  readonly registry: Registry
  readonly accessOf: CacheAccessOf
  /** Whether other processes can use the same database. */
  readonly hasReplicas: boolean
  readonly election: {
    /**
     * Identity of this process in the election. Undefined if no other process can use the same
     * database, so that no election is needed.
     */
    readonly identity: string | undefined
    /**
     * Whether no other process can use the database. If the Lease still has a holder from an
     * earlier run, it can then be acquired at once.
     */
    readonly holdsStore: boolean
  }
  readonly metrics: QueueMetrics
  readonly openCharges: OpenCharges
  readonly gates: Gates
  /** How long legacy service account tokens can be unused before they are invalidated. */
  readonly legacyTokenPeriodMs: number
  readonly certificates: {
    /** The CA that issued the serving certificate. It is published in every namespace. */
    readonly rootCaPem: string
    /** The CAs that sign CertificateSigningRequests. */
    readonly signers: Signers
  }
  readonly clock: Clock
  /** Timers that use the time of `clock`. Defaults to the system timers. */
  readonly timers?: Timers | undefined
  readonly log: Log
  /** Remote API servers, if any. */
  readonly remote?: RemoteApis | undefined
}

/**
 * Returns functions that start the controllers with these names (--controllers), one for each. The
 * system namespaces must exist before the functions are called.
 */
export function controllerStarts(
  names: readonly ControllerName[],
  options: ElectedControllersOptions,
): (() => AsyncDisposable)[] {
  const { handle, log } = options
  const { identity, holdsStore } = options.election
  if (names.length === 0) return []
  if (identity === undefined) return startsOf(names, options)
  const lead: ElectionOptions['lead'] = (onFailed) =>
    startInTurns(startsOf(names, options), { onFailed })
  return [
    () =>
      new Election({
        handle,
        readLease: createReadLease(options),
        identity,
        holdsStore,
        lead,
        log,
      }),
  ]
}

function createReadLease({
  registry,
  accessOf,
}: ElectedControllersOptions): (name: string) => Promise<KubeObject | undefined> {
  return async (name) => {
    const resource = registry.find({
      group: 'coordination.k8s.io',
      version: 'v1',
      plural: 'leases',
    })
    if (resource === undefined)
      throw new Error('leases are not served (--runtime-config): no controller can be elected')
    const { keys, reader } = accessOf(resource)
    return (await reader.get(keys.key('kube-system', name), 'any')).item?.object()
  }
}

/** Controllers by name, with their service accounts. */
const controllers: {
  readonly [name in ControllerName]: { readonly account: string; readonly start: Start }
} = {
  'bootstrap-signer-controller': {
    account: 'bootstrap-signer',
    start: (parts) => signClusterInfo(parts.clock.wallMs, parts),
  },
  'certificatesigningrequest-approving-controller': {
    account: 'certificate-controller',
    start: approveRequests,
  },
  'certificatesigningrequest-cleaner-controller': {
    account: 'certificate-controller',
    start: (parts) => cleanRequests(parts.clock.wallMs, parts),
  },
  'certificatesigningrequest-signing-controller': {
    account: 'certificate-controller',
    start: (parts) => signRequests(parts.certificates.signers, parts),
  },
  'clusterrole-aggregation-controller': {
    account: 'clusterrole-aggregation-controller',
    start: ({ handle, log }) => followAggregatedRoles({ handle, log }),
  },
  'garbage-collector-controller': {
    account: 'generic-garbage-collector',
    start: (parts) => new GarbageCollector(parts),
  },
  'legacy-serviceaccount-token-cleaner-controller': {
    account: 'legacy-service-account-token-cleaner',
    start: (parts) => cleanLegacyTokens({ ...parts, periodMs: parts.legacyTokenPeriodMs }),
  },
  'persistentvolume-protection-controller': {
    account: 'pv-protection-controller',
    start: protectVolumes,
  },
  'persistentvolumeclaim-protection-controller': {
    account: 'pvc-protection-controller',
    start: protectClaims,
  },
  'token-cleaner-controller': {
    account: 'token-cleaner',
    start: (parts) => cleanTokens(parts.clock.wallMs, parts),
  },
  'ttl-after-finished-controller': {
    account: 'ttl-after-finished-controller',
    start: (parts) => deleteFinishedJobs(parts.clock.wallMs, parts),
  },
  'validatingadmissionpolicy-status-controller': {
    account: 'validatingadmissionpolicy-status-controller',
    start: checkPolicies,
  },
  'resourcequota-controller': {
    account: 'resourcequota-controller',
    start: (parts) => new QuotaController(parts),
  },
  'root-ca-certificate-publisher-controller': {
    account: 'root-ca-cert-publisher',
    start: (parts) => keepInNamespaces(rootCa(parts.certificates.rootCaPem), parts),
  },
  'serviceaccount-controller': {
    account: 'service-account-controller',
    start: (parts) => keepInNamespaces(defaultAccount, parts),
  },
  'namespace-controller': {
    account: 'namespace-controller',
    start: ({ remote, ...parts }) => new NamespaceController({ ...parts, remote: remote?.content }),
  },
}

type Start = (options: ElectedControllersOptions) => AsyncDisposable

function startsOf(
  names: readonly ControllerName[],
  options: ElectedControllersOptions,
): (() => AsyncDisposable)[] {
  const { handle, log } = options
  return names.map((name) => {
    const controller = controllers[name]
    const start = (): AsyncDisposable =>
      controller.start({ ...options, handle: controllerHandle(handle, controller.account) })
    return () => new RetriedStart({ name: `the ${name}`, start, log })
  })
}

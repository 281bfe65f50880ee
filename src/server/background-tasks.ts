/**
 * Starts the background tasks of a server: its own loops, and the controllers that run while the
 * server is the leader.
 */
import { hostname } from 'node:os'
import { AvailabilityMetrics } from '../request/aggregation/metrics.ts'
import type { ClusterObjects } from './cluster-objects.ts'
import type { Config } from '../config/config.ts'
import type { ControlPlane } from './control-plane.ts'
import { keptFlows, keptObjects } from '../controllers/bootstrap-objects.ts'
import type { Signers } from '../controllers/certificates/signers.ts'
import { CoordinatedElection } from '../controllers/coordinated-election/controller.ts'
import { controllerStarts } from '../controllers/elected-controllers.ts'
import { type SystemTasksOptions, systemTaskStarts } from '../controllers/system-tasks.ts'
import { QueueMetrics } from '../lib/telemetry/queue-metrics.ts'
import { startInTurns } from '../controllers/start-in-turns.ts'
import type { Metrics } from '../lib/telemetry/metrics.ts'

export type BackgroundTasksOptions = Pick<
  SystemTasksOptions,
  'uid' | 'clock' | 'timers' | 'log'
> & {
  readonly records: SystemTasksOptions['endpoints']['records']
  readonly port: number
  readonly objects: ClusterObjects
  /** Whether no other server uses the same database, so that controllers need no election. */
  readonly isAlone: boolean
  readonly signers: Signers
  /** The serving certificate. */
  readonly certificatePem: string
  readonly metrics: Metrics
  /** Called if a task cannot be started. The server then runs without this task. */
  readonly onFailed: (error: unknown) => void
}

type Plane = Pick<
  ControlPlane,
  'handle' | 'registry' | 'allocation' | 'openCharges' | 'readAccessOf' | 'aggregation'
>

/** Starts the background tasks. The system namespaces must exist. */
export function startBackgroundTasks(
  config: Config,
  plane: Plane,
  options: BackgroundTasksOptions,
): AsyncDisposable {
  const { handle, registry, readAccessOf, aggregation } = plane
  const { metrics, onFailed, timers, log } = options
  const availabilityMetrics = new AvailabilityMetrics(metrics)
  const availability = (): AsyncDisposable =>
    aggregation.startAvailability(availabilityMetrics, timers)
  const elections = () =>
    CoordinatedElection.start({ handle, registry, accessOf: readAccessOf, log })
  const isElecting = config.featureGates.isOn('CoordinatedLeaderElection')
  const starts = [
    ...ownStarts(config, plane, options),
    availability,
    ...electedStarts(config, plane, options),
    ...(isElecting ? [elections] : []),
  ]
  return startInTurns(starts, { onFailed })
}

function ownStarts(
  config: Config,
  { handle, allocation }: Plane,
  { objects, records, port, uid, clock, timers, log }: BackgroundTasksOptions,
): readonly (() => AsyncDisposable)[] {
  return systemTaskStarts({
    handle,
    hasIdentity: config.featureGates.isOn('APIServerIdentity'),
    repairServices: () => allocation.repair.pass(),
    serviceAddresses:
      config.cluster.services.addressesIn === 'records' ? undefined : allocation.repair,
    keptObjects: keptObjects(objects.cluster),
    keptFlows: keptFlows(objects.cluster),
    checkServiceRange: objects.checkServiceRange,
    publishInfo: objects.publishInfo,
    endpoints: {
      records,
      areKept: config.cluster.services.endpoints === 'lease',
      address: config.network.endpointAddress,
      port,
    },
    uid,
    clock,
    timers,
    log,
  })
}

function electedStarts(
  config: Config,
  { handle, registry, readAccessOf, openCharges, aggregation }: Plane,
  { uid, isAlone, signers, certificatePem, metrics, clock, timers, log }: BackgroundTasksOptions,
): readonly (() => AsyncDisposable)[] {
  return controllerStarts(config.controllers.names, {
    handle,
    registry,
    accessOf: readAccessOf,
    // Objects in another etcd cannot be compared with their namespace in a transaction. Therefore,
    // writes to a deleted namespace can still be in progress, as with several replicas.
    hasReplicas:
      config.storage.store.kind === 'etcd' && (!isAlone || config.storage.overrides.length > 0),
    election: {
      identity: isAlone ? undefined : `${hostname()}_${uid}`,
      holdsStore: config.storage.store.kind !== 'etcd',
    },
    metrics: new QueueMetrics(metrics),
    openCharges,
    gates: config.featureGates,
    legacyTokenPeriodMs: config.controllers.legacyTokenPeriodMs,
    certificates: {
      signers,
      rootCaPem: config.controllers.rootCaPem ?? lastCertificate(certificatePem),
    },
    clock,
    timers,
    log,
    remote: {
      content: () => aggregation.documents.content(),
      versions: () => aggregation.documents.versions(),
      onChange: (listener) => aggregation.documents.discovery.onChange(listener),
    },
  })
}

/**
 * Starts tasks after a delay. If the result is disposed before the delay has passed, no task is
 * started.
 */
export function startLater(
  start: () => AsyncDisposable,
  { delayMs, onFailed }: { readonly delayMs: number; readonly onFailed: (error: unknown) => void },
): AsyncDisposable {
  let started: AsyncDisposable | undefined
  const timer = setTimeout(() => {
    try {
      started = start()
    } catch (error) {
      onFailed(error)
    }
  }, delayMs).unref()
  return {
    [Symbol.asyncDispose]: async () => {
      clearTimeout(timer)
      await started?.[Symbol.asyncDispose]()
    },
  }
}

/**
 * Returns the last certificate of a chain, which belongs to the issuer. If the chain has only one
 * certificate, returns that certificate.
 */
const lastCertificate = (pem: string): string =>
  `${pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)?.at(-1) ?? pem}\n`

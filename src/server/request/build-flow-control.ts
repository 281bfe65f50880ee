/** Builds API Priority and Fairness for a control plane. */
import { systemTimers } from '../../lib/time/timers.ts'
import { FlowControl } from '../../request/flow/flow-control.ts'
import { flowGroup, FlowSchemasInformer } from '../../request/flow/flow-schemas-informer.ts'
import type { PlaneCore } from '../plane-core.ts'

export type FlowControlSubsystem = AsyncDisposable & {
  readonly flowControl: FlowControl
  /**
   * Starts reading FlowSchemas and priority levels. Never rejects. Until the FlowSchemas have been
   * read, requests use the mandatory priority levels.
   */
  readonly start: () => Promise<void>
}

/** The first release in which a watch that begins with the existing objects counts like a list. */
const ALL_READ_SINCE = 35

/**
 * Builds API Priority and Fairness. Returns undefined if only the number of requests is limited.
 */
export function buildFlowControl(core: PlaneCore): FlowControlSubsystem | undefined {
  const { config, environment, registry, metrics, storage, accessOf } = core
  if (!config.requests.hasFairness) return undefined
  const flowControl = new FlowControl({
    time: { ...systemTimers, ...environment.clock },
    metrics: metrics.flow,
    seats: config.requests.inFlight.readOnlyMax + config.requests.inFlight.mutatingMax,
    countObjects: (info) => {
      const resource = registry.find(info)
      return resource && storage.cache.objectsOf(accessOf(resource).keys.prefix)
    },
    countsInitialObjects: config.release >= ALL_READ_SINCE && config.featureGates.isOn('WatchList'),
    requestTimeoutMs: config.requests.timeoutMs,
  })
  const { log } = environment
  const schemas = new FlowSchemasInformer({ accessOf: core.accessIn(flowGroup), log, flowControl })
  return {
    flowControl,
    start: () => schemas.start(),
    [Symbol.asyncDispose]: () => schemas[Symbol.asyncDispose](),
  }
}

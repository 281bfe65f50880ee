/** Telemetry of a server: auditing, tracing, metrics of the process, and debug pages. */
import { named } from '../lib/telemetry/log.ts'
import { addProcessMetrics, addStartTime } from '../lib/telemetry/process-metrics.ts'
import type { ModuleLevel } from '../lib/telemetry/verbosity.ts'
import type { Audit } from '../request/audit/audit.ts'
import { createAudit } from '../request/audit/create-audit.ts'
import { createDebugPages } from '../request/debug/debug-pages.ts'
import { Profiles } from '../request/debug/profiler.ts'
import { addServerMetrics } from '../request/discovery/server-metrics.ts'
import type { Tracing } from '../request/tracing/tracing.ts'
import type { ServerCore } from './server-core.ts'

/** Opens the audit log and webhook. Returns undefined if auditing is disabled. */
export function openAudit(core: ServerCore): Promise<(Audit & AsyncDisposable) | undefined> {
  const { config, environment, metrics, memory, egress } = core
  const { clock, random, log } = environment
  return createAudit(config.telemetry.audit, {
    metrics,
    clock,
    random,
    log: named(log, 'audit'),
    requestBytes: memory.requestBytes,
    dial: egress.controlplane,
  })
}

/** Starts tracing. If tracing is disabled, returns undefined and does not load the module. */
export async function openTracing(core: ServerCore): Promise<Tracing | undefined> {
  const { config, environment, metrics, egress, serverId } = core
  if (config.telemetry.tracing === null) return undefined
  const { clock, log } = environment
  const loaded = await import('../request/tracing/tracing.ts')
  return new loaded.Tracing(config.telemetry.tracing, {
    clock,
    log: named(log, 'tracing'),
    metrics,
    resource: { 'service.name': 'apiserver', 'service.instance.id': serverId },
    dial: egress.controlplane,
  })
}

/**
 * Adds metrics of the server and of the process. `isShared` means that other servers run in the
 * same process.
 */
export function addOwnMetrics(
  { config, environment, metrics, sliMetrics }: ServerCore,
  isShared: boolean,
): Disposable {
  const { clock, log } = environment
  addStartTime(sliMetrics, clock)
  addServerMetrics(metrics, config.featureGates)
  return addProcessMetrics(metrics, clock, { isShared, log })
}

export type DebugPages = ReturnType<typeof createDebugPages>

/** Creates the debug pages, and opens the socket for them if it is configured. */
export async function openDebugPages(
  { config, environment: { verbosity, log } }: ServerCore,
  owned: AsyncDisposableStack,
): Promise<DebugPages> {
  const debug = {
    profiles: new Profiles(log),
    setVerbosity: (level: number) => {
      verbosity.level = level
      log('info', 'the verbosity was changed', { v: level })
    },
    setModules: (modules: readonly ModuleLevel[]) => {
      verbosity.setModules(modules)
      log('info', 'the verbosity of modules was changed', { modules })
    },
  }
  if (config.telemetry.debugSocketPath !== null) {
    const { openDebugSocket } = await import('../request/debug/debug-socket.ts')
    const pages = createDebugPages({ ...debug, hasProfiles: true })
    owned.use(await openDebugSocket(config.telemetry.debugSocketPath, pages))
  }
  return createDebugPages({ ...debug, hasProfiles: config.telemetry.hasProfiles })
}

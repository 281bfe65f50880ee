/**
 * Checks the versions of etcd's members at the start and warns the operator. Every watch stream
 * opened later checks its own member again.
 */
import { EtcdClient, type EtcdOptions } from './etcd/client.ts'
import { isProgressReliable, unreliable } from './etcd/version.ts'
import type { Log } from '../lib/telemetry/log.ts'

/** A member that does not answer in time may be down, which is no reason not to start. */
const STATUS_TIMEOUT_MS = 3_000

/**
 * Resolves as soon as one member is usable. Fails if members answer but none of them is usable;
 * each unusable one is logged.
 */
export async function checkVersions(options: EtcdOptions, log: Log): Promise<void> {
  const faults: string[] = []
  const checks = options.endpoints.map(async (endpoint) => {
    const version = await versionOf({ ...options, endpoints: [endpoint] })
    if (isProgressReliable(version)) return
    const fault = unreliable(endpoint, version)
    faults.push(fault)
    log('warn', fault)
    throw new Error(fault)
  })
  try {
    await Promise.any(checks)
  } catch {
    // If no member answers, the first call that needs an answer fails and says why.
    const [fault] = faults
    if (fault !== undefined) throw new Error(fault)
  }
}

async function versionOf(options: EtcdOptions): Promise<string> {
  await using client = new EtcdClient(options)
  const { version } = await client.maintenance.status({ timeoutMs: STATUS_TIMEOUT_MS })
  return version
}

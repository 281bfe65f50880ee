/**
 * Checks the versions of etcd's members at startup and warns the operator. Each watch stream that
 * is opened later checks its own member again.
 */
import { EtcdClient, type EtcdOptions } from './etcd/client.ts'
import { isProgressReliable, unreliable } from './etcd/version.ts'
import type { Log } from '../lib/telemetry/log.ts'

/**
 * Timeout of a check. A member that does not respond may be down, but the server must start anyway.
 */
const STATUS_TIMEOUT_MS = 3_000

/**
 * Resolves as soon as one member is usable. Rejects if members respond but none of them is usable.
 * Logs each unusable member.
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
    // If no member responds, ignore the errors. The first call to etcd then fails with an
    // explanation.
    const [fault] = faults
    if (fault !== undefined) throw new Error(fault)
  }
}

async function versionOf(options: EtcdOptions): Promise<string> {
  await using client = new EtcdClient(options)
  const { version } = await client.maintenance.status({ timeoutMs: STATUS_TIMEOUT_MS })
  return version
}

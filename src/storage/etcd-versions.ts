/** Says at the start, and to the operator, what every stream that is opened later checks again for its own connection. */
import { EtcdClient, type EtcdOptions } from '../etcd/client.ts'
import { isProgressReliable, unreliable } from '../etcd/version.ts'
import type { Log } from '../lib/log.ts'

/** A member that does not answer by then may be down; that is no reason not to start. */
const STATUS_TIMEOUT_MS = 3_000

/** Comes back with the first member that can be used. Fails if members answer but none of them can; each of those is logged. */
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
    // If none answers, the first call that has to be answered says why.
    const [fault] = faults
    if (fault !== undefined) throw new Error(fault)
  }
}

async function versionOf(options: EtcdOptions): Promise<string> {
  await using client = new EtcdClient(options)
  const { version } = await client.maintenance.status({ timeoutMs: STATUS_TIMEOUT_MS })
  return version
}

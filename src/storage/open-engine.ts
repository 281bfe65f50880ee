/** The engine that the configuration names: etcd, or a SQLite file in a folder of this process. */
import { EtcdClient } from '../etcd/client.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { systemTimers } from '../lib/timers.ts'
import { Compactor } from './compactor.ts'
import type { Engine } from './engine.ts'
import { EtcdEngine } from './etcd-engine.ts'
import { checkVersions } from './etcd-versions.ts'
import { IntervalCompactor } from './sqlite/interval-compactor.ts'
import { SqliteEngine } from './sqlite/sqlite-engine.ts'

export type EngineConfig = {
  readonly servers: readonly string[]
  readonly dataDir: string | null
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | null
  readonly compactionMs: number
}

export type OpenedEngine = {
  readonly engine: Engine
  /** History is compacted until the result is disposed of. */
  readonly startCompaction: () => AsyncDisposable
  /** Bytes that the database takes on its disk; of etcd, that of the member that is connected. */
  readonly readSize: (signal: AbortSignal) => Promise<number>
}

/** Fails with what to do about it. */
export async function openEngine(
  config: EngineConfig,
  parts: { readonly clock: Clock; readonly log: Log },
): Promise<OpenedEngine> {
  const { dataDir, compactionMs } = config
  const { clock, log } = parts
  if (dataDir !== null) {
    const time = { ...systemTimers, ...clock }
    const engine = await openFolder(dataDir, time)
    return {
      engine,
      startCompaction: () => new IntervalCompactor({ engine, time, log, intervalMs: compactionMs }),
      readSize: () => engine.size(),
    }
  }
  const etcd = { endpoints: config.servers, tls: config.tls ?? undefined, clock, log }
  await checkVersions(etcd, log)
  const client = new EtcdClient(etcd)
  return {
    engine: new EtcdEngine(client),
    startCompaction: () => new Compactor({ client, log, intervalMs: compactionMs }),
    readSize: async (signal) => (await client.maintenance.status({ signal })).dbSizeBytes,
  }
}

async function openFolder(
  folder: string,
  time: Parameters<typeof SqliteEngine.open>[0]['time'],
): Promise<SqliteEngine> {
  try {
    return await SqliteEngine.open({ folder, ...(time && { time }) })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`--data-dir: ${folder} cannot be used (${why})`, { cause })
  }
}

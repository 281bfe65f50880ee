/** Opens the engine that is configured: etcd, a SQLite file in a local folder, or memory. */
import { readFile } from 'node:fs/promises'
import type { Worker } from 'node:worker_threads'
import { messageOf } from '../lib/errors.ts'
import { EtcdClient, type EtcdOptions } from './etcd/client.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Dial } from '../lib/net/dial.ts'
import { isDiskFull } from '../lib/process/files.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { systemTimers, type Time } from '../lib/time/timers.ts'
import { Compactor } from './compactor.ts'
import type { Engine } from './engine.ts'
import { EtcdEngine } from './etcd-engine.ts'
import { checkVersions } from './etcd-versions.ts'
import { IntervalCompactor, type IntervalCompactorOptions } from './interval-compactor.ts'
import { importMarker, toBytes } from './keys.ts'
import { MemoryEngine } from './memory/memory-engine.ts'
import { SqliteEngine } from './sqlite/sqlite-engine.ts'

/**
 * Timeout for checking whether an import into etcd was not completed, so that an etcd that hangs
 * does not prevent the start.
 */
const MARKER_MS_MAX = 3_000

type EtcdConfig = {
  readonly kind: 'etcd'
  readonly servers: readonly string[]
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | null
  /**
   * User name and password for etcd. If absent, etcd authenticates this server by its client
   * certificate, or not at all.
   */
  readonly login?: { readonly user: string; readonly passwordPath: string } | undefined
}

export type EngineConfig = {
  readonly store:
    | EtcdConfig
    | { readonly kind: 'sqlite'; readonly folder: string }
    | { readonly kind: 'memory' }
  readonly compactionMs: number
}

export type OpenedEngine = {
  readonly engine: Engine
  /** Starts to compact history regularly. Disposing of the result stops this. */
  readonly startCompaction: () => AsyncDisposable
  /**
   * Returns the size of the database on disk in bytes. For etcd, it is the size on the connected
   * member.
   */
  readonly readSize: (signal: AbortSignal) => Promise<number>
}

export type OpenEngineOptions = {
  readonly clock: Clock
  readonly log: Log
  /** Opens connections to etcd. If undefined, connections are direct. */
  readonly dial?: Dial | undefined
  /** The SQLite thread, if it is already running. */
  readonly thread?: Worker | undefined
  /** Called with the reason when the SQLite file becomes unwritable. */
  readonly onUnwritable?: ((fault: string) => void) | undefined
}

/** Opens an engine. If this fails, the error message says how to fix the problem. */
export async function openEngine(
  { store, compactionMs }: EngineConfig,
  parts: OpenEngineOptions,
): Promise<OpenedEngine> {
  const { clock, log } = parts
  if (store.kind === 'etcd') return openEtcd(store, compactionMs, parts)
  const time = { ...systemTimers, ...clock }
  const common = { time, log, intervalMs: compactionMs }
  if (store.kind === 'memory') return openMemory(new MemoryEngine({ time }), common)
  const engine = await openFolder(store.folder, time, parts)
  return {
    engine,
    startCompaction: () => new IntervalCompactor({ ...common, engine }),
    readSize: () => engine.size(),
  }
}

type CompactionOptions = Omit<IntervalCompactorOptions, 'engine'>

export function openMemory(engine: MemoryEngine, options: CompactionOptions): OpenedEngine {
  const compacted = {
    latest: () => engine.latest(),
    compact: async (revision: number) => engine.compact(revision),
  }
  return {
    engine,
    startCompaction: () => new IntervalCompactor({ ...options, engine: compacted }),
    readSize: async () => 0,
  }
}

async function openEtcd(
  { servers, tls, login }: EtcdConfig,
  compactionMs: number,
  parts: OpenEngineOptions,
): Promise<OpenedEngine> {
  const etcd = { endpoints: servers, tls: tls ?? undefined, ...loginOf(login), ...parts }
  await checkVersions(etcd, parts.log)
  await using stack = new AsyncDisposableStack()
  const client = stack.use(new EtcdClient(etcd))
  await refuseHalfImported(client)
  stack.move()
  return {
    engine: new EtcdEngine(client),
    startCompaction: () => new Compactor({ client, log: parts.log, intervalMs: compactionMs }),
    readSize: async (signal) => (await client.maintenance.status({ signal })).dbSizeBytes,
  }
}

/**
 * Returns the options for etcd authentication. The password file is read again for each token,
 * because etcd rejects old tokens after the password has changed.
 */
export function loginOf(login: EtcdConfig['login']): Pick<EtcdOptions, 'user' | 'password'> {
  if (login === undefined) return {}
  return {
    user: login.user,
    password: async () => (await readFile(login.passwordPath, 'utf8')).replace(/\r?\n$/, ''),
  }
}

/**
 * Throws if an import into etcd was not completed. If etcd does not respond, or does not allow this
 * server to read the key, the check is skipped. The first call that needs etcd then fails.
 */
async function refuseHalfImported(client: EtcdClient): Promise<void> {
  const found = await client.kv
    .range({ key: toBytes(importMarker), countOnly: true }, { timeoutMs: MARKER_MS_MAX })
    .catch(() => undefined)
  if (found === undefined || found.count === 0) return
  throw new Error(
    `an import into this etcd is incomplete: run keelson store import with the same file again, or delete the key ${importMarker} if you are sure that the data is complete`,
  )
}

async function openFolder(
  folder: string,
  time: Time,
  options: OpenEngineOptions,
): Promise<SqliteEngine> {
  try {
    return await SqliteEngine.open({ ...options, folder, time })
  } catch (cause) {
    const why = messageOf(cause)
    const advice = isDiskFull(cause) ? ': free space on its disk' : ''
    throw new Error(`--data-dir: ${folder} cannot be used (${why})${advice}`, { cause })
  }
}

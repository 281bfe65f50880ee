/** Starts a server on an in-memory engine. */
import { randomUUID } from 'node:crypto'
import type { Handler } from '../../api/request.ts'
import type { Config } from '../../config/config.ts'
import type { Listener } from '../../net/http/listener.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { Restores } from '../../lib/concurrency/restores.ts'
import { realEnvironment } from '../../server/environment.ts'
import { type Server, startServer } from '../../server/server.ts'
import { openMemory } from '../../storage/open-engine.ts'
import type { MemoryEngine } from '../../storage/memory/memory-engine.ts'
import type { TestClock } from './clock.ts'
import { FencedEngine } from './fenced-engine.ts'
import type { History } from './history.ts'

export type BootOptions = {
  readonly engine: MemoryEngine
  /**
   * Informs parts of the server when an earlier state of the engine is restored. Absent if no state
   * is ever restored.
   */
  readonly restores?: Restores
  readonly clock: TestClock
  readonly log: Log
  /** Whether the engine already contains the initial objects of a cluster. */
  readonly isPrepared: boolean
  /** If true, the server writes nothing by itself. Only requests cause writes. */
  readonly isPassive?: boolean
  /** Records writes. Absent if writes are not recorded. */
  readonly history?: History
  /** Wraps the handler of client requests, for example to inject faults. */
  readonly around?: (handle: Handler) => Handler
  /** Binds the server's listener to an address. */
  readonly listen: (listener: Listener) => Promise<void>
}

export type BootedServer = { readonly server: Server; readonly handle: Handler }

/**
 * The uid of the servers in this process. Servers identify their records in the database by it. All
 * servers have the same uid, so a fork treats the records of its origin as its own.
 */
const serverUid = randomUUID()

export async function boot(config: Config, options: BootOptions): Promise<BootedServer> {
  const { engine, restores = new Restores(), clock, log, history } = options
  const { isPrepared, isPassive = false, around = (handle) => handle, listen } = options
  const { promise: handle, resolve } = Promise.withResolvers<Handler>()
  const environment = {
    ...realEnvironment(log),
    clock: clock.clock,
    ...(history === undefined
      ? {}
      : { onContext: history.onContext, aroundRequest: history.aroundRequest }),
  }
  const opened = openMemory(engine, {
    time: clock.time,
    log,
    intervalMs: config.storage.compactionMs,
  })
  const hooks = {
    engine: { ...opened, engine: new FencedEngine(engine, restores) },
    uid: serverUid,
    isAlone: true,
    isPrepared,
    isPassive,
    timers: clock.timers,
    aroundHandler: (own: Handler) => {
      resolve(own)
      return around(own)
    },
    listen,
  }
  const server = await restores.within(() => startServer(config, environment, hooks))
  void server.failed.then((error) =>
    log('error', 'failed to start a component of the server', { error: String(error) }),
  )
  return { server, handle: await handle }
}

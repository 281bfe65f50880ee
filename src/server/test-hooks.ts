import type { Handler } from '../api/request.ts'
import type { Timers } from '../lib/time/timers.ts'
import type { Listener } from '../net/http/listener.ts'
import type { OpenedEngine } from '../storage/open-engine.ts'

/**
 * What a test replaces in a server, or puts between its parts (src/entry/testing). A server of its
 * own has no hooks.
 */
export type TestHooks = {
  /** Replaces the engine that the configuration names. The server closes it. */
  readonly engine?: OpenedEngine
  /**
   * The engine that the configuration names, if it is being opened already. The server closes it.
   */
  readonly opening?: Promise<OpenedEngine>
  /** Identifies the server among those that share a database. Absent: it is new. */
  readonly uid?: string
  /**
   * The objects that every cluster begins with exist: nothing is checked or read before the server
   * is ready.
   */
  readonly isPrepared?: boolean
  /** No other server shares the database: its controllers need no election. */
  readonly isAlone?: boolean
  /** Only requests write: the server has no background tasks and no controllers. */
  readonly isPassive?: boolean
  /** The timers of everything that is due at a time of the clock. Absent: those of the system. */
  readonly timers?: Timers
  /**
   * Wraps the handler of the requests of clients. The server's own requests do not pass through it.
   */
  readonly aroundHandler?: (handle: Handler) => Handler
  /** Replaces listening at the address of the configuration. */
  readonly listen?: (listener: Listener) => Promise<void>
  /** Aborts a start that waits for something that cannot be read yet, with its reason. */
  readonly signal?: AbortSignal
}

import type { Handler } from '../api/request.ts'
import type { Timers } from '../lib/time/timers.ts'
import type { Listener } from '../net/http/listener.ts'
import type { OpenedEngine } from '../storage/open-engine.ts'

/**
 * Functions and objects that replace or wrap parts of a server in tests (src/entry/testing).
 * Outside of tests, a server has no hooks.
 */
export type TestHooks = {
  /** An engine that replaces the configured engine. The server closes it. */
  readonly engine?: OpenedEngine
  /** The configured engine, if the caller has already begun to open it. The server closes it. */
  readonly opening?: Promise<OpenedEngine>
  /**
   * Identifies the server among all servers that use the same database. If absent, a new identifier
   * is generated.
   */
  readonly uid?: string
  /**
   * Whether the initial objects of a cluster already exist. If so, no object is checked or read
   * before the server is ready.
   */
  readonly isPrepared?: boolean
  /** Whether no other server uses the same database, so that controllers need no election. */
  readonly isAlone?: boolean
  /**
   * Whether only requests write objects: the server then has no background tasks and no
   * controllers.
   */
  readonly isPassive?: boolean
  /** Timers that use the time of the clock. Defaults to the system timers. */
  readonly timers?: Timers
  /** Wraps the handler of client requests. Requests of the server to itself bypass this handler. */
  readonly aroundHandler?: (handle: Handler) => Handler
  /** A function that replaces listening at the configured address. */
  readonly listen?: (listener: Listener) => Promise<void>
  /**
   * Aborts a start that is waiting for data that cannot be read yet. The start then fails with the
   * reason of the signal.
   */
  readonly signal?: AbortSignal
}

import type { Handler } from '../api/request.ts'
import type { Timers } from '../lib/time/timers.ts'
import type { Listener } from '../net/http/listener.ts'
import type { OpenedEngine } from '../storage/open-engine.ts'

/**
 * Replacements for parts of a server, and wrappers between them, for tests (src/entry/testing). A
 * server outside of tests has no hooks.
 */
export type TestHooks = {
  /** Replaces the engine that the configuration names. The server closes it. */
  readonly engine?: OpenedEngine
  /**
   * The engine that the configuration names, if it is already being opened. The server closes it.
   */
  readonly opening?: Promise<OpenedEngine>
  /** Identifies the server among those that share a database. Absent: a new identifier. */
  readonly uid?: string
  /**
   * Whether the objects that every cluster begins with already exist. Nothing is then checked or
   * read before the server is ready.
   */
  readonly isPrepared?: boolean
  /** Whether no other server shares the database, so that controllers need no election. */
  readonly isAlone?: boolean
  /** Whether only requests write: the server then has no background tasks and no controllers. */
  readonly isPassive?: boolean
  /** Timers of everything that is due at a time of the clock. Absent: those of the system. */
  readonly timers?: Timers
  /** Wraps the handler of client requests. The server's own requests do not pass through it. */
  readonly aroundHandler?: (handle: Handler) => Handler
  /** Replaces listening at the configured address. */
  readonly listen?: (listener: Listener) => Promise<void>
  /**
   * Aborts a start that waits for something that cannot be read yet. The start then fails with the
   * signal's reason.
   */
  readonly signal?: AbortSignal
}

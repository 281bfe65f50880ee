import type { Handler } from '../api/request.ts'
import type { RequestContext } from '../api/context.ts'
import { type Ids, randomIds } from '../api/ids.ts'
import { type Clock, systemClock } from '../lib/time/clock.ts'
import { lookUp } from '../lib/net/hosts.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { Verbosity } from '../lib/telemetry/verbosity.ts'
import { createFindHost, type FindHost } from '../request/verbs/subresources/find-host.ts'

/**
 * Inputs that do not come from the configuration, such as the clock and randomness. Tests can
 * replace and replay them.
 */
export type Environment = {
  readonly clock: Clock
  readonly log: Log
  /** Verbosity of the log. Defaults to the configured verbosity. */
  readonly verbosity?: Verbosity
  readonly ids: Ids
  /** Returns a number from 0 (inclusive) to 1 (exclusive), like Math.random. */
  readonly random: () => number
  readonly findHost: FindHost
  /**
   * Called with the context of each request before the request is authenticated. The user is set
   * later.
   */
  readonly onContext?: (context: RequestContext) => void
  /** Wraps the handler of all requests, including requests of the server to itself. */
  readonly aroundRequest?: (handle: Handler) => Handler
}

export const realEnvironment = (log: Log): Environment => ({
  clock: systemClock,
  log,
  ids: randomIds,
  random: Math.random,
  findHost: createFindHost(lookUp),
})

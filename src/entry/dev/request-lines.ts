/** The lines that `keelson dev -v` prints: one for each request of a client. */
import type { RequestContext } from '../../api/context.ts'
import type { Handler } from '../../api/request.ts'
import { type Log, named } from '../../lib/telemetry/log.ts'
import { showValue } from '../../lib/telemetry/log-sink.ts'
import type { Verbosity } from '../../lib/telemetry/verbosity.ts'
import type { Environment } from '../../server/environment.ts'

/**
 * The verbosity that `-v` sets. At higher levels, the server itself logs each request in more
 * detail.
 */
export const REQUESTS = 1

const METHOD_CHARACTERS = 6
const TIME_CHARACTERS = 8
/**
 * Width of the column for the path. Most lines then fit on 80 columns. If a path is longer, the
 * user name after it is not aligned.
 */
const PATH_CHARACTERS = 36

/**
 * Returns the functions that log a line for each request of a client. If the verbosity is not 1,
 * returns no functions, because a server without them handles requests faster.
 */
export function observeRequests(
  log: Log,
  verbosity: Verbosity,
): Pick<Environment, 'onContext' | 'aroundRequest'> {
  if (verbosity.level !== REQUESTS) return {}
  const write = named(log, 'requests')
  let latest: RequestContext | undefined
  const aroundRequest =
    (handle: Handler): Handler =>
    async (request, ownUser) => {
      const startMs = performance.now()
      latest = undefined
      const answering = handle(request, ownUser)
      // `handle` has already set `latest` to the context of this request, before its promise
      // resolves.
      const context = latest
      const response = await answering
      // The level can be changed while the server runs.
      if (ownUser === undefined && verbosity.level === REQUESTS) {
        const { method, path } = request
        const ms = performance.now() - startMs
        write('info', describeRequest({ method, path, status: response.status, ms, context }))
      }
      return response
    }
  return { onContext: (context) => void (latest = context), aroundRequest }
}

export type AnsweredRequest = {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly ms: number
  /**
   * The context of the request. Undefined if the request was rejected before its context was
   * created.
   */
  readonly context: Pick<RequestContext, 'knownUser' | 'info'> | undefined
}

/** Describes a request in one line. Omits its query, which can contain secrets. */
export function describeRequest({ method, path, status, ms, context }: AnsweredRequest): string {
  const suffix = context?.info.verb === 'watch' ? ' (watch)' : ''
  return [
    showValue(method).padEnd(METHOD_CHARACTERS),
    `${status}`,
    `${Math.round(ms)} ms`.padStart(TIME_CHARACTERS),
    ` ${showValue(path)}${suffix}`.padEnd(PATH_CHARACTERS),
    showValue(context?.knownUser?.name ?? '-'),
  ].join(' ')
}

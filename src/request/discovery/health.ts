/** /healthz, /livez and /readyz: run the checks, and return one line for each of them. */
import { cutText } from '../../lib/text/cut-text.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'

export type Endpoint = 'healthz' | 'livez' | 'readyz'

export type HealthCheck = {
  readonly name: string
  /** Returns the reason if the check fails, or undefined if it succeeds. */
  readonly fault: () => MaybePromise<string | undefined>
  /**
   * Whether only /readyz includes the check. /readyz shows whether the server can currently serve
   * requests.
   */
  readonly isForReadiness?: boolean
  /**
   * Whether the check runs only if it is requested by name, and does not affect the result of the
   * whole endpoint.
   */
  readonly isSeparate?: boolean
  /**
   * Whether /livez includes the check. True for a check that could succeed after a restart of the
   * server.
   */
  readonly isForLiveness?: boolean
  /**
   * Replaces `fault` for /livez, so that a server that is still starting is not restarted too
   * early.
   */
  readonly livenessFault?: () => string | undefined
}

/** Called with the result of every check that was run. */
export type OnChecked = (endpoint: Endpoint, name: string, isOk: boolean) => void

export type Health = { readonly isHealthy: boolean; readonly text: string }

export const checksOf = (
  endpoint: Endpoint,
  checks: readonly HealthCheck[],
): readonly HealthCheck[] =>
  checks
    .filter(
      ({ isForReadiness = false, isForLiveness = true }) =>
        (!isForReadiness || endpoint === 'readyz') && (isForLiveness || endpoint !== 'livez'),
    )
    .map((check) =>
      endpoint === 'livez' ? { ...check, fault: check.livenessFault ?? check.fault } : check,
    )

/**
 * Runs the checks. The response does not contain the reason why a check fails; only the path of a
 * single check returns it.
 */
export async function checkHealth(
  endpoint: Endpoint,
  checks: readonly HealthCheck[],
  {
    query,
    onChecked = () => undefined,
  }: { readonly query: URLSearchParams; readonly onChecked?: OnChecked },
): Promise<Health> {
  const excluded = new Set(query.getAll('exclude'))
  const checked = checks
    .filter(({ isSeparate = false }) => !isSeparate)
    .map(async ({ name, fault }) => {
      if (excluded.delete(name)) return { isOk: true, line: `[+]${name} excluded: ok\n` }
      const isOk = (await fault()) === undefined
      onChecked(endpoint, name, isOk)
      return { isOk, line: isOk ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n` }
    })
  const results = await Promise.all(checked)
  const isHealthy = results.every(({ isOk }) => isOk)
  if (isHealthy && !query.has('verbose')) return { isHealthy, text: 'ok' }
  const unknown = cutText([...excluded].map((name) => JSON.stringify(cutText(name))).join(','))
  const warning =
    unknown === '' ? '' : `warn: some health checks cannot be excluded: no matches for ${unknown}\n`
  const lines = results.map(({ line }) => line).join('')
  return {
    isHealthy,
    text: `${lines}${warning}${endpoint} check ${isHealthy ? 'passed' : 'failed'}\n`,
  }
}

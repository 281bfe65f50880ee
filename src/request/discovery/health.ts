/** /healthz, /livez and /readyz: run the checks, and print a line about each of them. */
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'

export type Endpoint = 'healthz' | 'livez' | 'readyz'

export type HealthCheck = {
  readonly name: string
  /** Returns the reason if the check fails, otherwise undefined. */
  readonly fault: () => MaybePromise<string | undefined>
  /** Whether the check is only for /readyz, which shows whether requests would succeed now. */
  readonly isForReadiness?: boolean
  /**
   * Whether the check runs only if it is requested by name, and does not count for the whole
   * endpoint.
   */
  readonly isSeparate?: boolean
  /** Whether /livez includes the check, because a restart of the server could help. */
  readonly isForLiveness?: boolean
  /** Replaces `fault` for /livez, because a start that is not finished may still have time. */
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
 * Runs the checks. The text does not say why a check fails; only the path of a single check shows
 * the reason.
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
  const unknown = [...excluded].map((name) => JSON.stringify(name)).join(',')
  const warning =
    unknown === '' ? '' : `warn: some health checks cannot be excluded: no matches for ${unknown}\n`
  const lines = results.map(({ line }) => line).join('')
  return {
    isHealthy,
    text: `${lines}${warning}${endpoint} check ${isHealthy ? 'passed' : 'failed'}\n`,
  }
}

/** /healthz, /livez and /readyz: a list of checks, and one line of text about them. */

export type Endpoint = 'healthz' | 'livez' | 'readyz'

export type HealthCheck = {
  readonly name: string
  /** The reason when it fails, undefined when all is well. */
  readonly fault: () => string | undefined
  /** Asked for readiness alone: whether requests would succeed now. */
  readonly isForReadiness?: boolean
  /** The part that it is about is not there: nothing is checked, and nothing is claimed. */
  readonly isAbsent?: boolean
}

/** Told the result of every check that was made. */
export type OnChecked = (endpoint: Endpoint, name: string, isOk: boolean) => void

export type Health = { readonly isHealthy: boolean; readonly text: string }

export const checksOf = (endpoint: Endpoint, checks: readonly HealthCheck[]): readonly HealthCheck[] =>
  checks.filter(({ isForReadiness = false }) => !isForReadiness || endpoint === 'readyz')

/** Reasons are for those with access to the log: they are left out here. */
export function checkHealth(
  endpoint: Endpoint,
  checks: readonly HealthCheck[],
  { query, onChecked = () => undefined }: { readonly query: URLSearchParams; readonly onChecked?: OnChecked },
): Health {
  const excluded = new Set(query.getAll('exclude'))
  const results = checks.map(({ name, fault, isAbsent = false }) => {
    if (excluded.delete(name) || isAbsent) return { isOk: true, line: `[+]${name} excluded: ok\n` }
    const isOk = fault() === undefined
    onChecked(endpoint, name, isOk)
    return { isOk, line: isOk ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n` }
  })
  const isHealthy = results.every(({ isOk }) => isOk)
  if (isHealthy && !query.has('verbose')) return { isHealthy, text: 'ok' }
  const unknown = [...excluded].map((name) => JSON.stringify(name)).join(',')
  const warning = unknown === '' ? '' : `warn: some health checks cannot be excluded: no matches for ${unknown}\n`
  const lines = results.map(({ line }) => line).join('')
  return { isHealthy, text: `${lines}${warning}${endpoint} check ${isHealthy ? 'passed' : 'failed'}\n` }
}

/** /healthz, /livez and /readyz: a list of checks, and one line of text about them. */

/** The reason when it fails, undefined when all is well. */
export type Check = { readonly name: string; readonly fault: () => string | undefined }

export type Health = { readonly isHealthy: boolean; readonly text: string }

/** Reasons are for those with access to the log: they are left out here. */
export function checkHealth(endpoint: string, checks: readonly Check[], query: URLSearchParams): Health {
  const excluded = new Set(query.getAll('exclude'))
  const results = checks.map(({ name, fault }) => {
    if (excluded.delete(name)) return { isOk: true, line: `[+]${name} excluded: ok\n` }
    const isOk = fault() === undefined
    return { isOk, line: isOk ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n` }
  })
  const isHealthy = results.every(({ isOk }) => isOk)
  if (isHealthy && !query.has('verbose')) return { isHealthy, text: 'ok' }
  const unknown = [...excluded].map((name) => JSON.stringify(name)).join(',')
  const warning = unknown === '' ? '' : `warn: some health checks cannot be excluded: no matches for ${unknown}\n`
  const lines = results.map(({ line }) => line).join('')
  return { isHealthy, text: `${lines}${warning}${endpoint} check ${isHealthy ? 'passed' : 'failed'}\n` }
}

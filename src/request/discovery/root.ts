/** Serves `/`: a list of all paths that the server serves. */
import { type HealthCheck, checksOf, type Endpoint } from './health.ts'
import type { ListedGroups } from './listed-groups.ts'

const endpoints: readonly Endpoint[] = ['healthz', 'livez', 'readyz']
const fixed: readonly string[] = [
  '/api',
  '/api/v1',
  '/apis',
  '/apis/',
  '/metrics',
  '/metrics/slis',
  '/version',
].concat('/openapi/v2', '/openapi/v3', '/openapi/v3/')

/** Returns the list of paths. `others` are paths that only some servers have. */
export function rootIndex(
  listed: ListedGroups,
  checks: readonly HealthCheck[],
  others: readonly string[],
): string[] {
  const groups = [...listed.all].flatMap(({ name, versions }) => [
    `/apis/${name}`,
    ...versions.map((version) => `/apis/${name}/${version}`),
  ])
  const health = endpoints.flatMap((endpoint) => [
    `/${endpoint}`,
    ...checksOf(endpoint, checks).map(({ name }) => `/${endpoint}/${name}`),
  ])
  return [...fixed, ...others, ...groups, ...health].toSorted()
}

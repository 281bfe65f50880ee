/** All paths that the server answers, for a request of `/`. */
import type { Registry } from '../registry/registry.ts'
import { groupNames, versionsOf } from './groups.ts'
import { type HealthCheck, checksOf, type Endpoint } from './health.ts'

const endpoints: readonly Endpoint[] = ['healthz', 'livez', 'readyz']
const fixed: readonly string[] = ['/api', '/api/v1', '/apis', '/apis/', '/metrics', '/metrics/slis', '/version'].concat(
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
)

/** `others`: paths that not every server has. */
export function rootIndex(registry: Registry, checks: readonly HealthCheck[], others: readonly string[]): string[] {
  const groups = groupNames(registry).flatMap((group) => [
    `/apis/${group}`,
    ...versionsOf(registry, group).map((version) => `/apis/${group}/${version}`),
  ])
  const health = endpoints.flatMap((endpoint) => [
    `/${endpoint}`,
    ...checksOf(endpoint, checks).map(({ name }) => `/${endpoint}/${name}`),
  ])
  return [...fixed, ...others, ...groups, ...health].toSorted()
}

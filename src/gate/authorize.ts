/**
 * Whether the user may do it. Members of system:masters may do everything; everybody else only what the bootstrap roles
 * system:discovery and system:public-info-viewer give.
 */
import { forbidden } from '../api/errors.ts'
import { quote } from '../api/quote.ts'
import { authenticatedGroup, mastersGroup, type User } from '../api/user.ts'
import type { RequestInfo } from './request-info.ts'

const publicPaths: readonly string[] = ['/healthz', '/livez', '/readyz', '/version', '/version/']
const discoveryPaths: readonly string[] = ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*']

/** Fails with Forbidden. */
export function authorize(user: User, info: RequestInfo): void {
  if (user.groups.includes(mastersGroup)) return
  if (info.kind === 'path' && info.verb === 'get' && mayRead(user, info.path)) return
  if (info.kind === 'path') {
    throw forbidden(
      { group: '', plural: '' },
      '',
      `User ${quote(user.name)} cannot ${info.verb} path ${quote(info.path)}`,
    )
  }
  const { verb, group, plural, subresource, namespace, name } = info
  const resource = subresource === '' ? plural : `${plural}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`
  const what = `resource ${quote(resource)} in API group ${quote(group)} ${where}`
  throw forbidden({ group, plural }, name, `User ${quote(user.name)} cannot ${verb} ${what}`)
}

function mayRead(user: User, path: string): boolean {
  if (publicPaths.includes(path)) return true
  return user.groups.includes(authenticatedGroup) && discoveryPaths.some((pattern) => matchesPath(pattern, path))
}

const matchesPath = (pattern: string, path: string): boolean =>
  pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern

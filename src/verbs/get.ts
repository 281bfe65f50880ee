import { badRequest, notFound } from '../api/errors.ts'
import { type ApiResponse, firstHeader } from '../api/request.ts'
import type { At } from '../cache/reader.ts'
import { negotiateJson } from '../codec/negotiate.ts'
import type { ResourceRequest } from '../registry/resource.ts'
import type { ReadAccess } from './access.ts'
import { ok } from './answer.ts'
import { parseBoolean, parseVersion } from './options.ts'
import { translated } from './storage-errors.ts'

/** Without a version the latest state, with `0` whatever is at hand, else nothing older than the version. */
export async function get(request: ResourceRequest, { keys, reader }: ReadAccess): Promise<ApiResponse> {
  const { resource, namespace, name, http } = request
  negotiateJson(firstHeader(http.headers, 'accept'))
  if (parseBoolean(http.query.get('export'))) {
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
  }
  const text = http.query.get('resourceVersion') ?? ''
  const askedVersion = text === '' ? 0 : parseVersion(text, 'get')
  const at: At = text === '' ? 'latest' : askedVersion === 0 ? 'any' : { atLeast: askedVersion }
  return translated({ resource, name, verb: 'get', askedVersion }, async () => {
    const { item } = await reader.get(keys.key(namespace, name), at)
    if (item === undefined) throw notFound(resource, name)
    return ok(item.wire())
  })
}

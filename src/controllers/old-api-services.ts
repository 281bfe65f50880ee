/**
 * A server announces the versions that it serves when it starts. Of those that it does not serve, since a flag turned them off, the
 * announcement is taken back the same way: aggregators and clients would go on asking for them. A server beside it that has other flags announces its own again when it
 * starts.
 */
import { fieldsOf, isFields, itemsOf, textOf } from '../api/object.ts'
import { type HandleAs, objectOf, request } from '../api/own-request.ts'
import { pathOf, type Wanted } from './wanted.ts'

const collection = '/apis/apiregistration.k8s.io/v1/apiservices'
const atStart = 'kube-aggregator.kubernetes.io/automanaged=onstart'

/** False: it is worth another try. `wanted` are all objects that the server begins with. */
export async function removeOldApiServices(
  handle: HandleAs,
  wanted: readonly Wanted[],
  signal: AbortSignal,
): Promise<boolean> {
  const kept = new Set(wanted.map(pathOf))
  // A server that does not serve APIServices has announced nothing.
  if (![...kept].some((path) => path.startsWith(`${collection}/`))) return true
  const answer = await request(handle, { method: 'GET', path: collection, query: { labelSelector: atStart }, signal })
  const list = answer.status === OK ? objectOf(answer) : undefined
  if (!isFields(list)) return false
  const paths = itemsOf(list['items']).map(({ metadata }) => `${collection}/${textOf(fieldsOf(metadata)['name'])}`)
  const old = paths.filter((path) => !kept.has(path))
  const results = await Promise.all(old.map((path) => request(handle, { method: 'DELETE', path, signal })))
  return results.every(({ status }) => status === OK || status === NOT_FOUND)
}

const OK = 200
const NOT_FOUND = 404

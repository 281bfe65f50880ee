/**
 * Deletes APIServices of versions that are no longer served. At startup, a server creates the
 * APIServices of the versions that it serves. It also deletes those of versions that a flag has
 * disabled, because aggregators and clients would otherwise keep requesting them. Another server
 * with different flags recreates its own when it starts.
 */
import { fieldsOf, isFields, itemsOf, textOf } from '../api/object.ts'
import { objectInSlices, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { pathOf, type RequiredObject } from './wanted.ts'

const collection = '/apis/apiregistration.k8s.io/v1/apiservices'
const atStart = 'kube-aggregator.kubernetes.io/automanaged=onstart'

/**
 * Deletes old APIServices. Resolves to false if that has to be retried. `wanted` contains all
 * objects that the server creates at startup.
 */
export async function removeOldApiServices(
  handle: Handler,
  wanted: readonly RequiredObject[],
  signal: AbortSignal,
): Promise<boolean> {
  const kept = new Set(wanted.map(pathOf))
  // A server that does not serve APIServices has created none.
  if (![...kept].some((path) => path.startsWith(`${collection}/`))) return true
  const answer = await request(handle, {
    method: 'GET',
    path: collection,
    query: { labelSelector: atStart },
    signal,
  })
  const list = answer.status === OK ? await objectInSlices(answer) : undefined
  if (!isFields(list)) return false
  const paths = itemsOf(list['items']).map(
    ({ metadata }) => `${collection}/${textOf(fieldsOf(metadata)['name'])}`,
  )
  const old = paths.filter((path) => !kept.has(path))
  const results = await Promise.all(
    old.map((path) => request(handle, { method: 'DELETE', path, signal })),
  )
  return results.every(({ status }) => status === OK || status === NOT_FOUND)
}

const OK = 200
const NOT_FOUND = 404

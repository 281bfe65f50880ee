/**
 * Deletes APIServices of versions that are no longer served. At startup, a server creates the
 * APIServices of the versions that it serves. It deletes the APIServices of versions that a flag
 * has disabled, because aggregators and clients would otherwise continue to request these versions.
 * Another server with different flags recreates its own APIServices when it starts.
 */
import { fieldsOf, isFields, itemsOf, textOf } from '../api/object.ts'
import { objectInSlices, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { pathOf, type RequiredObject } from './wanted.ts'

const collection = '/apis/apiregistration.k8s.io/v1/apiservices'
const atStart = 'kube-aggregator.kubernetes.io/automanaged=onstart'

/**
 * Deletes old APIServices. Resolves to false if this must be retried. `wanted` contains all objects
 * that the server creates at startup.
 */
export async function removeOldApiServices(
  handle: Handler,
  wanted: readonly RequiredObject[],
  signal: AbortSignal,
): Promise<boolean> {
  const kept = new Set(wanted.map(pathOf))
  // If this server does not serve APIServices, it has not created any, so there are none to delete.
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

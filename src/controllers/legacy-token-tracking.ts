/**
 * The ConfigMap that tells since when the use of legacy service account tokens is recorded:
 * kube-controller-manager deletes secrets with tokens that were not used since long before. The
 * bootstrap creates it; a lost one is created again, and an invalid date is replaced.
 */
import { fieldsOf, textOf } from '../api/object.ts'
import { objectOf, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { create, pathOf, type RequiredObject } from './wanted.ts'

/** How often it is checked. Upstream watches it. */
export const TRACKING_CHECK_MS = 10_000
/**
 * Servers without this feature may delete it: then servers with it create it this often at the
 * most, as upstream.
 */
const CREATE_EVERY_MS = 30 * 60_000

const NOT_FOUND = 404
const CONFLICT = 409
const FAILURE = 300

export const trackingConfigMap = (since: string): RequiredObject => ({
  collection: '/api/v1/namespaces/kube-system/configmaps',
  object: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking' },
    data: { since },
  },
})

/** `2026-01-31`, in UTC. */
export const dayOf = (wallMs: number): string => new Date(wallMs).toISOString().slice(0, 10)

/** `wallMs` is that of the bootstrap. */
export function createTrackingCheck(
  handle: Handler,
  wallMs: () => number,
): (signal: AbortSignal) => Promise<void> {
  let createdMs = wallMs()
  return async (signal) => {
    const now = wallMs()
    const wanted = trackingConfigMap(dayOf(now))
    const path = pathOf(wanted)
    const found = await request(handle, { method: 'GET', path, signal })
    if (found.status === NOT_FOUND) {
      if (now - createdMs < CREATE_EVERY_MS) return
      const refused = await create(handle, wanted, signal)
      if (refused !== undefined) throw new Error(`${path} could not be created: status ${refused}`)
      createdMs = now
      return
    }
    if (found.status >= FAILURE)
      throw new Error(`${path} could not be read: status ${found.status}`)
    const { metadata, data } = fieldsOf(objectOf(found))
    if (isDay(textOf(fieldsOf(data)['since']))) return
    const resourceVersion = textOf(fieldsOf(metadata)['resourceVersion'])
    const body = { metadata: { resourceVersion }, data: { since: dayOf(now) } }
    const { status } = await request(handle, {
      method: 'PATCH',
      path,
      body,
      isMergePatch: true,
      signal,
    })
    if (status >= FAILURE && status !== CONFLICT && status !== NOT_FOUND) {
      throw new Error(`${path} could not be corrected: status ${status}`)
    }
  }
}

export function isDay(text: string): boolean {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(ms) && dayOf(ms) === text
}

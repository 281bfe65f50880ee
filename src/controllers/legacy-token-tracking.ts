/**
 * The ConfigMap that contains the date since which the use of legacy service account tokens has
 * been recorded. kube-controller-manager uses the date to delete Secrets whose tokens have not been
 * used for a long time. The ConfigMap is created at startup. If it is deleted, it is recreated; if
 * the date is invalid, it is replaced.
 */
import { fieldsOf, textOf } from '../api/object.ts'
import { objectOf, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { create, pathOf, type RequiredObject } from './wanted.ts'

/** Interval between checks. kube-apiserver watches the ConfigMap instead. */
export const TRACKING_CHECK_MS = 10_000
/**
 * Minimum interval between two creations of the ConfigMap, as in kube-apiserver. Older servers
 * without this feature may delete it each time.
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

/** Returns the date in UTC, such as `2026-01-31`. */
export const dayOf = (wallMs: number): string => new Date(wallMs).toISOString().slice(0, 10)

/** Creates a function that checks the ConfigMap once. */
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

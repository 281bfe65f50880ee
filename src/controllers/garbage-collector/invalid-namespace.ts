/**
 * Records an event that explains why an object was deleted: the owner is in another namespace, so
 * the owner reference is invalid.
 */
import { request } from '../../api/own-request.ts'
import type { Handler } from '../../api/request.ts'
import { apiVersionOf } from '../../registry/resource.ts'
import type { OwnerReference } from '../object-head.ts'
import type { ResolvedOwner, ObjectName } from './sources.ts'
import type { ObjectRevision } from './writes.ts'

const component = 'garbage-collector-controller'

/** Whether an object with the name and the uid of the reference exists in another namespace. */
export async function isInOtherNamespace(
  reference: OwnerReference,
  led: ResolvedOwner,
): Promise<boolean> {
  return (
    typeof led !== 'string' && led.source.keys.isNamespaced && led.source.isSomewhere(reference)
  )
}

type InvalidReference = {
  readonly reference: OwnerReference
  readonly place: ObjectName
  readonly nowMs: number
  readonly signal: AbortSignal
}

/** Creates the event, with the message of kube-controller-manager. */
export async function reportInvalidNamespace(
  handle: Handler,
  { source: { resource }, uid }: ObjectRevision,
  { reference, place, nowMs, signal }: InvalidReference,
): Promise<void> {
  const { namespace = '', name } = place
  const { apiVersion, kind, name: owner, uid: ownerUid } = reference
  const identity = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${owner}, uid: ${ownerUid}]`
  const now = new Date(nowMs).toISOString().replace(/\.\d{3}Z$/, 'Z')
  const body = {
    apiVersion: 'v1',
    kind: 'Event',
    // client-go names events with the time in nanoseconds, in hexadecimal.
    metadata: {
      name: `${name}.${(BigInt(Math.floor(nowMs)) * 1_000_000n).toString(16)}`,
      namespace,
    },
    involvedObject: {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      namespace,
      name,
      uid,
    },
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef ${identity} does not exist in namespace ${JSON.stringify(namespace)}`,
    source: { component },
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
    type: 'Warning',
    reportingComponent: component,
    reportingInstance: '',
  }
  await request(handle, {
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/events`,
    body,
    signal,
  })
}

/** Events of a watch as lines of JSON. Those of objects are framed once for all watchers, in the cache; the others here. */
import { ApiError, internalError, toStatus } from '../api/errors.ts'
import type { KubeObject } from '../api/object.ts'
import type { WatchEvent } from '../cache/event.ts'
import { printOrdered } from '../codec/json.ts'
import { printWire } from '../codec/object.ts'
import { apiVersionOf, type Resource } from '../registry/resource.ts'
import { StorageError } from '../storage/errors.ts'
import { fromStorage, type Operation } from './storage-errors.ts'

export function frameOf(event: WatchEvent, resource: Resource): Buffer {
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return event.frame()
    case 'BOOKMARK':
      return bookmarkFrame(resource, event)
  }
}

/** An object of the kind with nothing in it but the version that the client may go on from. */
function bookmarkFrame(
  resource: Resource,
  { revision, initialEventsEnd }: Extract<WatchEvent, { type: 'BOOKMARK' }>,
): Buffer {
  const object: KubeObject = {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: { resourceVersion: `${revision}`, ...(initialEventsEnd ? { annotations: endOfInitial(resource) } : {}) },
  }
  const { bytes } = printWire(object, resource.shape)
  return Buffer.concat([Buffer.from('{"type":"BOOKMARK","object":'), bytes.subarray(0, -1), Buffer.from('}\n')])
}

/** Says that all objects have been shown, and what an empty list of them would look like. */
function endOfInitial(resource: Resource): { readonly [key: string]: string } {
  const list = { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata: {}, items: null }
  return {
    'k8s.io/initial-events-end': 'true',
    'kubernetes.io/initial-events-list-blueprint': Buffer.from(`${printOrdered(list)}\n`).toString('base64'),
  }
}

export function errorFrame(error: unknown, operation: Operation): Buffer {
  const told =
    error instanceof ApiError
      ? error
      : error instanceof StorageError
        ? fromStorage(error, operation)
        : internalError('the watch failed', error)
  return Buffer.from(`{"type":"ERROR","object":${printOrdered(toStatus(told))}}\n`)
}

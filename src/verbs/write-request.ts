/** What all verbs that write check of a request. */
import { badRequest } from '../api/errors.ts'
import type { KubeObject } from '../api/object.ts'
import type { ResourceRequest } from '../registry/resource.ts'

/** The object with the namespace of the path. One that names another namespace is refused. */
export function inNamespace(object: KubeObject, { resource, namespace }: ResourceRequest): KubeObject {
  const { namespace: given = '', ...metadata } = object.metadata
  if (!resource.isNamespaced) return { ...object, metadata }
  if (given !== '' && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  return { ...object, metadata: { ...metadata, namespace } }
}

/** Better no answer than a write that was not meant. */
export function refuseDryRun(query: URLSearchParams): void {
  if (query.has('dryRun')) throw badRequest('dryRun is not supported by this server yet')
}

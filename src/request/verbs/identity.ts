/** Checks that the object in the body is the one that the path identifies. */
import { cutText } from '../../lib/text/cut-text.ts'
import { badRequest } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ResourceRequest } from '../resource-request.ts'

/** Fails with BadRequest if the name of the object differs from the name in the path. */
export function checkName({ metadata }: KubeObject, { name }: ResourceRequest): void {
  const given = metadata.name ?? ''
  if (given === '') {
    throw badRequest(
      `the name of the object (${cutText(name)} based on URL) was undeterminable: name must be provided`,
    )
  }
  if (given !== name) {
    throw badRequest(
      `the name of the object (${cutText(given)}) does not match the name on the URL (${cutText(name)})`,
    )
  }
}

/**
 * Returns the object with the namespace of the path. Fails with BadRequest if the object has a
 * different namespace.
 */
export function inNamespace(
  object: KubeObject,
  { resource, namespace }: ResourceRequest,
): KubeObject {
  const { namespace: given = '', ...metadata } = object.metadata
  if (!resource.isNamespaced) return given === '' ? object : { ...object, metadata }
  if (given === namespace) return object
  if (given !== '') {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  }
  return { ...object, metadata: { ...metadata, namespace } }
}

import { conflict, notFound } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ApiResponse } from '../../api/request.ts'
import { negotiate } from '../../objects/codec/negotiate.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { resourcePrefix, toText } from '../../storage/keys.ts'
import type { WriteAccess } from './access.ts'
import { answerWrite } from './answer.ts'
import { checkName } from './identity.ts'
import { readObject } from './read-body.ts'
import { represent } from './represent/represent.ts'
import { checkSubresource } from './unsupported.ts'
import { updateObject } from './write/update-object.ts'
import { mayCreateAt } from './write/write.ts'
import { parseWriteOptions } from './write-options.ts'

/** The first release that looks for the object before it checks the UID in the body. */
const MISSING_FIRST_SINCE = 34

/** Updates an object or one of its subresources. */
export async function update(request: ResourceRequest, access: WriteAccess): Promise<ApiResponse> {
  const { resource, name, http } = request
  const show = represent(negotiate(http, resource), access.forms, request, request.view)
  checkSubresource(request)
  const options = parseWriteOptions(http.query, 'UpdateOptions', request.resource.release)
  const object = await readObject(request, options.fieldValidation, access)
  checkName(object, request)
  const replace = (current: KubeObject | undefined): KubeObject => {
    const isMissing = current === undefined && !mayCreateAt(request)
    if (isMissing && resource.release >= MISSING_FIRST_SINCE) throw notFound(resource, name)
    checkUid(object, current, request, { keys: access.keys, isDryRun: options.isDryRun })
    if (isMissing) throw notFound(resource, name)
    return object
  }
  const updated = await updateObject(request, replace, { options, access, owners: 'recorded' })
  return answerWrite(request, updated, show)
}

/**
 * Fails with Conflict if the UID in the body differs from that of the stored object. kube-apiserver
 * checks this in its storage layer, so the message is that of the storage layer.
 */
function checkUid(
  given: KubeObject,
  current: KubeObject | undefined,
  { resource, namespace, name }: ResourceRequest,
  { keys, isDryRun }: Pick<WriteAccess, 'keys'> & { readonly isDryRun: boolean },
): void {
  const { uid = '' } = given.metadata
  const stored = current?.metadata.uid ?? ''
  if (uid === '' || uid === stored) return
  const what = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored}`
  // In kube-apiserver, a dry run is rejected before the storage layer adds the root prefix to keys.
  // Therefore the error of a dry run contains the key without this prefix.
  const folders = resource.isNamespaced ? `${namespace}/` : ''
  const key = isDryRun
    ? `/${resourcePrefix(resource)}/${folders}${name}`
    : toText(keys.key(namespace, name))
  const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${what}`
  throw conflict(resource, name, why)
}

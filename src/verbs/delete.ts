import { conflict, notFound, type Status } from '../api/errors.ts'
import type { KubeObject } from '../api/object.ts'
import { type ApiResponse, firstHeader } from '../api/request.ts'
import { negotiateJson } from '../codec/negotiate.ts'
import { encodeStored, printWire } from '../codec/object.ts'
import { withPropagation } from '../registry/deletion.ts'
import type { ResourceRequest } from '../registry/resource.ts'
import type { Current, Decision } from '../storage/store.ts'
import type { WriteAccess } from './access.ts'
import { ok, printStatus } from './answer.ts'
import { type DeleteOptions, readDeleteOptions } from './delete-options.ts'
import { translated } from './storage-errors.ts'
import { cachedCurrent, withVersion, written } from './write.ts'

/** Removes the object, or marks it when others must let go of it first. */
export async function deleteOne(request: ResourceRequest, access: WriteAccess): Promise<ApiResponse> {
  const { resource, namespace, name, http } = request
  negotiateJson(firstHeader(http.headers, 'accept'))
  const deleteOptions = await readDeleteOptions(http)
  const key = access.keys.key(namespace, name)
  return translated({ resource, name, verb: 'delete' }, async () => {
    let marked: KubeObject | undefined
    const options = { cached: await cachedCurrent(key, access), decode: access.decode, signal: http.signal }
    const result = await access.store.update(key, options, (current) => {
      const decided = decideDelete(request, deleteOptions, current, access.now())
      marked = decided.marked
      return decided.decision
    })
    if (result.outcome === 'put' && marked !== undefined) {
      return ok(written(marked, key, result.revision, { resource, access }))
    }
    const object = result.previous?.object
    if (object === undefined) throw notFound(resource, name)
    if (result.outcome === 'unchanged' || resource.returnsDeleted) {
      return ok(printWire(withVersion(object, result.revision), resource.shape).bytes)
    }
    return ok(printStatus(deleted(request, object)))
  })
}

function decideDelete(
  { resource, name }: ResourceRequest,
  options: DeleteOptions,
  current: Current<KubeObject> | undefined,
  now: string,
): { decision: Decision; marked: KubeObject | undefined } {
  if (current === undefined) throw notFound(resource, name)
  const { object, revision } = current
  checkPreconditions({ group: resource.group, plural: resource.kind }, name, options, {
    uid: object.metadata.uid ?? '',
    resourceVersion: `${revision}`,
  })
  const marked = resource.markDeleted(withPropagation(object, options.propagation), now)
  if (marked === undefined) return { decision: 'delete', marked }
  const put = encodeStored(marked, resource.shape)
  const isSame = put.equals(encodeStored(object, resource.shape))
  return { decision: isSame ? 'unchanged' : { put }, marked }
}

/** These conflicts name the kind where others name the resource. */
function checkPreconditions(
  kind: Parameters<typeof conflict>[0],
  name: string,
  wanted: DeleteOptions,
  found: { readonly uid: string; readonly resourceVersion: string },
): void {
  if (wanted.uid !== undefined && wanted.uid !== found.uid) {
    const why = `the UID in the precondition (${wanted.uid}) does not match the UID in record (${found.uid}). The object might have been deleted and then recreated`
    throw conflict(kind, name, why)
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== found.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${found.resourceVersion}). The object might have been modified`
    throw conflict(kind, name, why)
  }
}

/** Without a code, unlike all other Status objects. */
function deleted({ resource, name }: ResourceRequest, object: KubeObject): Status {
  const { uid = '' } = object.metadata
  const group = resource.group === '' ? {} : { group: resource.group }
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...group, kind: resource.plural, uid },
  }
}

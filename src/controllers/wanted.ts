import { fieldsOf, textOf, type Fields } from '../api/object.ts'
import { request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'

/** An object that must exist. If it already exists, it is not changed. */
export type RequiredObject = {
  readonly collection: string
  readonly object: Fields
  /** The field manager. Defaults to that of kube-apiserver. */
  readonly manager?: string
}

export const pathOf = ({ collection, object }: RequiredObject): string =>
  `${collection}/${textOf(fieldsOf(object['metadata'])['name'])}`

/**
 * Creates the object if it does not exist. Returns undefined if the object then exists, and
 * otherwise the status of the response.
 */
export async function create(
  handle: Handler,
  wanted: RequiredObject,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { collection, object, manager } = wanted
  const { status } = await request(handle, {
    method: 'POST',
    path: collection,
    body: object,
    manager,
    signal,
  })
  if (status === CREATED || status === CONFLICT) return undefined
  if (signal.aborted) return status
  // Check whether the object exists nevertheless. The creation of a Service is also rejected if
  // another server is creating the same Service, and has already allocated its address.
  const found = await request(handle, { method: 'GET', path: pathOf(wanted), signal })
  return found.status === OK ? undefined : status
}

const OK = 200
const CREATED = 201
const CONFLICT = 409

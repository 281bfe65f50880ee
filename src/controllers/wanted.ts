import { fieldsOf, textOf, type Fields } from '../api/object.ts'
import { request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'

/** An object that must exist. An existing one is not changed. */
export type RequiredObject = {
  readonly collection: string
  readonly object: Fields
  /** The field manager. Defaults to kube-apiserver. */
  readonly manager?: string
}

export const pathOf = ({ collection, object }: RequiredObject): string =>
  `${collection}/${textOf(fieldsOf(object['metadata'])['name'])}`

/** Creates the object. Returns the status of the failure if it neither was created nor exists. */
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
  // The object may exist although its creation was rejected: another server that creates the same
  // Service takes its address before it stores it.
  const found = await request(handle, { method: 'GET', path: pathOf(wanted), signal })
  return found.status === OK ? undefined : status
}

const OK = 200
const CREATED = 201
const CONFLICT = 409

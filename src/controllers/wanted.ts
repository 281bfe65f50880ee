import { fieldsOf, textOf, type Fields } from '../api/object.ts'
import { type HandleAs, request } from '../api/own-request.ts'

/** An object that is to be there; what is there already stays as it is. */
export type Wanted = {
  readonly collection: string
  readonly object: Fields
  /** Who owns its fields; kube-apiserver if absent. */
  readonly manager?: string
}

export const pathOf = ({ collection, object }: Wanted): string =>
  `${collection}/${textOf(fieldsOf(object['metadata'])['name'])}`

/** The status of the refusal when it is neither there now nor was there before. */
export async function create(handle: HandleAs, wanted: Wanted, signal: AbortSignal): Promise<number | undefined> {
  const { collection, object, manager } = wanted
  const { status } = await request(handle, { method: 'POST', path: collection, body: object, manager, signal })
  if (status === CREATED || status === CONFLICT) return undefined
  if (signal.aborted) return status
  // What is refused may be there all the same: another writer holds the address of a service before the service is stored.
  const found = await request(handle, { method: 'GET', path: pathOf(wanted), signal })
  return found.status === OK ? undefined : status
}

const OK = 200
const CREATED = 201
const CONFLICT = 409

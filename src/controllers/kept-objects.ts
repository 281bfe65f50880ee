/** Objects of the cluster itself that are made again when somebody deletes them. What is there stays as it is. */
import { fieldsOf, textOf } from '../api/object.ts'
import { type Handle, request } from '../api/own-request.ts'
import type { Wanted } from './wanted.ts'

/** Upstream's, for the service kubernetes. */
export const KEEP_MS = 10_000

/** Fails when one of them is missing and could not be written. */
export async function keepObjects(handle: Handle, all: readonly Wanted[], signal: AbortSignal): Promise<void> {
  for (const { collection, object, manager } of all) {
    const name = textOf(fieldsOf(object['metadata'])['name'])
    const found = await request(handle, { method: 'GET', path: `${collection}/${name}`, signal })
    if (found.status !== NOT_FOUND) continue
    const made = await request(handle, { method: 'POST', path: collection, body: object, manager, signal })
    // Another server was faster.
    if (made.status === CREATED || made.status === CONFLICT) continue
    throw new Error(`${name} is missing and could not be written: status ${made.status}`)
  }
}

const CREATED = 201
const NOT_FOUND = 404
const CONFLICT = 409

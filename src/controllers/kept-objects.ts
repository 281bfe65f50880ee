/**
 * Recreates built-in objects of the cluster when they are deleted. Existing objects are not
 * changed.
 */
import { request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { create, pathOf, type RequiredObject } from './wanted.ts'

/** Interval between checks, the same as kube-apiserver uses for the Service `kubernetes`. */
export const KEEP_MS = 10_000

/** Checks all objects once. Rejects if an object is missing and cannot be written. */
export async function keepObjects(
  handle: Handler,
  all: readonly RequiredObject[],
  signal: AbortSignal,
): Promise<void> {
  for (const wanted of all) {
    const path = pathOf(wanted)
    const found = await request(handle, { method: 'GET', path, signal })
    if (found.status !== NOT_FOUND) continue
    const refused = await create(handle, wanted, signal)
    if (refused !== undefined)
      throw new Error(`${path} is missing and could not be written: status ${refused}`)
  }
}

const NOT_FOUND = 404

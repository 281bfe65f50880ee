/** Interprets the responses to writes of controllers. */
import { fieldsOf, textOf } from '../api/object.ts'
import { objectOf } from '../api/own-request.ts'
import type { ApiResponse } from '../api/request.ts'

/**
 * The outcome of a write. 'done' means that the object was written or does not exist. 'changed'
 * means that another client wrote the object first, so the controller must decide again.
 */
export type Outcome = 'done' | 'changed'

/** Returns the outcome, or undefined if the write failed. */
export function outcomeOf({ status }: Pick<ApiResponse, 'status'>): Outcome | undefined {
  if (status === CONFLICT) return 'changed'
  return status < FAILURE || status === NOT_FOUND ? 'done' : undefined
}

/** Returns the outcome. If the write failed, throws an error with the message of the response. */
export function outcomeOrThrow(path: string, response: ApiResponse): Outcome {
  const outcome = outcomeOf(response)
  if (outcome === undefined) throw new Error(failureOf(path, response))
  return outcome
}

/**
 * Called after a write with the outcome 'changed'. Throws if the object has not changed since it
 * was read. The write was then rejected for another reason, for example by a webhook, and must not
 * be repeated immediately.
 */
export function requireChange(
  path: string,
  before: string | undefined,
  now: string | undefined,
): void {
  if (now === before)
    throw new Error(`${path} was rejected with a conflict, although the object is unchanged`)
}

export const failureOf = (path: string, response: ApiResponse): string =>
  textOf(fieldsOf(objectOf(response))['message']) || `${path} returned status ${response.status}`

const FAILURE = 400
const NOT_FOUND = 404
const CONFLICT = 409

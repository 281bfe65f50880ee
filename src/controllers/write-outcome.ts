/** Interprets the responses to writes of controllers. */
import { fieldsOf, textOf } from '../api/object.ts'
import { objectOf } from '../api/own-request.ts'
import type { ApiResponse } from '../api/request.ts'

/**
 * The outcome of a write. 'done' means that the object is written or gone. 'changed' means that
 * another client has written it in the meantime, so that the write must be decided again.
 */
export type Outcome = 'done' | 'changed'

/** Returns undefined if the write failed. */
export function outcomeOf({ status }: Pick<ApiResponse, 'status'>): Outcome | undefined {
  if (status === CONFLICT) return 'changed'
  return status < FAILURE || status === NOT_FOUND ? 'done' : undefined
}

/** Returns the outcome. Throws an error with the message of the response if the write failed. */
export function outcomeOrThrow(path: string, response: ApiResponse): Outcome {
  const outcome = outcomeOf(response)
  if (outcome === undefined) throw new Error(failureOf(path, response))
  return outcome
}

/**
 * Called after 'changed'. Throws if the object still has the version that the write was decided on.
 * A conflict may have another cause, such as a webhook that rejects the write. The write has then
 * failed and must not be retried at once.
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

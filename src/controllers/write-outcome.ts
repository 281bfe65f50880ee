/** What the answer to a write of a controller means. */
import { fieldsOf, textOf } from '../api/object.ts'
import { objectOf } from '../api/own-request.ts'
import type { ApiResponse } from '../api/request.ts'

/**
 * 'done': it is written, or the object is gone. 'changed': somebody else has written it meanwhile,
 * and it has to be decided on again.
 */
export type Outcome = 'done' | 'changed'

/** Undefined: it failed. */
export function outcomeOf({ status }: Pick<ApiResponse, 'status'>): Outcome | undefined {
  if (status === CONFLICT) return 'changed'
  return status < FAILURE || status === NOT_FOUND ? 'done' : undefined
}

/** Fails with the message of the answer. */
export function outcomeOrThrow(path: string, response: ApiResponse): Outcome {
  const outcome = outcomeOf(response)
  if (outcome === undefined) throw new Error(failureOf(path, response))
  return outcome
}

/**
 * After 'changed': fails if the version is still the one that was decided on. A conflict may have
 * another reason, such as a webhook that refuses; the write is then a failure, and not made again
 * at once.
 */
export function requireChange(
  path: string,
  before: string | undefined,
  now: string | undefined,
): void {
  if (now === before)
    throw new Error(`${path} was refused as a conflict, and nobody has changed it`)
}

export const failureOf = (path: string, response: ApiResponse): string =>
  textOf(fieldsOf(objectOf(response))['message']) || `${path} answers ${response.status}`

const FAILURE = 400
const NOT_FOUND = 404
const CONFLICT = 409

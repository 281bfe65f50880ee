/** What the answer to a write of a controller means. */
import { fieldsOf, textOf } from '../api/object.ts'
import { objectOf } from '../api/own-request.ts'
import type { ApiResponse } from '../api/request.ts'

/** 'done': it is written, or the object is gone. 'changed': somebody else has written it meanwhile, and it has to be decided on again. */
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

export const failureOf = (path: string, response: ApiResponse): string =>
  textOf(fieldsOf(objectOf(response))['message']) || `${path} answers ${response.status}`

const FAILURE = 400
const NOT_FOUND = 404
const CONFLICT = 409

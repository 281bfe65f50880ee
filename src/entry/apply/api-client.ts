/**
 * The interface through which manifests are applied: it sends requests to a server, either over a
 * connection or directly to its handler.
 */
import { fieldsOf, type Json, textOf } from '../../api/object.ts'

export type ApiClientRequest = {
  readonly method: 'GET' | 'PATCH' | 'DELETE'
  /** The path with its query. */
  readonly path: string
  readonly body?: Json
  readonly contentType?: string
}

export type ApiClientResponse = { readonly status: number; readonly body: Json }

/** Sends a request. Rejects only if there is no response. */
export type ApiClient = (request: ApiClientRequest) => Promise<ApiClientResponse>

export const OK = 200
export const CREATED = 201
export const FORBIDDEN = 403
export const NOT_FOUND = 404
export const CONFLICT = 409

/** Returns the message of an error response, which is a Status. */
export const reasonOf = ({ status, body }: ApiClientResponse): string =>
  textOf(fieldsOf(body)['message']) || `the server responded with status ${status}`

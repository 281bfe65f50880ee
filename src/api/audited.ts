/**
 * Collects what each layer reports about a request for the audit log. Requests that are not audited
 * have no recorder.
 */
import type { ObjectMeta } from './object.ts'

export interface AuditRecorder {
  /** Whether the body of the request is recorded. */
  readonly wantsRequest: boolean
  /** Whether the object in the response is recorded. */
  readonly wantsResponse: boolean
  /** Maximum size of an object that is recorded. */
  readonly objectBytesMax: number
  /**
   * Number of copies of an object that are in memory while it is recorded. Memory is reserved for
   * these copies.
   */
  readonly copies: number
  /**
   * Records the body of a write, decoded and with defaults. `print` serializes the body, and is
   * called only if bodies are recorded.
   */
  readonly requestObject: (metadata: ObjectMeta | undefined, print: () => string | Buffer) => void
  /** Records the body of a patch as the client sent it. */
  readonly requestPatch: (body: Buffer) => void
  /**
   * Records the object in the response as JSON, whatever format the client accepts. An undefined
   * object means that it is too large to be recorded.
   */
  readonly responseObject: (json: Buffer | undefined) => void
}

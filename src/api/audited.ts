/**
 * Collects what each layer reports about a request for the audit log. Requests that are not audited
 * have no recorder.
 */
import type { ObjectMeta } from './object.ts'

export interface AuditRecorder {
  /** Whether the audit log needs the body of the request. */
  readonly wantsRequest: boolean
  /** Whether the audit log needs the object in the response. */
  readonly wantsResponse: boolean
  /** Maximum size of an object that is recorded. A larger object is left out of the audit event. */
  readonly objectBytesMax: number
  /**
   * Number of additional copies of an object that recording it creates. The caller must reserve
   * memory for these copies.
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
   * Records the object in the response as JSON, even if the client accepts another format.
   * Undefined means that the object is too large to be recorded.
   */
  readonly responseObject: (json: Buffer | undefined) => void
}

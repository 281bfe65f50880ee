/**
 * What the layers tell the audit log about a request. Requests that are not recorded have none of
 * it.
 */
import type { ObjectMeta } from './object.ts'

export interface AuditRecorder {
  /** Whether the body of the request is recorded. */
  readonly wantsRequest: boolean
  /** Whether the object in the response is recorded. */
  readonly wantsResponse: boolean
  /** Larger objects are not recorded. */
  readonly objectBytesMax: number
  /** Number of copies of an object that are made to record it. */
  readonly copies: number
  /** The body of a write, decoded, with defaults. `print` is called only if bodies are recorded. */
  readonly requestObject: (metadata: ObjectMeta | undefined, print: () => string | Buffer) => void
  /** The body of a patch, as it was sent. */
  readonly requestPatch: (body: Buffer) => void
  /**
   * The object in the response, as JSON, whatever the client accepts. Undefined: it is larger than
   * what is recorded.
   */
  readonly responseObject: (json: Buffer | undefined) => void
}

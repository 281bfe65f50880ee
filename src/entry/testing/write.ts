import type { RecordedRequest } from './recorded-request.ts'

/** An object in the form in which the API returns it. */
export type StoredObject = {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: {
    readonly name?: string
    readonly namespace?: string
    readonly uid?: string
    readonly managedFields?: readonly ManagedFields[]
    readonly [field: string]: unknown
  }
  readonly [field: string]: unknown
}

export const isStoredObject = (value: unknown): value is StoredObject =>
  typeof value === 'object' &&
  value !== null &&
  'metadata' in value &&
  typeof value.metadata === 'object'

type ManagedFields = {
  readonly manager?: string
  readonly operation?: string
  readonly subresource?: string
  readonly fieldsV1?: unknown
}

/** The fields of an object that one field manager owns, according to managedFields. */
export type FieldOwner = {
  readonly manager: string
  readonly operation: string
  /** The subresource through which the manager owns the fields. Empty for the object itself. */
  readonly subresource: string
  /** Paths such as `.spec.replicas` and `.spec.containers[name="x"].image`. */
  readonly fields: readonly string[]
}

/** A write, with the object before and after the write. */
export type Write = RecordedRequest & {
  /**
   * The resourceVersion that the write assigned or, for a deletion, the object's last
   * resourceVersion.
   */
  readonly resourceVersion: string
  /** The type of the change. */
  readonly operation: 'create' | 'update' | 'delete'
  /** The object after the write, or undefined if it was deleted. */
  readonly object: StoredObject | undefined
  /** The object before the write, or undefined if it was created. */
  readonly before: StoredObject | undefined
  /** The field owners after the write or, for a deletion, before it. */
  readonly owners: readonly FieldOwner[]
}

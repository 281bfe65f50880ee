/**
 * How a resource is represented to a client: as objects, as metadata, or as a Table, in JSON, YAML,
 * CBOR or protobuf. The verbs decide which objects are sent, and a representation decides how.
 * Representations of cached objects are kept beside them for later requests.
 */
import type { Fields, KubeObject } from '../../../api/object.ts'
import type { Headers, LazyBody } from '../../../api/request.ts'
import type { Item } from '../../../storage/cache/item.ts'
import type { ObjectSchema } from '../../../objects/schema/object-schema.ts'

/** An object, with its JSON if that is already printed. */
export type WrittenObject = { readonly object: KubeObject; readonly json: Buffer | undefined }

/** A body, or the promise of a body that is too long to be made at once. */
export type Body = Buffer | Promise<Buffer | LazyBody>

export type Representation = {
  readonly headers: Headers
  readonly item: (item: Item) => Body
  /** Prints an object that is not cached. `shape` is that of the resource or of a view. */
  readonly object: (object: KubeObject, shape: ObjectSchema) => Body
  /** Prints an object whose JSON may be known. */
  readonly written: (written: WrittenObject, shape: ObjectSchema) => Body
  /** Prints a list. `metadata` is that of the list. */
  readonly list: (items: readonly Item[], metadata: Fields) => Promise<Buffer | LazyBody>
}

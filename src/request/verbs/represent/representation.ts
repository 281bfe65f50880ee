/**
 * Defines how a resource is represented to a client: as objects, as metadata, or as a Table, in
 * JSON, YAML, CBOR or protobuf. The verbs determine which objects are sent, and a representation
 * determines their format. Representations of cached objects are cached together with the objects
 * for later requests.
 */
import type { Fields, KubeObject } from '../../../api/object.ts'
import type { Headers, LazyBody } from '../../../api/request.ts'
import type { Item } from '../../../storage/cache/item.ts'
import type { ObjectSchema } from '../../../objects/schema/object-schema.ts'

/** An object. If it has already been serialized, `json` is its JSON. */
export type WrittenObject = { readonly object: KubeObject; readonly json: Buffer | undefined }

/** A body, or a promise if the body is too long to be generated in one step. */
export type Body = Buffer | Promise<Buffer | LazyBody>

export type Representation = {
  readonly headers: Headers
  readonly item: (item: Item) => Body
  /**
   * Serializes an object that is not cached. `shape` is the schema of the resource or of a
   * subresource.
   */
  readonly object: (object: KubeObject, shape: ObjectSchema) => Body
  /** Serializes an object whose JSON might already exist. */
  readonly written: (written: WrittenObject, shape: ObjectSchema) => Body
  /** Serializes a list with the given metadata. */
  readonly list: (items: readonly Item[], metadata: Fields) => Promise<Buffer | LazyBody>
}

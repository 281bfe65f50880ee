/**
 * How a resource is shown to a client: as objects, as metadata alone, as rows; in JSON, YAML or protobuf. The verbs decide
 * what is shown, a representation how. What it makes of an object is kept beside the cached object for the next client.
 */
import type { Fields, KubeObject } from '../../api/object.ts'
import type { Headers, LazyBody } from '../../api/request.ts'
import type { Item } from '../../cache/item.ts'
import type { ObjectSchema } from '../../schema/object-schema.ts'

/** An object, and its JSON where that was printed already. */
export type Written = { readonly object: KubeObject; readonly json: Buffer | undefined }

export type Representation = {
  readonly headers: Headers
  readonly item: (item: Item) => Buffer
  /** Of an object that nobody keeps; of another shape where it is a part of the resource that has one. */
  readonly object: (object: KubeObject, shape: ObjectSchema) => Buffer
  /** The same where its JSON may be at hand. */
  readonly written: (written: Written, shape: ObjectSchema) => Buffer
  /** `metadata` is that of the list. */
  readonly list: (items: readonly Item[], metadata: Fields) => Promise<Buffer | LazyBody | readonly Buffer[]>
}

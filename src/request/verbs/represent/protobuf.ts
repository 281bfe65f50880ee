/**
 * Represents objects, or only their metadata, as protobuf. The message of each object is cached,
 * and its envelope is generated for each response.
 */
import type { Fields, KubeObject } from '../../../api/object.ts'
import type { LazyBody } from '../../../api/request.ts'
import type { Item } from '../../../storage/cache/item.ts'
import {
  encodeObject,
  itemHead,
  itemHeadBytes,
  listEnvelope,
  wrapItem,
} from '../../../objects/codec/protobuf/envelope.ts'
import { Slices } from '../../../lib/scheduling/slices.ts'
import { listMetaStruct } from '../../../registry/meta-types.ts'
import { apiVersionOf, type Resource } from '../../../registry/resource.ts'
import { inChunks } from './chunks.ts'
import { contentHeaders } from './headers.ts'
import type { Representation } from './representation.ts'

type TypeMeta = Pick<KubeObject, 'apiVersion' | 'kind'>

type Messages = {
  readonly resource: Resource
  /** Returns the protobuf message of a cached object. The message is also cached. */
  readonly message: (item: Item) => Buffer
  readonly writtenMessage: (object: KubeObject) => Buffer
}

export function protobufObjects({
  resource,
  message: messageOf,
  writtenMessage,
}: Messages): Representation {
  const apiVersion = apiVersionOf(resource)
  return {
    headers: contentHeaders.protobuf,
    item: (item) => wrapItem({ apiVersion, kind: resource.kind }, messageOf(item)),
    object: (object, { struct }) => encodeObject(object, struct),
    written: ({ object }, { struct }) =>
      struct === resource.shape.struct
        ? wrapItem(object, writtenMessage(object))
        : encodeObject(object, struct),
    list: (items, metadata) =>
      protobufList({ apiVersion, kind: resource.listKind }, { items, messageOf, metadata }),
  }
}

type ListMessageOptions = {
  readonly items: readonly Item[]
  readonly messageOf: (item: Item) => Buffer
  readonly metadata: Fields
}

/**
 * Encodes a list. Each message is preceded by its length, so the items are visited twice. On the
 * second visit, their messages are in the cache.
 */
export async function protobufList(
  typeMeta: TypeMeta,
  options: ListMessageOptions,
): Promise<Buffer | LazyBody> {
  const { items, metadata } = options
  const slices = new Slices()
  let itemsBytes = 0
  for (const item of items) {
    const { length } = options.messageOf(item)
    itemsBytes += itemHeadBytes(length) + length
    if (slices.isOver) await slices.turn()
  }
  const { head, tail } = listEnvelope(
    typeMeta,
    { fields: metadata, struct: listMetaStruct() },
    itemsBytes,
  )
  return inChunks(head.length + itemsBytes + tail.length, function* () {
    yield head
    for (const item of items) {
      const message = options.messageOf(item)
      yield itemHead(message.length)
      yield message
    }
    yield tail
  })
}

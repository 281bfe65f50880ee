/** Objects in CBOR, whole or only their metadata, made from the cached JSON. */
import type { Fields, KubeObject } from '../../api/object.ts'
import type { LazyBody } from '../../api/request.ts'
import type { Item } from '../../cache/item.ts'
import { arrayHead, encodeCbor, encodeItem, openMap } from '../../codec/cbor/encode.ts'
import { parseJson } from '../../api/json-value.ts'
import { printObject } from '../../codec/object.ts'
import { Slices } from '../../lib/slices.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'
import type { ObjectSchema } from '../../schema/object-schema.ts'
import { inChunks } from './chunks.ts'
import { contentHeaders } from './headers.ts'
import type { Representation } from './representation.ts'

export function cborObjects(resource: Resource): Representation {
  const typeMeta = { kind: resource.listKind, apiVersion: apiVersionOf(resource) }
  const itemOf = (item: Item): Buffer =>
    encodeItem(parseJson(Buffer.from(`{${item.listTail().toString()}`)), resource.shape.struct)
  return {
    headers: contentHeaders.cbor,
    item: (item) => encodeCbor(parseJson(item.wire()), resource.shape.struct),
    object: cborObject,
    written: ({ object, json }, shape) =>
      json === undefined ? cborObject(object, shape) : encodeCbor(parseJson(json), shape.struct),
    list: (items, metadata) => cborList({ ...typeMeta, metadata }, items, itemOf),
  }
}

export const cborObject = (object: KubeObject, shape: ObjectSchema): Buffer =>
  encodeCbor(parseJson(printObject(object, shape)), shape.struct)

export async function cborList(
  head: Fields,
  items: readonly Item[],
  itemOf: (item: Item) => Buffer,
): Promise<Buffer | LazyBody> {
  const slices = new Slices()
  const parts = [openMap(head, 'items'), arrayHead(items.length)]
  for (const item of items) {
    parts.push(itemOf(item))
    if (slices.isOver) await slices.turn()
  }
  return inChunks(
    parts.reduce((sum, { length }) => sum + length, 0),
    () => parts,
  )
}

/** A watch event. As upstream has it, the object is a CBOR document of its own. */
export const cborEvent = (type: string, object: Buffer): Buffer => Buffer.concat([openMap({ type }, 'object'), object])

/**
 * Represents objects, or only their metadata, as CBOR. The CBOR is generated from the cached JSON.
 */
import type { Fields, KubeObject } from '../../../api/object.ts'
import type { LazyBody } from '../../../api/request.ts'
import type { Item } from '../../../storage/cache/item.ts'
import { arrayHead, encodeCbor, openMap } from '../../../objects/codec/cbor/encode.ts'
import { cborPrefix } from '../../../objects/codec/cbor/to-json.ts'
import { parseJson } from '../../../api/json-value.ts'
import { printObject } from '../../../objects/codec/object.ts'
import { apiVersionOf, type Resource } from '../../../registry/resource.ts'
import type { ObjectSchema } from '../../../objects/schema/object-schema.ts'
import { contentHeaders } from './headers.ts'
import type { Struct } from '../../../objects/schema/schema.ts'
import { jsonInList } from './json.ts'
import type { Body, Representation } from './representation.ts'
import { cbor, SHORT_BYTES, styledDocument, type Styling } from './styled.ts'

export function cborObjects(resource: Resource, { hold }: Pick<Styling, 'hold'>): Representation {
  const typeMeta = { kind: resource.listKind, apiVersion: apiVersionOf(resource) }
  const { struct } = resource.shape
  return {
    headers: contentHeaders.cbor,
    item: (item) => cborBody(item.wire(), { struct, hold }),
    object: (object, shape) => cborBody(printObject(object, shape), { struct: shape.struct, hold }),
    written: ({ object, json }, shape) =>
      cborBody(json ?? printObject(object, shape), { struct: shape.struct, hold }),
    list: (items, metadata) =>
      cborList({ ...typeMeta, metadata }, items, { jsonOf: jsonInList, struct, hold }),
  }
}

type Encoding = Pick<Styling, 'hold'> & { readonly struct?: Struct }

/** Converts compact JSON to a CBOR document. */
export function cborBody(json: Buffer, { struct, hold }: Encoding): Body {
  if (json.length <= SHORT_BYTES) return encodeCbor(parseJson(json), struct)
  return styledDocument({
    style: cbor(struct),
    items: [json],
    jsonOf: (one) => one,
    hold,
    begin: cborPrefix,
  })
}

export const cborObject = (object: KubeObject, shape: ObjectSchema): Buffer =>
  encodeCbor(parseJson(printObject(object, shape)), shape.struct)

export const cborList = (
  head: Fields,
  items: readonly Item[],
  { jsonOf, struct, hold }: Encoding & { readonly jsonOf: (item: Item) => Buffer },
): Promise<Buffer | LazyBody> =>
  styledDocument({
    style: cbor(struct),
    items,
    jsonOf,
    hold,
    begin: Buffer.concat([openMap(head, 'items'), arrayHead(items.length)]),
  })

/** Encodes a watch event. As in kube-apiserver, its object is a complete CBOR document. */
export const cborEvent = (type: string, object: Buffer): Buffer =>
  Buffer.concat([openMap({ type }, 'object'), object])

/** PartialObjectMetadata: only the metadata of objects, for clients that need no other fields. */
import { isAList, isNoList, unclassified } from '../../../api/errors.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import type { LazyBody } from '../../../api/request.ts'
import type { Item } from '../../../storage/cache/item.ts'
import { encodeCbor } from '../../../objects/codec/cbor/encode.ts'
import { endOfValue } from '../../../objects/codec/json-bytes.ts'
import { parseJson } from '../../../api/json-value.ts'
import { printOrdered } from '../../../objects/codec/json.ts'
import type { Conversion } from '../../../objects/codec/negotiate.ts'
import { printStruct } from '../../../objects/codec/print.ts'
import { encodeObject, wrapItem } from '../../../objects/codec/protobuf/envelope.ts'
import { Slices } from '../../../lib/scheduling/slices.ts'
import { partialStruct } from '../../../registry/meta-types.ts'
import { cborBody, cborList } from './cbor.ts'
import { inChunks } from './chunks.ts'
import { contentHeaders } from './headers.ts'
import { protobufList } from './protobuf.ts'
import type { Body, Representation } from './representation.ts'
import { isPlain, styled, styledList, type Styling } from './styled.ts'

type Version = Conversion['version']

export const partialKind = 'PartialObjectMetadata'

export const partialOf = (
  { metadata }: Pick<KubeObject, 'metadata'>,
  version: Version,
): KubeObject => ({
  kind: partialKind,
  apiVersion: `meta.k8s.io/${version}`,
  metadata,
})

/** Returns compact JSON without a newline, with the fields of a release. */
export const partialJson = (
  object: Pick<KubeObject, 'metadata'>,
  version: Version,
  release: number,
): string => printStruct(partialOf(object, version), partialStruct(release))

/**
 * Like `partialJson`, but copies the metadata of a cached built-in object from its JSON. Returns
 * undefined if metadata is not its first field.
 */
export function partialOfWire(item: Item, version: Version): Buffer | undefined {
  const tail = item.listTail()
  if (metadataKey.compare(tail, 0, metadataKey.length) !== 0) return undefined
  const end = endOfValue(tail, metadataKey.length)
  return Buffer.concat([heads[version], tail.subarray(0, end), brace])
}

const metadataKey = Buffer.from('"metadata":')
const brace = Buffer.from('}')
const headOf = (version: Version): Buffer =>
  Buffer.from(`{"kind":"${partialKind}","apiVersion":"meta.k8s.io/${version}",`)
const heads = { v1: headOf('v1'), v1beta1: headOf('v1beta1') }

/** Encodes the metadata as CBOR. Metadata contains no bytes or floats, so no schema is needed. */
export const partialCbor = (object: KubeObject, version: Version, release: number): Buffer =>
  encodeCbor(parseJson(Buffer.from(partialJson(object, version, release))))

/** Cached representations of the metadata of cached objects. */
export type KeptPartials = {
  readonly json: (item: Item) => Buffer
  readonly protobuf: (item: Item) => Buffer
}

export function partialObjects(
  { as, ...styling }: Styling & { readonly as: Conversion },
  kept: KeptPartials,
  { goName, release }: { readonly goName: string; readonly release: number },
): Representation {
  const { version } = as
  const { form } = styling
  const isSingle = as.kind === partialKind
  const list = { kind: `${partialKind}List`, apiVersion: `meta.k8s.io/${version}` }
  const single = (): PartialEncoder => {
    if (!isSingle)
      throw goName === 'unstructured.Unstructured'
        ? unclassified('content is not a list')
        : isNoList(`*${goName}`)
    return showing({ version, release }, styling, kept)
  }
  return {
    headers: contentHeaders[form.type],
    item: (item) => single().item(item),
    object: (object) => single().object(object),
    written: ({ object }) => single().object(object),
    list: async (items, metadata) => {
      if (isSingle) throw isAList(`*${goName}List`)
      if (form.type === 'protobuf')
        return protobufList(list, { items, messageOf: kept.protobuf, metadata })
      if (form.type === 'cbor')
        return printCborList({ ...list, metadata }, items, { ...styling, jsonOf: kept.json })
      return printList(printOrdered({ ...list, metadata }), items, {
        ...styling,
        jsonOf: kept.json,
      })
    },
  }
}

type PartialEncoder = {
  readonly item: (item: Item) => Body
  readonly object: (object: KubeObject) => Body
}

function showing(
  { version, release }: { readonly version: Version; readonly release: number },
  styling: Styling,
  kept: KeptPartials,
): PartialEncoder {
  const { form } = styling
  const typeMeta = { kind: partialKind, apiVersion: `meta.k8s.io/${version}` }
  if (form.type === 'protobuf') {
    return {
      item: (item) => wrapItem(typeMeta, kept.protobuf(item)),
      object: (object) => encodeObject(partialOf(object, version), partialStruct(release)),
    }
  }
  if (form.type === 'cbor') {
    return {
      item: (item) => cborBody(kept.json(item), styling),
      object: (object) => cborBody(Buffer.from(partialJson(object, version, release)), styling),
    }
  }
  return {
    item: (item) => styled(Buffer.concat([kept.json(item), newline]), styling),
    object: (object) => styled(Buffer.from(`${partialJson(object, version, release)}\n`), styling),
  }
}

const newline = Buffer.from('\n')
const comma = Buffer.from(',')
const end = Buffer.from(']}\n')

function printCborList(
  head: Fields,
  items: readonly Item[],
  printing: Printing,
): Promise<Buffer | LazyBody> {
  if (items.length === 0) return Promise.resolve(encodeCbor({ ...head, items: null }))
  return cborList(head, items, printing)
}

type Printing = Styling & { readonly jsonOf: (item: Item) => Buffer }

async function printList(
  head: string,
  items: readonly Item[],
  printing: Printing,
): Promise<Buffer | LazyBody> {
  const { form, jsonOf } = printing
  const open = `${head.slice(0, -1)},"items":`
  if (items.length === 0) return styled(Buffer.from(`${open}null}\n`), printing)
  if (!isPlain(form)) return styledList(open, items, printing)
  const begin = Buffer.from(`${open}[`)
  const slices = new Slices()
  let length = begin.length + end.length + items.length - 1
  for (const item of items) {
    length += jsonOf(item).length
    if (slices.isOver) await slices.turn()
  }
  const parts = function* (): Generator<Buffer, void, void> {
    yield begin
    for (const [at, item] of items.entries()) {
      if (at > 0) yield comma
      yield jsonOf(item)
    }
    yield end
  }
  return inChunks(length, parts)
}

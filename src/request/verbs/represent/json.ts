/**
 * Represents objects as JSON or YAML. A list consists of a head, the cached bytes of the items, and
 * a tail, so no object is serialized again. A long list is assembled while the client reads it, so
 * that there is never a complete copy in memory.
 */
import type { Fields, KubeObject } from '../../../api/object.ts'
import type { LazyBody } from '../../../api/request.ts'
import type { Item } from '../../../storage/cache/item.ts'
import { printOrdered } from '../../../objects/codec/json.ts'
import { printObject } from '../../../objects/codec/object.ts'
import { BRACE_OPEN, COMMA } from '../../../lib/bytes/ascii.ts'
import { Slices } from '../../../lib/scheduling/slices.ts'
import { apiVersionOf, type Resource } from '../../../registry/resource.ts'
import { CHUNK_BYTES } from './chunks.ts'
import { contentHeaders } from './headers.ts'
import type { Representation } from './representation.ts'
import { isPlain, styled, styledList, type Styling } from './styled.ts'

export function jsonObjects(resource: Resource, styling: Styling): Representation {
  return {
    headers: contentHeaders[styling.form.type],
    item: (item) => styled(item.wire(), styling),
    object: (object: KubeObject, shape) => styled(printObject(object, shape), styling),
    written: ({ json, object }, shape) => styled(json ?? printObject(object, shape), styling),
    list: (items, metadata) =>
      printer(styling)(items, { ...typeOfList(resource), metadata: listMeta(resource, metadata) }),
  }
}

function typeOfList(resource: Resource): Fields {
  const { listKind: kind, isCustom } = resource
  const apiVersion = apiVersionOf(resource)
  return isCustom ? { apiVersion, kind } : { kind, apiVersion }
}

/** Lists of custom resources have sorted metadata, and an empty `continue` on the last page. */
const listMeta = ({ isCustom }: Resource, metadata: Fields): Fields =>
  isCustom ? { continue: '', ...sorted(metadata) } : metadata

const sorted = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )

type PrintList = (items: readonly Item[], head: Fields) => Promise<Buffer | LazyBody>

const printer = (styling: Styling): PrintList =>
  isPlain(styling.form) ? printList : printStyledList(styling)

/**
 * Minimum number of items of a list whose measurement starts in a new turn of the event loop.
 * Measuring this number of items takes about a tenth of a millisecond.
 */
const SLICED_ITEMS_MIN = 4_096

/**
 * Serializes a list. The length must be known before the first byte is sent. Items that have never
 * been serialized are therefore serialized first, in slices.
 */
async function printList(items: readonly Item[], listHead: Fields): Promise<Buffer | LazyBody> {
  const { head, tail } = around(listHead)
  const slices = new Slices()
  if (items.length >= SLICED_ITEMS_MIN) await slices.turn()
  let length = head.length + tail.length + 2 * items.length - (items.length === 0 ? 0 : 1)
  for (const item of items) {
    length += item.listTailBytes
    if (slices.isOver) await slices.turn()
  }
  const parts: ListText = { head, tail, items, length }
  return length > CHUNK_BYTES ? { length, chunks: printItems(parts) } : printShort(parts)
}

/** Serializes a list that fits into one chunk, without a generator. */
function printShort({ head, tail, items, length }: ListText): Buffer {
  const body = Buffer.allocUnsafeSlow(length)
  let used = head.copy(body)
  for (const [at, item] of items.entries()) {
    if (at > 0) body[used++] = COMMA
    body[used++] = BRACE_OPEN
    used += item.copyListTail(body, used)
  }
  tail.copy(body, used)
  return body
}

/**
 * Returns the bytes before and after the items. Lists of custom resources have fields sorted by
 * name, and their `listHead` begins with apiVersion.
 */
function around(listHead: Fields): { readonly head: Buffer; readonly tail: Buffer } {
  const { apiVersion = null, ...rest } = listHead
  const isSorted = Object.keys(listHead)[0] === 'apiVersion'
  if (!isSorted)
    return {
      head: Buffer.from(`${printOrdered(listHead).slice(0, -1)},"items":[`),
      tail: plainTail,
    }
  const head = `{"apiVersion":${printOrdered(apiVersion)},"items":[`
  return { head: Buffer.from(head), tail: Buffer.from(`],${printOrdered(rest).slice(1)}\n`) }
}

const plainTail = Buffer.from(']}\n')

const printStyledList =
  (styling: Styling): PrintList =>
  (items, listHead) =>
    styledList(`${printOrdered(listHead).slice(0, -1)},"items":`, items, {
      ...styling,
      jsonOf: jsonInList,
    })

/** Returns the JSON of an item in a list. */
export const jsonInList = (item: Item): Buffer => Buffer.concat([brace, item.listTail()])

const brace = Buffer.from('{')

type ListText = {
  readonly head: Buffer
  readonly tail: Buffer
  readonly items: readonly Item[]
  readonly length: number
}

function* printItems({
  head,
  tail,
  items,
  length,
}: ListText): Generator<readonly Buffer[], void, void> {
  const chunk = Buffer.allocUnsafeSlow(Math.min(length, Math.max(CHUNK_BYTES, head.length)))
  let used = head.copy(chunk)
  let isFirst = true
  for (const item of items) {
    const needed = item.listTailBytes + 2
    if (used + needed > chunk.length) {
      yield [chunk.subarray(0, used)]
      used = 0
    }
    if (!isFirst) chunk[used++] = COMMA
    chunk[used++] = BRACE_OPEN
    isFirst = false
    if (needed <= chunk.length) used += item.copyListTail(chunk, used)
    else {
      // Do not copy long items. Otherwise, each client of a list with long objects would use as
      // much memory as the longest of these objects.
      yield [chunk.subarray(0, used), item.listTail()]
      used = 0
    }
  }
  if (used + tail.length > chunk.length) {
    yield [chunk.subarray(0, used), tail]
    return
  }
  used += tail.copy(chunk, used)
  yield [chunk.subarray(0, used)]
}

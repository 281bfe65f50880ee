/**
 * Objects as they are, in JSON or YAML. A list is a head, the cached bytes of the items, a tail: nothing is printed twice.
 * A long list is put together while the client reads it, so that it is never whole in memory beside the cache.
 */
import type { Fields, KubeObject } from '../../api/object.ts'
import type { LazyBody } from '../../api/request.ts'
import type { Item } from '../../cache/item.ts'
import { indentJson } from '../../codec/indent.ts'
import { parseJson } from '../../api/json-value.ts'
import { printOrdered } from '../../codec/json.ts'
import type { Form } from '../../codec/negotiate.ts'
import { printObject } from '../../codec/object.ts'
import { jsonToYaml } from '../../codec/yaml-print.ts'
import { BRACE_OPEN, COMMA } from '../../lib/ascii.ts'
import { Slices } from '../../lib/slices.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'
import { CHUNK_BYTES } from './chunks.ts'
import { contentHeaders } from './headers.ts'
import type { Representation } from './representation.ts'

export function jsonObjects(resource: Resource, form: Form): Representation {
  const { listKind: kind, isCustom } = resource
  const apiVersion = apiVersionOf(resource)
  const listHead = isCustom ? { apiVersion, kind } : { kind, apiVersion }
  return {
    headers: contentHeaders[form.type],
    item: (item) => styled(item.wire(), form),
    object: (object: KubeObject, shape) => styled(printObject(object, shape), form),
    written: ({ json, object }, shape) => styled(json ?? printObject(object, shape), form),
    list: (items, metadata) => printer(form)(items, { ...listHead, metadata: listMeta(resource, metadata) }),
  }
}

/** Lists of custom kinds say that they do not go on, too. */
const listMeta = ({ isCustom }: Resource, metadata: Fields): Fields =>
  isCustom ? { continue: '', ...sorted(metadata) } : metadata

const sorted = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )

/** Compact JSON, which is what is kept. */
export const isPlain = ({ type, isIndented }: Form): boolean => type === 'json' && !isIndented

/** `json` is compact and ends with a newline. */
export function styled(json: Buffer, { type, isIndented }: Form): Buffer {
  if (type === 'yaml') return Buffer.from(jsonToYaml(parseJson(json)))
  return isIndented ? Buffer.from(indentJson(json.toString())) : json
}

type PrintList = (items: readonly Item[], head: Fields) => Promise<Buffer | LazyBody | readonly Buffer[]>

/** Compact JSON goes to the client as it is made; the forms for people are made item by item. */
function printer({ type, isIndented }: Form): PrintList {
  if (type === 'yaml') return printYamlList
  return isIndented ? printIndentedList : printList
}

/** Items that nobody has looked at yet are printed first, in slices: the length must be known before the first byte leaves. */
async function printList(items: readonly Item[], listHead: Fields): Promise<Buffer | LazyBody> {
  const { head, tail } = around(listHead)
  const slices = new Slices()
  let length = head.length + tail.length + 2 * items.length - (items.length === 0 ? 0 : 1)
  for (const item of items) {
    length += item.listTailBytes
    if (slices.isOver) await slices.turn()
  }
  const parts: ListParts = { head, tail, items, length }
  const chunks = printItems(parts)
  if (length > CHUNK_BYTES) return { length, chunks }
  const pieces = [...chunks].flat()
  const [first] = pieces
  return pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces, length)
}

/** Lists of custom kinds have their fields in the order of their names; so do those that say it by their order. */
function around(listHead: Fields): { readonly head: Buffer; readonly tail: Buffer } {
  const { apiVersion = null, ...rest } = listHead
  const isSorted = Object.keys(listHead)[0] === 'apiVersion'
  if (!isSorted) return { head: Buffer.from(`${printOrdered(listHead).slice(0, -1)},"items":[`), tail: plainTail }
  const head = `{"apiVersion":${printOrdered(apiVersion)},"items":[`
  return { head: Buffer.from(head), tail: Buffer.from(`],${printOrdered(rest).slice(1)}\n`) }
}

const plainTail = Buffer.from(']}\n')

/** The same, indented. */
async function printIndentedList(items: readonly Item[], listHead: Fields): Promise<readonly Buffer[]> {
  const head = indentJson(printOrdered(listHead)).slice(0, -'\n}'.length)
  const between = items.length === 0 ? '' : '\n    '
  const printed = await eachItem(items, (json, at) => `${at === 0 ? '' : ','}${between}${indentJson(json, 2)}`)
  return [Buffer.from(`${head},\n  "items": [`), ...printed, Buffer.from(between === '' ? ']\n}' : '\n  ]\n}')]
}

/** The same in YAML, whose keys are sorted: the items stand between the apiVersion and the kind. */
async function printYamlList(items: readonly Item[], listHead: Fields): Promise<readonly Buffer[]> {
  const { apiVersion = null, ...rest } = listHead
  const printed = await eachItem(items, (json) => jsonToYaml([parseJson(Buffer.from(json))]))
  const begin = `${jsonToYaml({ apiVersion })}items:${items.length === 0 ? ' []' : ''}\n`
  return [Buffer.from(begin), ...printed, Buffer.from(jsonToYaml(rest))]
}

/** Other forms cost a hundred times the copy, so they are made in slices. */
async function eachItem(items: readonly Item[], print: (json: string, at: number) => string): Promise<Buffer[]> {
  const slices = new Slices()
  const printed: Buffer[] = []
  for (const [at, item] of items.entries()) {
    printed.push(Buffer.from(print(`{${item.listTail().toString()}`, at)))
    if (slices.isOver) await slices.turn()
  }
  return printed
}

type ListParts = {
  readonly head: Buffer
  readonly tail: Buffer
  readonly items: readonly Item[]
  readonly length: number
}

function* printItems({ head, tail, items, length }: ListParts): Generator<readonly Buffer[], void, void> {
  let chunk = Buffer.allocUnsafeSlow(Math.min(length, Math.max(CHUNK_BYTES, head.length)))
  let used = head.copy(chunk)
  let isFirst = true
  for (const item of items) {
    const needed = item.listTailBytes + 2
    if (used + needed > chunk.length) {
      yield [chunk.subarray(0, used)]
      if (needed > chunk.length) chunk = Buffer.allocUnsafeSlow(needed)
      used = 0
    }
    if (!isFirst) chunk[used++] = COMMA
    chunk[used++] = BRACE_OPEN
    used += item.copyListTail(chunk, used)
    isFirst = false
  }
  if (used + tail.length > chunk.length) {
    yield [chunk.subarray(0, used), tail]
    return
  }
  used += tail.copy(chunk, used)
  yield [chunk.subarray(0, used)]
}

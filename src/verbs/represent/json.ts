/**
 * Objects in JSON or YAML. A list is a head, the cached bytes of the items, and a tail: no object is printed twice. A long list is
 * assembled while the client reads it, so that it is never complete in memory beside the cache.
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

/** Lists of custom kinds have an empty `continue` on the last page. */
const listMeta = ({ isCustom }: Resource, metadata: Fields): Fields =>
  isCustom ? { continue: '', ...sorted(metadata) } : metadata

const sorted = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )

/** Compact JSON, which is the cached format. */
export const isPlain = ({ type, isIndented }: Form): boolean => type === 'json' && !isIndented

/** `json` is compact and ends with a newline. */
export function styled(json: Buffer, { type, isIndented }: Form): Buffer {
  if (type === 'yaml') return Buffer.from(jsonToYaml(parseJson(json)))
  return isIndented ? Buffer.from(indentJson(json.toString())) : json
}

type PrintList = (items: readonly Item[], head: Fields) => Promise<Buffer | LazyBody | readonly Buffer[]>

/** Compact JSON is sent as it is assembled; indented JSON and YAML are made item by item. */
const printer = (form: Form): PrintList => (isPlain(form) ? printList : printStyledList(form))

/** About a tenth of a millisecond. */
const SLICED_ITEMS_MIN = 4_096

/** Items that were not printed before are printed first, in slices: the length must be known before the first byte is sent. */
async function printList(items: readonly Item[], listHead: Fields): Promise<Buffer | LazyBody> {
  const { head, tail } = around(listHead)
  const slices = new Slices()
  if (items.length >= SLICED_ITEMS_MIN) await slices.turn()
  let length = head.length + tail.length + 2 * items.length - (items.length === 0 ? 0 : 1)
  for (const item of items) {
    length += item.listTailBytes
    if (slices.isOver) await slices.turn()
  }
  const parts: ListParts = { head, tail, items, length }
  return length > CHUNK_BYTES ? { length, chunks: printItems(parts) } : printShort(parts)
}

/** A list that fits into one chunk needs no generator. */
function printShort({ head, tail, items, length }: ListParts): Buffer {
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

/** Lists of custom kinds have their fields sorted by name. `listHead` begins with apiVersion for these. */
function around(listHead: Fields): { readonly head: Buffer; readonly tail: Buffer } {
  const { apiVersion = null, ...rest } = listHead
  const isSorted = Object.keys(listHead)[0] === 'apiVersion'
  if (!isSorted) return { head: Buffer.from(`${printOrdered(listHead).slice(0, -1)},"items":[`), tail: plainTail }
  const head = `{"apiVersion":${printOrdered(apiVersion)},"items":[`
  return { head: Buffer.from(head), tail: Buffer.from(`],${printOrdered(rest).slice(1)}\n`) }
}

const plainTail = Buffer.from(']}\n')

/** Indented JSON and YAML cost a hundred times the copy, so they are made item by item, in slices. */
const printStyledList =
  (form: Form): PrintList =>
  (items, listHead) =>
    styledList(`${printOrdered(listHead).slice(0, -1)},"items":`, items, {
      form,
      jsonOf: (item) => `{${item.listTail().toString()}`,
    })

/** `open`: compact JSON up to the colon after the key of the list. */
export async function styledList<T>(
  open: string,
  items: readonly T[],
  { form, jsonOf }: { readonly form: Form; readonly jsonOf: (item: T) => string },
): Promise<readonly Buffer[]> {
  const isEmpty = items.length === 0
  const { begin, print, end } = form.type === 'yaml' ? inYaml(open, isEmpty) : indented(open, isEmpty)
  const slices = new Slices()
  const printed = [Buffer.from(begin)]
  for (const item of items) {
    printed.push(Buffer.from(print(jsonOf(item), printed.length === 1)))
    if (slices.isOver) await slices.turn()
  }
  printed.push(Buffer.from(end))
  return printed
}

type ListStyle = {
  readonly begin: string
  readonly print: (json: string, isFirst: boolean) => string
  readonly end: string
}

function indented(open: string, isEmpty: boolean): ListStyle {
  const head = indentJson(`${open}0}`).slice(0, -'0\n}'.length)
  return {
    begin: `${head}[`,
    print: (json, isFirst) => `${isFirst ? '' : ','}\n    ${indentJson(json, 2)}`,
    end: isEmpty ? ']\n}' : '\n  ]\n}',
  }
}

/** YAML has sorted keys: the list has to be inserted where its key is. */
function inYaml(open: string, isEmpty: boolean): ListStyle {
  const mark = isEmpty ? '[]' : 'null'
  const whole = jsonToYaml(parseJson(Buffer.from(`${open}${mark}}`)))
  const key = open.slice(open.lastIndexOf(',"') + 2, -'":'.length)
  const line = `${key}: ${mark}\n`
  const at = whole.startsWith(line) ? 0 : whole.indexOf(`\n${line}`) + 1
  return {
    begin: `${whole.slice(0, at)}${isEmpty ? line : `${key}:\n`}`,
    print: (json) => jsonToYaml([parseJson(Buffer.from(json))]),
    end: whole.slice(at + line.length),
  }
}

type ListParts = {
  readonly head: Buffer
  readonly tail: Buffer
  readonly items: readonly Item[]
  readonly length: number
}

function* printItems({ head, tail, items, length }: ListParts): Generator<readonly Buffer[], void, void> {
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
      // A list of long objects would take as much memory as the longest of them, for each of its readers.
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

/**
 * A list as bytes: a head, the cached bytes of the items, a tail. Nothing is printed twice. A long list is put together
 * while the client reads it, so that it is never whole in memory beside the cache.
 */
import type { Fields } from '../api/object.ts'
import type { LazyBody } from '../api/request.ts'
import type { Item } from '../cache/item.ts'
import type { Listed } from '../cache/reader.ts'
import { indentJson } from '../codec/indent.ts'
import { parseJson, printOrdered } from '../codec/json.ts'
import { jsonToYaml } from '../codec/yaml-print.ts'
import { Slices } from '../lib/slices.ts'
import { apiVersionOf, type Resource } from '../registry/resource.ts'
import type { Key } from '../storage/engine.ts'
import { encodeContinue } from '../storage/paging.ts'

/**
 * Items are copied into a buffer of this size, which is used again once the socket has taken it and so stays in the
 * processor's cache: a write of many small buffers costs several times the copy. It is all that a list in flight holds
 * beside the cache.
 */
const CHUNK_BYTES = 64 * 1024

const COMMA = 0x2c
const BRACE_OPEN = 0x7b
const tail = Buffer.from(']}\n')

export type ListForm = {
  readonly resource: Resource
  /** What continue tokens are relative to. */
  readonly folder: Key
  /** With a selector nobody knows how many items remain. */
  readonly isFiltered: boolean
}

/** Items that nobody has looked at yet are printed first, in slices: the length must be known before the first byte leaves. */
export async function printList(page: Listed, form: ListForm): Promise<Buffer | LazyBody> {
  const head = Buffer.from(`${printOrdered(headOf(page, form)).slice(0, -1)},"items":[`)
  const { items } = page
  const slices = new Slices()
  let length = head.length + tail.length + 2 * items.length - (items.length === 0 ? 0 : 1)
  for (const item of items) {
    length += item.listTailBytes
    if (slices.isOver) await slices.turn()
  }
  const parts: ListParts = { head, items, length }
  const chunks = printItems(parts)
  return length <= CHUNK_BYTES ? Buffer.concat([...chunks].flat(), length) : { length, chunks }
}

/** The same, indented. */
export async function printIndentedList(page: Listed, form: ListForm): Promise<readonly Buffer[]> {
  const head = indentJson(printOrdered(headOf(page, form))).slice(0, -'\n}'.length)
  const between = page.items.length === 0 ? '' : '\n    '
  const items = await eachItem(page, (json, at) => `${at === 0 ? '' : ','}${between}${indentJson(json, 2)}`)
  return [Buffer.from(`${head},\n  "items": [`), ...items, Buffer.from(between === '' ? ']\n}' : '\n  ]\n}')]
}

/** The same in YAML, whose keys are sorted: the items stand between the apiVersion and the kind. */
export async function printYamlList(page: Listed, form: ListForm): Promise<readonly Buffer[]> {
  const { apiVersion, ...rest } = headOf(page, form)
  const items = await eachItem(page, (json) => jsonToYaml([parseJson(Buffer.from(json))]))
  const begin = `${jsonToYaml({ apiVersion })}items:${items.length === 0 ? ' []' : ''}\n`
  return [Buffer.from(begin), ...items, Buffer.from(jsonToYaml(rest))]
}

/** Other forms cost a hundred times the copy, so they are made in slices. */
async function eachItem({ items }: Listed, print: (json: string, at: number) => string): Promise<Buffer[]> {
  const slices = new Slices()
  const printed: Buffer[] = []
  for (const [at, item] of items.entries()) {
    printed.push(Buffer.from(print(`{${item.listTail().toString()}`, at)))
    if (slices.isOver) await slices.turn()
  }
  return printed
}

/** All but the items. */
function headOf(page: Listed, { resource, folder, isFiltered }: ListForm): Fields {
  const last = page.items.at(-1)
  const hasNext = page.more && last !== undefined
  const metadata = {
    resourceVersion: `${page.revision}`,
    continue: hasNext ? encodeContinue(folder, last.key, page.revision) : undefined,
    remainingItemCount: hasNext && !isFiltered ? page.remaining : undefined,
  }
  return { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata }
}

type ListParts = { readonly head: Buffer; readonly items: readonly Item[]; readonly length: number }

function* printItems({ head, items, length }: ListParts): Generator<readonly Buffer[], void, void> {
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

/** Represents objects as rows of a Table, for display to users. */
import { badRequest } from '../../../api/errors.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import type { LazyBody } from '../../../api/request.ts'
import type { TableKind } from '../../../api/table.ts'
import type { Item } from '../../../storage/cache/item.ts'
import type { Conversion } from '../../../objects/codec/negotiate.ts'
import {
  agesAt,
  partsOfRow,
  printRow,
  printTableHead,
  type Row,
} from '../../../objects/codec/table.ts'
import { inParts, once } from '../../../lib/scheduling/parts.ts'
import { Semaphore } from '../../../lib/concurrency/semaphore.ts'
import { Slices } from '../../../lib/scheduling/slices.ts'
import { checkWaiting } from '../storage-errors.ts'
import { contentHeaders } from './headers.ts'
import type { Body, Representation } from './representation.ts'
import { isPlain, plain, styled, styledDocument, styledList, type Styling } from './styled.ts'

/** How much of an object its row contains: nothing, its metadata, or the whole object. */
export type IncludedObject = 'None' | 'Metadata' | 'Object'

/**
 * Returns the includeObject parameter. Fails with BadRequest if the parameter is invalid. As in
 * kube-apiserver, it is checked only when an object is serialized.
 */
export function includedObject(query: URLSearchParams): IncludedObject {
  const asked = query.get('includeObject') ?? ''
  switch (asked) {
    case '':
    case 'Metadata':
      return 'Metadata'
    case 'None':
    case 'Object':
      return asked
    default: {
      const why = `includeObject: Invalid value: "${asked}": must be 'Metadata', 'Object', 'None', or empty`
      throw badRequest(`Unable to convert to Table as requested: ${why}`)
    }
  }
}

export type TableOptions = Styling & {
  readonly kind: TableKind
  readonly as: Conversion
  /**
   * Returns a function that generates rows. Like `rowOfObject`, it fails with BadRequest if
   * includeObject is invalid.
   */
  readonly rowsOfItems: () => (item: Item) => Row
  readonly rowOfObject: (object: KubeObject, json?: Buffer) => Row
  readonly nowMs: () => number
}

export function table(options: TableOptions): Representation {
  const { form } = options
  const one = (row: Row, resourceVersion: string): Body => {
    const head = headOf(options, resourceVersion === '' ? {} : { resourceVersion }, true)
    return styled(
      Buffer.concat([Buffer.from(`${head}[`), ...partsOfRow(row, agesAt(options.nowMs())), end]),
      options,
    )
  }
  return {
    headers: contentHeaders[form.type],
    // Look up the row only once, even if the work is divided into parts. Between two parts, another
    // request might cache the row. A second lookup would then find it, and the work could not
    // continue where it was interrupted.
    item: (item) =>
      one(
        once('row of an item', () => options.rowsOfItems()(item)),
        `${item.revision}`,
      ),
    object: (object) => one(options.rowOfObject(object), object.metadata.resourceVersion ?? ''),
    written: ({ object, json }) =>
      one(options.rowOfObject(object, json), object.metadata.resourceVersion ?? ''),
    list: (items, metadata) => printList(items, headOf(options, metadata, true), options),
  }
}

/** Serializes the Table of one object in a watch. Only the first Table contains the columns. */
export function printEventTable(
  { row, resourceVersion }: { readonly row: Row; readonly resourceVersion: string },
  options: TableOptions,
  isFirst: boolean,
): string {
  return `${headOf(options, { resourceVersion }, isFirst)}[${printRow(row, options.nowMs())}]}`
}

function headOf({ kind, as }: TableOptions, metadata: Fields, hasColumns: boolean): string {
  return printTableHead({
    version: as.version,
    metadata,
    columns: hasColumns ? kind.columns : null,
  })
}

const nothing = Buffer.alloc(0)
const comma = Buffer.from(',')
const end = Buffer.from(']}\n')

async function printList(
  items: readonly Item[],
  head: string,
  options: TableOptions,
): Promise<Buffer | LazyBody> {
  const { form, kind, hold, context } = options
  const rowOfItem = options.rowsOfItems()
  if (items.length === 0)
    return styled(Buffer.from(`${head}${kind.isDefault === true ? 'null' : '[]'}}\n`), options)
  for (const item of items) {
    if (item.isLarge) await makeRow(item, rowOfItem, context)
  }
  const slices = new Slices()
  const sorted = await inOrder(items, kind, slices)
  const ages = agesAt(options.nowMs())
  const jsonOf = (item: Item): Buffer => Buffer.concat(partsOfRow(rowOfItem(item), ages))
  if (!isPlain(form)) return styledList(head, sorted, { form, hold, jsonOf })
  const begin = Buffer.from(`${head}[`)
  return styledDocument({
    style: plain,
    items: sorted,
    jsonOf,
    hold,
    begin,
    before: commaBefore,
    end,
  })
}

/**
 * Limits the number of decoded large objects in memory to one. A higher limit would not help,
 * because the thread can process only one object at a time.
 */
const largeRows = new Semaphore(1)

/**
 * Generates the row of a large object from its decoded form, and caches it. Parsing all of its JSON
 * in one step would take too long.
 */
async function makeRow(
  item: Item,
  rowOfItem: (item: Item) => Row,
  context: TableOptions['context'],
): Promise<void> {
  const make = async (): Promise<void> => {
    await item.objectInParts()
    await inParts(() => rowOfItem(item), new Slices(undefined, { isExpensive: true }))
  }
  try {
    await largeRows.run(make, context?.signal)
  } catch (error) {
    if (context !== undefined) checkWaiting(context)
    throw error
  }
}

const commaBefore = (isFirst: boolean): Buffer => (isFirst ? nothing : comma)

/**
 * Sorts the items. An object that is not in memory is decoded only once, instead of for each
 * comparison.
 */
async function inOrder(
  items: readonly Item[],
  { compare }: TableKind,
  slices: Slices,
): Promise<readonly Item[]> {
  if (compare === undefined) return items
  const peeked: { readonly item: Item; readonly object: KubeObject }[] = []
  for (const item of items) {
    peeked.push({ item, object: item.peek() })
    if (slices.isOver) await slices.turn()
  }
  return peeked.sort((a, b) => compare(a.object, b.object)).map(({ item }) => item)
}

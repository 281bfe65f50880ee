/** Table columns of a custom kind: the name, and the additionalPrinterColumns of the CRD. */
import { goPlain } from '../../api/go-value.ts'
import { isFields, isNumber, type Json } from '../../api/object.ts'
import type { Cell, Column, TableKind } from '../../api/table.ts'
import { printSorted, sortedInParts } from '../../objects/codec/json.ts'
import { mapEach, once } from '../../lib/scheduling/parts.ts'
import type { PrinterColumn } from './crd.ts'
import { pathBudget, readJsonPath } from './json-path.ts'

const defaultColumns: readonly PrinterColumn[] = [
  {
    name: 'Age',
    type: 'date',
    format: '',
    description: 'How long ago the object was created.',
    priority: 0,
    path: '.metadata.creationTimestamp',
  },
]

const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name of the object, unique among its kind in a namespace.',
  priority: 0,
}

/**
 * Returns the table of a custom kind. As in kube-apiserver, a path that cannot be parsed removes
 * its column and all later columns.
 */
export function customTable(given: readonly PrinterColumn[]): TableKind {
  const asked = given.length === 0 ? defaultColumns : given
  const read = asked.map((column) => ({ column, path: readJsonPath(column.path) }))
  const broken = read.findIndex(({ path }) => path === undefined)
  const shown = read
    .slice(0, broken === -1 ? read.length : broken)
    .flatMap(({ column, path }) => (path === undefined ? [] : [{ column, path }]))
  return {
    columns: [nameColumn, ...shown.map(({ column }) => columnOf(column))],
    cells: (object) => {
      const { budget, room } = once('limits of a row', () => ({
        budget: pathBudget(),
        room: { left: ROW_CHARACTERS_MAX },
      }))
      const cells = mapEach('custom columns', shown, ({ column, path }) => {
        // Evaluate each path only once, even if its value is printed in several time slices.
        // Otherwise, the evaluation would count toward the limit several times.
        const value = once('value of a column', () => firstOf(path(object, budget)))
        return cellOf(value, column.type, room)
      })
      return [object.metadata.name ?? '', ...cells]
    },
  }
}

const types = ['string', 'integer', 'number', 'boolean', 'date'] as const

function columnOf({ name, type, format, description, priority, path }: PrinterColumn): Column {
  const reported =
    description === ''
      ? `Custom resource definition column (in JSONPath format): ${path}`
      : description
  return {
    name,
    type: types.find((one) => one === type) ?? 'string',
    format,
    description: reported,
    priority,
  }
}

/** Number of characters that are left for the cells of a row. */
type CellBudget = { left: number }

/**
 * Maximum number of characters of all cells of a row. A column can select a list of a megabyte,
 * which is then truncated.
 */
const ROW_CHARACTERS_MAX = 64 << 10

const firstOf = ([first]: Iterable<Json>): Json | undefined => first

/** Returns the cell for `value`, the first value at the path of the column. */
function cellOf(value: Json | undefined, type: string, room: CellBudget): Cell {
  if (value === undefined) return null
  switch (type) {
    case 'integer':
      return isNumber(value) ? Math.trunc(Number(value)) : null
    case 'number':
      return isNumber(value) ? Number(value) : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? dateCell(value) : null
    default:
      return textOf(value, room)
  }
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
/** Go's zero time (`time.Time{}`) in milliseconds. */
const ZERO_MS = Date.parse('0001-01-01T00:00:00Z')

function dateCell(text: string): Cell {
  if (text === '') return '<unknown>'
  const sinceMs = rfc3339.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(sinceMs)) return '<invalid>'
  return sinceMs === ZERO_MS ? '<unknown>' : { sinceMs }
}

function textOf(value: Json, room: CellBudget): string {
  const text =
    value === null
      ? '<no value>'
      : typeof value === 'object'
        ? sortedJson(value, room.left)
        : goPlain(value)
  const shown = text.length > room.left ? `${text.slice(0, room.left)}...` : text
  room.left = Math.max(0, room.left - text.length)
  return shown
}

/**
 * Prints JSON like Go's encoding/json: maps are sorted by key, and <, > and & are escaped. Printing
 * stops after `charactersMax` characters.
 */
function sortedJson(value: Json, charactersMax: number): string {
  if (!Array.isArray(value) && !isFields(value)) return printSorted(value)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  let text = open ?? ''
  // Return early, because sorting the keys of a large map is slow.
  if (charactersMax <= 0) return text
  for (const [key, item] of entriesOf(value)) {
    if (text.length > charactersMax) return text
    if (text.length > 1) text += ','
    if (key !== undefined) text += `${printSorted(key)}:`
    text += sortedJson(item, charactersMax - text.length)
  }
  return text + close
}

function* entriesOf(value: Json): Generator<readonly [string | undefined, Json], void, void> {
  if (Array.isArray(value)) for (const item of value) yield [undefined, item]
  else if (isFields(value)) for (const key of sortedInParts(value)) yield [key, value[key] ?? null]
}

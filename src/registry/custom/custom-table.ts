/** The columns of a custom kind: the name, and the additionalPrinterColumns of the CRD. */
import { goPlain } from '../../api/go-value.ts'
import { isFields, isNumber, type Json } from '../../api/object.ts'
import type { Cell, Column, TableKind } from '../../api/table.ts'
import type { PrinterColumn } from './definition.ts'
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

/** A path that cannot be parsed removes its column and those after it, as upstream. */
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
      const budget = pathBudget()
      const cells = shown.map(({ column, path }) => cellOf(path(object, budget), column.type))
      return [object.metadata.name ?? '', ...cells]
    },
  }
}

const types = ['string', 'integer', 'number', 'boolean', 'date'] as const

function columnOf({ name, type, format, description, priority, path }: PrinterColumn): Column {
  const told = description === '' ? `Custom resource definition column (in JSONPath format): ${path}` : description
  return { name, type: types.find((one) => one === type) ?? 'string', format, description: told, priority }
}

/** The first value that the path finds. */
function cellOf([value]: readonly Json[], type: string): Cell {
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
      return textOf(value)
  }
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
/** Go's zero time. */
const ZERO_MS = Date.parse('0001-01-01T00:00:00Z')

function dateCell(text: string): Cell {
  if (text === '') return '<unknown>'
  const sinceMs = rfc3339.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(sinceMs)) return '<invalid>'
  return sinceMs === ZERO_MS ? '<unknown>' : { sinceMs }
}

function textOf(value: Json): string {
  if (value === null) return '<no value>'
  return typeof value === 'object' ? sortedJson(value) : goPlain(value)
}

/** As Go's encoding/json: maps sorted by key, with <, > and & escaped. */
function sortedJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`
  if (isFields(value)) {
    const keys = Object.keys(value).toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    return `{${keys.map((key) => `${sortedJson(key)}:${sortedJson(value[key] ?? null)}`).join(',')}}`
  }
  if (typeof value === 'bigint') return `${value}`
  return JSON.stringify(value).replace(/[<>&]/g, (mark) => `\\u00${mark.charCodeAt(0).toString(16)}`)
}

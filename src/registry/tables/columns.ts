/**
 * Functions that define tables. A table consists of a list of columns, and a function that computes
 * the cells of a row.
 */
import {
  entriesOf,
  type Fields,
  fieldsOf,
  isNumber,
  itemsOf,
  type Json,
  type KubeObject,
  textOf,
} from '../../api/object.ts'
import { ageOf, type Cell, type Column, type TableKind } from '../../api/table.ts'
import { mapEach } from '../../lib/scheduling/parts.ts'
import { sortInParts } from '../../lib/scheduling/sort-in-parts.ts'
import { printLabelSelector } from '../rules/label-selector.ts'

/**
 * Creates a table. `line` lists the columns, as in `Name | Ready:integer | Node*`. The type of a
 * column follows its name, unless the type is string. A star marks columns that only wide output
 * shows. `cells` returns one cell for each column.
 */
export function table(line: string, cells: (object: KubeObject) => readonly Cell[]): TableKind {
  return { columns: columnsOf(line), cells }
}

/** The table of a kind in the releases from `since` on. */
export type LaterTable = { readonly since: number; readonly table: TableKind }

export function columnsOf(line: string): readonly Column[] {
  return line.split(' | ').map((text) => {
    const [, name = '', type = 'string', wide = ''] = /^([^:*]+)(?::(\w+))?(\*?)$/.exec(text) ?? []
    return {
      name,
      type: types.find((one) => one === type) ?? 'string',
      format: name === 'Name' || name === 'Attacher' ? 'name' : '',
      description: descriptions.get(name) ?? `The ${name.toLowerCase()} of the object.`,
      priority: wide === '' ? 0 : 1,
    }
  })
}

const types = ['string', 'integer', 'number', 'boolean', 'date'] as const

/** Descriptions of columns that need an explanation beyond their name. */
const descriptions: ReadonlyMap<string, string> = new Map([
  ['Name', 'The name of the object, unique among its kind in a namespace.'],
  ['Age', 'How long ago the object was created.'],
  ['Created At', 'When the object was created.'],
  ['Ready', 'The number that is ready, out of the desired number.'],
  ['Up-to-date', 'The number that runs the newest template.'],
  ['Restarts', 'How often containers were restarted, and when that last happened.'],
  ['Nominated Node', 'The node on which room is being made for the Pod.'],
  ['Readiness Gates', 'How many of its readiness gates the Pod has passed.'],
  ['Data', 'The number of entries.'],
  ['Last Seen', 'How long ago the event last happened.'],
  ['First Seen', 'How long ago the event first happened.'],
])

export const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? ''
export const createdAgo = ({ metadata }: KubeObject): Cell => ageOf(metadata.creationTimestamp)

export const specOf = (object: KubeObject): Fields => fieldsOf(object['spec'])
export const statusOf = (object: KubeObject): Fields => fieldsOf(object['status'])

export const shownOf = (value: Json | undefined): string =>
  typeof value === 'string' || isNumber(value) ? `${value}` : ''
export const keysOf = (value: Json | undefined): readonly string[] => Object.keys(fieldsOf(value))

export const orNone = (text: string): string => (text === '' ? '<none>' : text)
export const orUnset = (text: string): string => (text === '' ? '<unset>' : text)

export const hasCondition = (conditions: Json | undefined, type: string): boolean =>
  itemsOf(conditions).some((one) => one['type'] === type && one['status'] === 'True')

/** Formats labels as `a=1,b=2`, sorted. */
export function printLabels(labels: Json | undefined): string {
  const entries = mapEach('labels of a row', entriesOf(labels), ([key, value]) => `${key}=${value}`)
  return orNone(sortInParts('sorted labels of a row', entries, compareTexts).join(','))
}

const compareTexts = (one: string, other: string): number =>
  one < other ? -1 : one > other ? 1 : 0

export const printSelector = (selector: Json | undefined): string =>
  orNone(printLabelSelector(fieldsOf(selector)))

/** Maximum number of items of a list that a cell shows. */
export const SHOWN_MAX = 3

/**
 * Formats the first few items of a list, followed by the number of the remaining items. `count` is
 * the total number of items, if `texts` does not contain all of them.
 */
export function shortened(texts: readonly string[], count = texts.length): string {
  const shown = texts.slice(0, SHOWN_MAX).join(',')
  return count > SHOWN_MAX ? `${shown} + ${count - SHOWN_MAX} more...` : shown
}

/** Returns the names and images of the containers of a Pod template. */
export function containerColumns(template: Json | undefined): readonly [string, string] {
  const containers = itemsOf(fieldsOf(fieldsOf(template)['spec'])['containers'])
  const all = (field: string): string =>
    mapEach('containers of a row', containers, (one) => textOf(one[field])).join(',')
  return [all('name'), all('image')]
}

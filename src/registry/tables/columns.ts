/** Words that tables are described in: a line of columns, and a function that fills them from an object. */
import { type Fields, fieldsOf, isNumber, itemsOf, type Json, type KubeObject, textOf } from '../../api/object.ts'
import { ageOf, type Cell, type Column, type TableKind } from '../../api/table.ts'
import { printLabelSelector } from '../rules/label-selector.ts'

/**
 * `Name | Ready:integer | Node*`: names of columns, the type where it is not a text, a star for those of wide output. The
 * first cell is the name of the object where that is the first column, the rest is what `cells` gives.
 */
export function table(line: string, cells: (object: KubeObject) => readonly Cell[]): TableKind {
  return { columns: columnsOf(line), cells }
}

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

/** What the name of a column does not say by itself. */
const descriptions: ReadonlyMap<string, string> = new Map([
  ['Name', 'The name of the object, unique among its kind in a namespace.'],
  ['Age', 'How long ago the object was created.'],
  ['Created At', 'When the object was created.'],
  ['Ready', 'How many are ready, of those that should be.'],
  ['Up-to-date', 'How many run the newest template.'],
  ['Restarts', 'How often containers were started again, and when that last happened.'],
  ['Nominated Node', 'Where room is being made for the Pod.'],
  ['Readiness Gates', 'How many of its own readiness gates the Pod has passed.'],
  ['Data', 'How many entries there are.'],
  ['Last Seen', 'How long ago it last happened.'],
  ['First Seen', 'How long ago it first happened.'],
])

export const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? ''
export const createdAgo = ({ metadata }: KubeObject): Cell => ageOf(metadata.creationTimestamp)

export const specOf = (object: KubeObject): Fields => fieldsOf(object['spec'])
export const statusOf = (object: KubeObject): Fields => fieldsOf(object['status'])

/** A text or a number, as a text. */
export const shownOf = (value: Json | undefined): string =>
  typeof value === 'string' || isNumber(value) ? `${value}` : ''
export const keysOf = (value: Json | undefined): readonly string[] => Object.keys(fieldsOf(value))

export const orNone = (text: string): string => (text === '' ? '<none>' : text)
export const orUnset = (text: string): string => (text === '' ? '<unset>' : text)

export const hasCondition = (conditions: Json | undefined, type: string): boolean =>
  itemsOf(conditions).some((one) => one['type'] === type && one['status'] === 'True')

/** `a=1,b=2`, sorted. */
export function printLabels(labels: Json | undefined): string {
  const entries = Object.entries(fieldsOf(labels)).map(([key, value]) => `${key}=${textOf(value)}`)
  return orNone(entries.toSorted().join(','))
}

export const printSelector = (selector: Json | undefined): string => orNone(printLabelSelector(fieldsOf(selector)))

/** So many of a list are shown. */
export const SHOWN_MAX = 3

/** The first few, and how many more there are. */
export function shortened(texts: readonly string[]): string {
  const shown = texts.slice(0, SHOWN_MAX).join(',')
  return texts.length > SHOWN_MAX ? `${shown} + ${texts.length - SHOWN_MAX} more...` : shown
}

/** Names and images of the containers of a template. */
export function containerColumns(template: Json | undefined): readonly [string, string] {
  const containers = itemsOf(fieldsOf(fieldsOf(template)['spec'])['containers'])
  const all = (field: string): string => containers.map((one) => textOf(one[field])).join(',')
  return [all('name'), all('image')]
}

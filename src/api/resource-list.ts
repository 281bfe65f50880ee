/**
 * Resource lists: quantities by the name of the resource, such as `{ cpu: '500m', memory: '1Gi' }`.
 */
import { eachItem, eachKey, everyItem, isDivided, once } from '../lib/scheduling/parts.ts'
import { fieldsOf, type Json, textOf } from './object.ts'
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  printQuantity,
  type Quantity,
} from './quantity.ts'

export type ResourceList = ReadonlyMap<string, Quantity>

/**
 * Parses a resource list. Invalid quantities are left out, because validation rejects them. A long
 * list can be parsed in parts, between which the event loop runs other work
 * (lib/scheduling/parts.ts).
 */
export function readResourceList(list: Json | undefined): ResourceList {
  const texts = fieldsOf(list)
  return eachKey('amounts of a resource list', texts, newAmounts, (amounts, name) => {
    const amount = parseQuantity(textOf(texts[name]))
    if (!('fault' in amount)) amounts.set(name, amount)
    return true
  })
}

const newAmounts = (): Map<string, Quantity> => new Map()

/**
 * Formats a resource list. A long list can be formatted in parts, between which the event loop runs
 * other work (lib/scheduling/parts.ts).
 */
export function printResourceList(list: ResourceList): { readonly [name: string]: string } {
  if (!isDivided())
    return Object.fromEntries([...list].map(([name, amount]) => [name, printQuantity(amount)]))
  const entries = once('amounts to print', () => [...list])
  return eachItem('printed amounts', entries, newTexts, (texts, [name, amount]) => {
    texts[name] = printQuantity(amount)
    return true
  })
}

/** Creates a map without a prototype, because clients choose the names. */
const newTexts = (): Record<string, string> => Object.create(null)

export function sum(lists: readonly ResourceList[]): ResourceList {
  return merge(lists, addQuantities)
}

/** Returns a list with the largest quantity of each resource in any of the lists. */
export function largest(lists: readonly ResourceList[]): ResourceList {
  return merge(lists, (one, other) => (compareQuantities(one, other) >= 0 ? one : other))
}

function merge(
  lists: readonly ResourceList[],
  combine: (one: Quantity, other: Quantity) => Quantity,
): Map<string, Quantity> {
  const all = new Map<string, Quantity>()
  for (const list of lists) {
    for (const [name, amount] of list) {
      const known = all.get(name)
      all.set(name, known === undefined ? amount : combine(known, amount))
    }
  }
  return all
}

/**
 * Returns whether two lists have the same quantities. Long lists can be compared in parts, between
 * which the event loop runs other work (lib/scheduling/parts.ts).
 */
export function isSameList(one: ResourceList, other: ResourceList): boolean {
  if (one.size !== other.size) return false
  const entries = once('amounts to compare', () => [...one])
  return everyItem(
    'same amounts',
    entries,
    ([name, amount]) => other.get(name)?.nanos === amount.nanos,
  )
}

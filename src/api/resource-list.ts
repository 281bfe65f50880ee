/** Resource lists, amounts by name of the resource: `{ cpu: '500m', memory: '1Gi' }`. */
import { fieldsOf, type Json, textOf } from './object.ts'
import { addQuantities, compareQuantities, parseQuantity, printQuantity, type Quantity } from './quantity.ts'

export type ResourceList = ReadonlyMap<string, Quantity>

/** Invalid quantities are left out: validation has refused them, or will. */
export function readResourceList(list: Json | undefined): ResourceList {
  const amounts = new Map<string, Quantity>()
  for (const [name, text] of Object.entries(fieldsOf(list))) {
    const amount = parseQuantity(textOf(text))
    if (!('fault' in amount)) amounts.set(name, amount)
  }
  return amounts
}

export function printResourceList(list: ResourceList): { readonly [name: string]: string } {
  return Object.fromEntries([...list].map(([name, amount]) => [name, printQuantity(amount)]))
}

export function sum(lists: readonly ResourceList[]): ResourceList {
  return merge(lists, addQuantities)
}

/** The largest amount of each resource. */
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

export const isSameList = (one: ResourceList, other: ResourceList): boolean =>
  one.size === other.size && [...one].every(([name, amount]) => other.get(name)?.nanos === amount.nanos)

/**
 * Path elements of field sets, in the notation of FieldsV1. `f:name` is a field or a map key.
 * `k:{"name":"a"}` is a list item identified by its keys. `v:"a"` is an item of a set identified by
 * its value. `i:3` is a list item identified by its index.
 */
import { cutText } from '../../lib/text/cut-text.ts'
import { JsonSyntaxError } from '../../api/json-scanner.ts'
import { parseText } from '../../api/json-value.ts'
import { type Fields, fieldsOf, isFields, isNumber, type Json } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { compareKeys, printSorted, printString } from '../codec/json.ts'
import { everyItem, mapEach, once } from '../../lib/scheduling/parts.ts'
import { sortInParts } from '../../lib/scheduling/sort-in-parts.ts'
import type { ListKey, ListMerge } from './merge-type.ts'

export const fieldElement = (name: string): string => `f:${name}`

/**
 * Returns the path element of a list item, or undefined if the list cannot contain this item.
 * `itemFault` then returns the reason.
 */
export function itemElement(item: Json, { by, keys }: ListMerge): string | undefined {
  if (by === 'value') return typeof item === 'object' ? undefined : `v:${printSorted(item)}`
  if (!isFields(item)) return undefined
  let text = ''
  for (const key of keys) {
    const value = keyOf(item, key)
    if (value === undefined && key.isOptional) continue
    if (value === undefined) return undefined
    text += `${text === '' ? '' : ','}"${key.name}":${typeof value === 'string' ? printString(value) : printSorted(value)}`
  }
  return text === '' && keys.length > 0 ? undefined : `k:{${text}}`
}

/**
 * Returns the value of a key field, which can be null, or its default. Undefined if it has neither.
 */
function keyOf(item: Fields, { name, default: value }: ListKey): Json | undefined {
  const given = item[name]
  return given === undefined ? value : given
}

/** Returns kube-apiserver's message for an item that the list cannot contain. */
export function itemFault(item: Json, { by, keys }: ListMerge): string {
  if (by === 'value') {
    if (Array.isArray(item)) return 'not supported: associative list with lists as elements'
    return `associative list without keys has an element that's ${isFields(item) ? 'a map type' : 'an explicit null'}`
  }
  if (item === null) return 'associative list with keys may not have a null element'
  if (!isFields(item)) return 'associative list with keys may not have non-map elements'
  const omitted = keys.filter((key) => keyOf(item, key) === undefined)
  if (omitted.length === keys.length && keys.every(({ isOptional }) => isOptional)) {
    const all = keys.map(({ name }) => quote(name)).join(' ')
    return `associative list with keys has an element that omits all key fields [${all}] (and doesn't have default values for any key fields)`
  }
  const name = omitted[0]?.name ?? ''
  return `associative list with keys has an element that omits key field ${quote(name)} (and doesn't have default value)`
}

/**
 * Whether an element is valid. Elements with an unknown prefix are accepted, because later versions
 * of Kubernetes might define them.
 */
export function isElement(element: string): boolean {
  if (element.length < 2 || element[1] !== ':') return false
  const rest = element.slice(2)
  switch (element.charAt(0)) {
    case 'k':
      return plainKeys.test(rest) || isFields(tryParse(rest))
    case 'v':
      return tryParse(rest) !== undefined
    case 'i':
      return /^-?[0-9]+$/.test(rest)
    default:
      return true
  }
}

/**
 * Matches keys in the most common form: strings without escape sequences and quotes, and
 * non-negative integers.
 */
const plainKeys = /^\{(?:"\w+":(?:"[ !#-[\]-~]*"|[0-9]{1,15})(?:,(?=")|(?=\})))+\}$/

export const isKnownElement = (element: string): boolean => 'fkvi'.includes(element[0] ?? ' ')

function tryParse(text: string): Json | undefined {
  try {
    return parseText(text)
  } catch (error) {
    // Rethrow all other exceptions, because an interruption of the work is also an exception
    // (lib/scheduling/parts.ts).
    if (error instanceof SyntaxError || error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

const ranks = 'fkvi'

/**
 * Compares two elements. Field names come first, in byte order, followed by keys, values and
 * indexes.
 */
export function compareElements(one: string, other: string): number {
  const arePlain = one[0] === 'k' && plainKeys.test(one.slice(2)) && plainKeys.test(other.slice(2))
  return arePlain ? comparePlainKeys(one, other) : compareRead(readElement(one), readElement(other))
}

/**
 * Matches elements that have the same order as their texts: ASCII field names, and keys or values
 * that consist of one string. No character of the string may sort before the quote that ends it.
 */
const plainElement = /^(?:f:[ -~]*|k:\{"\w+":"[#-[\]-~]*"\}|v:"[#-[\]-~]*")$/

/**
 * Sorts entries in the order of `compareElements`, but parses each element at most once. If the
 * caller's work is divided into parts (lib/scheduling/parts.ts), the sort can be interrupted.
 */
export function inOrder<T>(entries: Iterable<Entry<T>>): readonly Entry<T>[] {
  const given = once('elements to sort', () => [...entries])
  if (everyItem('plain elements', given, isPlain))
    return sortInParts('sort of plain elements', given, comparePlain)
  const read = mapEach('read elements', given, readEntry)
  return sortInParts('sort of elements', read, compareEntries).map(({ entry }) => entry)
}

type Entry<T> = readonly [element: string, T]
type ReadEntry<T> = { readonly entry: Entry<T>; readonly read: ReadElement }

/** Whether elements like this one can be compared as text. */
const isPlain = ([element]: Entry<unknown>): boolean => plainElement.test(element)

const readEntry = <T>(entry: Entry<T>): ReadEntry<T> => ({ entry, read: readElement(entry[0]) })

const compareEntries = (one: ReadEntry<unknown>, other: ReadEntry<unknown>): number =>
  compareRead(one.read, other.read)

const comparePlain = ([one]: Entry<unknown>, [other]: Entry<unknown>): number =>
  one < other ? -1 : one > other ? 1 : 0

/** A parsed element. `value` is the parsed value of a `k` or `v` element. */
type ReadElement = { readonly element: string; readonly rank: number; readonly value: Json }

function readElement(element: string): ReadElement {
  const rank = ranks.indexOf(element[0] ?? '')
  const isRead = element[0] === 'k' || element[0] === 'v'
  return { element, rank, value: isRead ? (tryParse(element.slice(2)) ?? null) : null }
}

function compareRead(one: ReadElement, other: ReadElement): number {
  if (one.rank !== other.rank) return one.rank - other.rank
  switch (one.element.charAt(0)) {
    case 'k':
      return compareItemKeys(fieldsOf(one.value), fieldsOf(other.value))
    case 'v':
      return compareValues(one.value, other.value)
    case 'i':
      return Number(one.element.slice(2)) - Number(other.element.slice(2))
    default:
      return compareKeys(one.element, other.element)
  }
}

/**
 * Does the same as `compareItemKeys`, but without parsing the keys. Plain keys with the same names
 * are ordered by the first difference between their texts.
 */
function comparePlainKeys(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  if (at === one.length || at === other.length) return one.length - other.length
  let start = at
  while (isDigit(one[start - 1])) start--
  // A value begins after the colon of `":`. But in `{"a":":b"}`, the second colon follows a quote
  // because it is the first character of a string.
  const isValue = one[start - 1] === ':' && one[start - 2] === '"' && one[start - 3] !== ':'
  const [number, otherNumber] = [digitsAt(one, start), digitsAt(other, start)]
  if (isValue && number !== '' && otherNumber !== '') return Number(number) - Number(otherNumber)
  // Numbers sort before strings. If one string is the beginning of another, it sorts first.
  if (isValue && start === at) return number === '' ? 1 : -1
  if (one[at] === '"') return -1
  return other[at] === '"' ? 1 : compareKeys(one.slice(at), other.slice(at))
}

const isDigit = (character: string | undefined): boolean =>
  character !== undefined && character >= '0' && character <= '9'

const digitsAt = (text: string, at: number): string =>
  /^[0-9]*/.exec(text.slice(at, at + 16))?.[0] ?? ''

function compareItemKeys(
  one: { readonly [key: string]: Json | undefined },
  other: typeof one,
): number {
  const names = Object.keys(one)
  const otherNames = Object.keys(other)
  for (const [at, name] of names.entries()) {
    const otherName = otherNames[at]
    if (otherName === undefined) return 1
    const found =
      compareKeys(name, otherName) || compareValues(one[name] ?? null, other[otherName] ?? null)
    if (found !== 0) return found
  }
  return names.length - otherNames.length
}

/** Compares two values. Numbers come first, followed by strings, booleans, and all other values. */
function compareValues(one: Json, other: Json): number {
  const byType = typeRank(one) - typeRank(other)
  if (byType !== 0) return byType
  // A number can be compared with a bigint: JavaScript does this exactly.
  if (isNumber(one) && isNumber(other)) return one < other ? -1 : one > other ? 1 : 0
  if (typeof one === 'string' && typeof other === 'string') return compareKeys(one, other)
  return compareKeys(printSorted(one), printSorted(other))
}

function typeRank(value: Json): number {
  if (isNumber(value)) return 0
  if (typeof value === 'string') return 1
  return typeof value === 'boolean' ? 2 : 3
}

/** Formats an element as it appears in error messages: `.name`, `[name="a"]`, `[="a"]`, `[3]`. */
export function printElement(element: string): string {
  const rest = element.slice(2)
  switch (element.charAt(0)) {
    case 'k': {
      const keys = Object.entries(fieldsOf(tryParse(rest)))
      return `[${keys.map(([name, value]) => `${name}=${shown(value ?? null)}`).join(',')}]`
    }
    case 'v':
      return `[=${shown(tryParse(rest) ?? null)}]`
    case 'i':
      return `[${rest}]`
    default:
      return `.${cutText(rest)}`
  }
}

/** Formats a value like Go, except that maps have no braces and separators. */
function shown(value: Json): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map(shown).join(',')}]`
  if (!isFields(value)) return printSorted(value)
  return Object.entries(value)
    .map(([name, below]) => `${name}=${shown(below ?? null)}`)
    .join('')
}

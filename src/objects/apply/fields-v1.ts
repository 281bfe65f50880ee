/**
 * Parses and prints field sets in FieldsV1, the format of managedFields. The format represents the
 * tree as JSON. The key `.` marks a field that is in the set and also has fields below it.
 */
import { JsonScanner, JsonSyntaxError } from '../../api/json-scanner.ts'
import { compareKeys, printString } from '../codec/json.ts'
import { joinedInParts } from '../../lib/scheduling/join-in-parts.ts'
import { ownText } from '../../lib/text/own-text.ts'
import { everyItem, isDivided, once, repeat } from '../../lib/scheduling/parts.ts'
import { type FieldSet, isSameSet, nodeOf, ownedLeaf } from './field-set.ts'
import { FieldSetCache, SHARED_CHARACTERS_MAX } from './field-set-cache.ts'
import { compareElements, inOrder, isElement, isKnownElement } from './path-element.ts'

/** Maximum nesting depth of a field set. No object that a client can send is nested this deeply. */
const DEPTH_MAX = 1000

const known = new FieldSetCache()

/** Parses a FieldsV1 text. Returns undefined if it is invalid. */
export function parseFieldsV1(text: string): FieldSet | undefined {
  const found = known.set(text)
  if (found !== undefined) return found
  if (text.length > SHARED_CHARACTERS_MAX) return readFieldsV1(text)
  // Copies the text, because it can be a substring of the object's JSON. The elements of the cached
  // set would otherwise keep all of that JSON in memory.
  const set = readFieldsV1(ownText(text))
  if (set !== undefined && known.text(set) === undefined) addKnown(set, set)
  return set
}

/**
 * Parses a text with Keelson's own scanner. The keys of list items contain escape sequences, which
 * JSON.parse of V8 13.6 decodes incorrectly (`api/json-value.ts`).
 */
function readFieldsV1(text: string): FieldSet | undefined {
  const scanner = new JsonScanner(text)
  try {
    const set = readNode(scanner, 0)
    if (set !== undefined) scanner.end()
    return set?.isOwned === true ? nodeOf(false, set.children) : set
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

/**
 * Parses a node. An empty object or null means that the field is in the set. Returns undefined if
 * the whole text is invalid.
 */
function readNode(scanner: JsonScanner, depth: number): FieldSet | undefined {
  const type = scanner.peekType()
  if (type === 'null') {
    scanner.skipNull()
    return ownedLeaf
  }
  if (type !== 'object' || depth > DEPTH_MAX) return undefined
  if (isDivided()) return readNodeInParts(scanner, depth)
  let isOwned = false
  let children: Map<string, FieldSet> | undefined
  let isEmpty = true
  for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
    isEmpty = false
    const element = scanner.readKey()
    if (element === '.') {
      isOwned = true
      scanner.skipValue()
      continue
    }
    const node = readNode(scanner, depth + 1)
    if (node === undefined || !isElement(element)) return undefined
    if (isKnownElement(element)) (children ??= new Map()).set(element, node)
  }
  return nodeOf(isOwned || isEmpty, children)
}

function readNodeInParts(scanner: JsonScanner, depth: number): FieldSet | undefined {
  type NodeState = {
    isOwned: boolean
    isEmpty: boolean
    isValid: boolean
    more: boolean
    at: number
    children: Children
  }
  const begin = (): NodeState => {
    const more = scanner.beginObject()
    return {
      isOwned: false,
      isEmpty: !more,
      isValid: true,
      more,
      at: scanner.at,
      children: new Map(),
    }
  }
  const read = repeat(scanner.at, begin, (now) => {
    scanner.at = now.at
    if (!now.more) return false
    const element = scanner.readKey()
    if (element === '.') {
      now.isOwned = true
      scanner.skipValue()
    } else {
      const node = readNode(scanner, depth + 1)
      now.isValid = node !== undefined && isElement(element)
      if (node !== undefined && isKnownElement(element)) now.children.set(element, node)
    }
    now.more = now.isValid && scanner.nextInObject()
    now.at = scanner.at
    return now.more
  })
  scanner.at = read.at
  return read.isValid ? nodeOf(read.isOwned || read.isEmpty, read.children) : undefined
}

type Children = Map<string, FieldSet>

/**
 * Returns the FieldsV1 text of a set. The text is cached, because sets are immutable and the same
 * set is often printed again.
 */
export function printFieldsV1(set: FieldSet): string {
  return known.text(set) ?? addKnown(set, undefined)
}

/**
 * Prints a set, caches it with its text, and returns the text. `own` is the same set if none of its
 * elements is a substring of a longer string. If `own` is undefined, a copy of the set is cached.
 */
function addKnown(set: FieldSet, own: FieldSet | undefined): string {
  const printed = printChildren(set, '')
  if (printed.length > SHARED_CHARACTERS_MAX) {
    known.record(printed, set)
    return printed
  }
  const found = known.set(printed)
  if (found !== undefined) return known.text(found) ?? printed
  const text = ownText(printed)
  const shared = own ?? ownSet(set)
  if (isSameSet(shared, set)) known.add(text, shared)
  return text
}

/**
 * Returns a copy of a set in which no element is a substring of a longer string. The order of
 * elements does not change, because the cache needs it to find equal sets.
 */
function ownSet({ isOwned, children }: FieldSet): FieldSet {
  const copies = new Map<string, FieldSet>()
  for (const [element, child] of children) copies.set(ownText(element), ownSet(child))
  return nodeOf(isOwned, copies)
}

function printChildren({ children }: FieldSet, start: string): string {
  if (isDivided()) {
    const all = once('sorted children', () => sortedInParts(children))
    const text = joinedInParts(
      all,
      ([element, child]) => `${printString(element)}:${printNode(child)}`,
    )
    return `{${[start, text].filter((part) => part !== '').join(',')}}`
  }
  let text = start
  for (const [element, child] of sorted(children)) {
    text += `${text === '' ? '' : ','}${printString(element)}:${printNode(child)}`
  }
  return `{${text}}`
}

const printNode = (node: FieldSet): string =>
  node.children.size === 0 ? '{}' : printChildren(node, node.isOwned ? '".":{}' : '')

/**
 * Returns the children in the order in which they are printed. Most sets are already in this order.
 */
function sorted(children: FieldSet['children']): Iterable<readonly [string, FieldSet]> {
  let before: string | undefined
  for (const element of children.keys()) {
    if (before !== undefined && isBefore(element, before)) {
      return inOrder(children)
    }
    before = element
  }
  return children
}

function sortedInParts(children: FieldSet['children']): readonly (readonly [string, FieldSet])[] {
  const given = once('children to sort', () => [...children])
  const isAfter = ([element]: readonly [string, FieldSet], at: number): boolean =>
    at === 0 || !isBefore(element, given[at - 1]?.[0] ?? '')
  return everyItem('children in order', given, isAfter) ? given : inOrder(given)
}

/** Whether an element comes before another. In most cases, both elements are field names. */
const isBefore = (one: string, other: string): boolean =>
  (one.startsWith('f:') && other.startsWith('f:')
    ? compareKeys(one, other)
    : compareElements(one, other)) < 0

/** Sets of fields as managedFields hold them: the tree written as JSON, `.` for a place that is in the set and has more below it. */
import { compareKeys, printString } from '../codec/json.ts'
import { type FieldSet, nodeOf, ownedLeaf } from './field-set.ts'
import { KnownSets, SHARED_CHARACTERS_MAX } from './known-sets.ts'
import { compareElements, isElement, isKnownElement } from './path-element.ts'

/** Deeper than any object that can be sent. */
const DEPTH_MAX = 1000

const known = new KnownSets()

/** Undefined for a text that no manager can have written. */
export function parseFieldsV1(text: string): FieldSet | undefined {
  const found = known.set(text)
  if (found !== undefined) return found
  const set = readFieldsV1(text)
  // The text may be a part of the whole object's: the one that is printed stands by itself.
  if (set !== undefined && text.length <= SHARED_CHARACTERS_MAX) printFieldsV1(set)
  return set
}

function readFieldsV1(text: string): FieldSet | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  const set = readNode(parsed, 0)
  return set?.isOwned === true ? nodeOf(false, set.children) : set
}

/** An empty object is a place in the set, and so is null. */
function readNode(value: unknown, depth: number): FieldSet | undefined {
  if (value === null) return ownedLeaf
  if (typeof value !== 'object' || Array.isArray(value) || depth > DEPTH_MAX) return undefined
  let isOwned = false
  let children: Map<string, FieldSet> | undefined
  let isEmpty = true
  for (const [element, below] of Object.entries(value)) {
    isEmpty = false
    if (element === '.') {
      isOwned = true
      continue
    }
    const node = readNode(below, depth + 1)
    if (node === undefined || !isElement(element)) return undefined
    if (isKnownElement(element)) (children ??= new Map()).set(element, node)
  }
  return nodeOf(isOwned || isEmpty, children)
}

/** Sets never change, and most go back as they came. */
export function printFieldsV1(set: FieldSet): string {
  const found = known.text(set)
  if (found !== undefined) return found
  const text = printChildren(set, '')
  known.add(text, set)
  return text
}

function printChildren({ children }: FieldSet, start: string): string {
  let text = start
  for (const [element, child] of sorted(children)) {
    text += `${text === '' ? '' : ','}${printString(element)}:${printNode(child)}`
  }
  return `{${text}}`
}

const printNode = (node: FieldSet): string =>
  node.children.size === 0 ? '{}' : printChildren(node, node.isOwned ? '".":{}' : '')

/** Mostly they were found in order. */
function sorted(children: FieldSet['children']): Iterable<readonly [string, FieldSet]> {
  let before: string | undefined
  for (const element of children.keys()) {
    if (before !== undefined && isBefore(element, before)) {
      return [...children].toSorted(([one], [other]) => compareElements(one, other))
    }
    before = element
  }
  return children
}

/** Two field names are what is compared most. */
const isBefore = (one: string, other: string): boolean =>
  (one.startsWith('f:') && other.startsWith('f:') ? compareKeys(one, other) : compareElements(one, other)) < 0

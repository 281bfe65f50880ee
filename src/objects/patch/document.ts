/**
 * A JSON document that is parsed only as far as a patch requires. Objects and lists on the path of
 * an operation are parsed. All other values remain text, so that the cost of a patch depends only
 * on the parts that it changes. The printed document is the same as in kube-apiserver, because
 * error messages quote it: the keys of parsed objects are sorted, and other objects keep the order
 * of their keys. Keys are stored in Maps, where `__proto__` is a normal key.
 */
import { JsonScanner } from '../../api/json-scanner.ts'
import { compacted, compareKeys, printString, readRaw } from '../codec/json.ts'
import { joinedInParts } from '../../lib/scheduling/join-in-parts.ts'
import { once, parts, repeat } from '../../lib/scheduling/parts.ts'
import type { Slices, Steps } from '../../lib/scheduling/slices.ts'
import { checkDepth, type Work } from './work.ts'

/** A JSON value. JSON's null is represented by JavaScript's null. */
export type Value = JsonNode | null

/** Cost of creating a node, compared with a cost of one for reading a character. */
const NODE_UNITS = 4

/**
 * Length above which a text is parsed in time slices. Parsing a shorter text takes at most about a
 * millisecond.
 */
const LONG_CHARACTERS = 16 * 1024

export type Items = Value[]
export type Members = Map<string, Value>

export class JsonNode {
  /** The JSON text without whitespace. Undefined after it has been parsed. */
  #text: string | undefined
  #inside: Items | Members | undefined
  readonly #work: Work

  constructor(text: string, work: Work) {
    this.#text = text
    this.#work = work
  }

  /**
   * Returns the members of an object, which is parsed if necessary. Returns undefined if the value
   * is not an object.
   */
  members(): Members | undefined {
    if (this.#text?.startsWith('{') === true) this.#open(readMembers)
    return this.#inside instanceof Map ? this.#inside : undefined
  }

  items(): Items | undefined {
    if (this.#text?.startsWith('[') === true) this.#open(readItems)
    return Array.isArray(this.#inside) ? this.#inside : undefined
  }

  /** Time slices for long work. Undefined if the patch and the object are small. */
  get slices(): Slices | undefined {
    return this.#work.slices
  }

  /**
   * Parses a long object or list in time slices. Without this, `members` and `items` would parse it
   * at once.
   */
  *opened(): Steps<void> {
    const isLong = (this.#text?.length ?? 0) > LONG_CHARACTERS
    if (isLong && this.slices !== undefined)
      yield* parts(() => this.members() ?? this.items(), this.slices)
  }

  /** Whether this is an object or a list. */
  get isNested(): boolean {
    return (
      this.#inside !== undefined ||
      this.#text?.startsWith('{') === true ||
      this.#text?.startsWith('[') === true
    )
  }

  /**
   * Whether this is a list that contains neither lists nor non-empty objects, such as a list of
   * scalars. It has no members that could be null, so it need not be parsed to remove them.
   */
  get isPlainList(): boolean {
    const text = this.#text
    return text?.startsWith('[') === true && !text.includes(':') && !text.includes('[', 1)
  }

  #open(read: (scanner: JsonScanner, work: Work) => Items | Members): void {
    const text = this.#text ?? ''
    once('cost of text', () => this.#work.spend(text.length))
    const inside = read(new JsonScanner(text), this.#work)
    this.#work.spend(NODE_UNITS * (Array.isArray(inside) ? inside.length : inside.size))
    this.#inside = inside
    this.#text = undefined
  }

  /** Returns the JSON text. Throws a PatchError if the document is nested too deeply. */
  print(depth = 0): string {
    if (this.#text !== undefined) return this.#text
    checkDepth(depth)
    const show = (value: Value | undefined): string => value?.print(depth + 1) ?? 'null'
    if (Array.isArray(this.#inside)) return `[${joinedInParts(this.#inside, show)}]`
    const members = this.#inside ?? new Map<string, Value>()
    const keys = once('sorted members', () => [...members.keys()].toSorted(compareKeys))
    return `{${joinedInParts(keys, (key) => `${printString(key)}:${show(members.get(key))}`)}}`
  }

  /**
   * Whether two values are equal. The order of keys in objects is ignored. Numbers and strings are
   * equal only if their JSON texts are identical.
   */
  *equals(other: JsonNode, depth = 0): Steps<boolean> {
    checkDepth(depth)
    const own = this.members()
    if (own !== undefined) {
      const others = other.members()
      if (others?.size !== own.size) return false
      yield undefined
      for (const [key, value] of own) {
        if (!others.has(key) || !(yield* isEqual(value, others.get(key) ?? null, depth + 1)))
          return false
      }
      return true
    }
    const items = this.items()
    if (items === undefined) return this.#text === other.#text
    const others = other.items()
    if (others?.length !== items.length) return false
    yield undefined
    for (const [at, item] of items.entries()) {
      if (at % STEP_ITEMS === 0) yield undefined
      if (!(yield* isEqual(item, others[at] ?? null, depth + 1))) return false
    }
    return true
  }
}

/** Number of items that are compared in one step. */
const STEP_ITEMS = 256

function* isEqual(one: Value, other: Value, depth: number): Steps<boolean> {
  return one === null || other === null ? one === other : yield* one.equals(other, depth)
}

/** Creates a value from JSON text in a request. */
export const valueOf = (text: string, work: Work): Value => nodeOf(compacted(text), work)

const nodeOf = (text: string, work: Work): Value =>
  text === 'null' ? null : new JsonNode(text, work)

/** Parses a complete text. Throws a JsonSyntaxError if the text is not valid JSON. */
export function parseValue(text: string, work: Work): Value {
  const scanner = new JsonScanner(text)
  const value = nodeOf(readRaw(scanner), work)
  scanner.end()
  return value
}

function readMembers(scanner: JsonScanner, work: Work): Members {
  const begin = (): { readonly members: Members; more: boolean; at: number } => {
    const more = scanner.beginObject()
    return { members: new Map(), more, at: scanner.at }
  }
  return repeat(scanner.at, begin, (read) => {
    scanner.at = read.at
    if (!read.more) return false
    const key = scanner.readKey()
    read.members.set(key, nodeOf(readInside(scanner), work))
    read.more = scanner.nextInObject()
    read.at = scanner.at
    return read.more
  }).members
}

function readItems(scanner: JsonScanner, work: Work): Items {
  const begin = (): { readonly items: Items; more: boolean; at: number } => {
    const more = scanner.beginArray()
    return { items: [], more, at: scanner.at }
  }
  return repeat(scanner.at, begin, (read) => {
    scanner.at = read.at
    if (!read.more) return false
    read.items.push(nodeOf(readInside(scanner), work))
    read.more = scanner.nextInArray()
    read.at = scanner.at
    return read.more
  }).items
}

/**
 * Returns the text of the next value. It has no whitespace, because the surrounding text has none.
 */
function readInside(scanner: JsonScanner): string {
  const start = scanner.at
  scanner.skipValue()
  return scanner.text.slice(start, scanner.at)
}

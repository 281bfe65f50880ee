/**
 * JSON as a patch needs it: what an operation passes through is opened, the rest is kept as text.
 * So a patch costs what it touches, and the document comes out as upstream's does, down to the
 * order of keys that its errors quote: sorted where it was opened, unchanged elsewhere. Keys are in
 * Maps, where `__proto__` is a key like any other.
 */
import { JsonScanner } from '../../api/json-scanner.ts'
import { compacted, compareKeys, printString, readRaw } from '../codec/json.ts'
import { joinedInParts } from '../../lib/scheduling/join-in-parts.ts'
import { once, parts, repeat } from '../../lib/scheduling/parts.ts'
import type { Slices, Steps } from '../../lib/scheduling/slices.ts'
import { checkDepth, type Work } from './work.ts'

/** Null stands for JSON's null. */
export type Value = JsonNode | null

/** The cost of a node, in characters that are read. */
const NODE_UNITS = 4

/** A shorter text is opened in a millisecond. */
const LONG_CHARACTERS = 16 * 1024

export type Items = Value[]
export type Members = Map<string, Value>

export class JsonNode {
  /** The JSON text without whitespace; undefined once the node is open. */
  #text: string | undefined
  #inside: Items | Members | undefined
  readonly #work: Work

  constructor(text: string, work: Work) {
    this.#text = text
    this.#work = work
  }

  /** The members of an object, which is open from then on; undefined for anything else. */
  members(): Members | undefined {
    if (this.#text?.startsWith('{') === true) this.#open(readMembers)
    return this.#inside instanceof Map ? this.#inside : undefined
  }

  items(): Items | undefined {
    if (this.#text?.startsWith('[') === true) this.#open(readItems)
    return Array.isArray(this.#inside) ? this.#inside : undefined
  }

  /** Present if the patch or the object is large. */
  get slices(): Slices | undefined {
    return this.#work.slices
  }

  /** Opens a long object or list in parts, so that `members` and `items` take no time. */
  *opened(): Steps<void> {
    const isLong = (this.#text?.length ?? 0) > LONG_CHARACTERS
    if (isLong && this.slices !== undefined)
      yield* parts(() => this.members() ?? this.items(), this.slices)
  }

  /** Whether it is an object or a list. */
  get isNested(): boolean {
    return (
      this.#inside !== undefined ||
      this.#text?.startsWith('{') === true ||
      this.#text?.startsWith('[') === true
    )
  }

  /**
   * Whether it is a list without nested lists and non-empty objects, such as a long list of
   * scalars: it need not be opened.
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

  /** Fails with a PatchError if it nests too deeply. */
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
   * Objects are equal whatever the order of their keys; numbers and strings only when they are
   * written alike.
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

/** Items that are compared between two steps. */
const STEP_ITEMS = 256

function* isEqual(one: Value, other: Value, depth: number): Steps<boolean> {
  return one === null || other === null ? one === other : yield* one.equals(other, depth)
}

/** A value from the text that a client sent. */
export const valueOf = (text: string, work: Work): Value => nodeOf(compacted(text), work)

const nodeOf = (text: string, work: Work): Value =>
  text === 'null' ? null : new JsonNode(text, work)

/** Fails with a JsonSyntaxError. */
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

/** The parts of a text without whitespace have none either. */
function readInside(scanner: JsonScanner): string {
  const start = scanner.at
  scanner.skipValue()
  return scanner.text.slice(start, scanner.at)
}

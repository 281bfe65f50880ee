/**
 * Parses the first document of a YAML text to the value that the corresponding JSON would have.
 * js-yaml splits the text into events. This file interprets the events in the same way as
 * kube-apiserver's library. Scalars follow YAML 1.1, integers are exact, duplicate keys are
 * reported but not rejected, and the expansion of aliases is limited.
 */
import {
  type AliasEvent,
  type Event,
  EVENT_ID,
  getScalarValue,
  type MappingEvent,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml'
import { isFields, type Json } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { BoundedTexts } from '../../lib/text/bounded-texts.ts'
import { describeFault, utf8Fault, YamlError } from './yaml-error.ts'
import { resolveScalar } from './yaml-scalar.ts'
import { hasUnprintable } from './yaml-text.ts'

/**
 * Maximum nesting depth, which is the same as for JSON. Real objects are far less deep, and the
 * stack has room for far more levels.
 */
const DEPTH_MAX = 1000
/**
 * Aliases are not limited while they refer to at most this number of nodes, as in kube-apiserver.
 * They are also not limited in a document with at most NODES_FREE nodes.
 */
const ALIASED_NODES_FREE = 100
const NODES_FREE = 1000
/**
 * Maximum size of a document after aliases are expanded. The largest accepted body is 3 MB long,
 * and etcd accepts less.
 */
const EXPANDED_BYTES_MAX = 16 * 1024 * 1024

/**
 * Maximum total length of all messages about duplicate keys. No response has room for more. A body
 * of 3 MB can repeat a million keys.
 */
const DUPLICATES_CHARACTERS_MAX = 1024 * 1024

export type ParsedYaml = {
  readonly value: Json
  /**
   * Messages in kube-apiserver's format, such as `line 5: key "a" already set in map`. They report
   * repeated keys of the same map.
   */
  readonly duplicates: readonly string[]
}

/**
 * Parses the first document of a YAML text. An empty document is null. Throws a `YamlError` if the
 * text is not valid YAML.
 */
export function parseYaml(bytes: Buffer): ParsedYaml {
  const text = firstDocument(readText(bytes))
  let events: readonly Event[]
  try {
    events = parseEvents(text, { maxDepth: DEPTH_MAX })
  } catch (error) {
    throw describeFault(error, text)
  }
  if (hasUnprintable(text)) throw new YamlError('yaml: control characters are not allowed')
  return new Builder(text, events).build()
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function readText(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new YamlError(`yaml: ${utf8Fault(bytes)}`, { cause })
  }
}

/**
 * Returns the text of the first document. The remaining text is not parsed. `---` and `...` in the
 * first column are always document markers.
 */
function firstDocument(text: string): string {
  const marker = /^(?:---|\.\.\.)(?=[\s]|$)/gm
  for (let match = marker.exec(text); match !== null; match = marker.exec(text)) {
    const before = text.slice(0, match.index)
    const isStart =
      match[0] === '---' &&
      /^(?:\ufeff?[ \t]*(?:#.*|%.*)?(?:\r\n|\r(?!\n)|\n))*\ufeff?$/.test(before)
    if (!isStart) return before
  }
  return text
}

/**
 * A node, and the size that it would have if all of its aliases were replaced by their contents.
 */
type SizedNode = {
  readonly value: Json
  readonly nodes: number
  readonly bytes: number
  readonly depth: number
}

class Builder {
  readonly #text: string
  readonly #events: readonly Event[]
  readonly #anchors = new Map<string, SizedNode>()
  readonly #duplicates = new BoundedTexts(DUPLICATES_CHARACTERS_MAX)
  #at = 0
  /**
   * Number of lists and maps around the current position. `#deepest` is the maximum of this number
   * since the last anchor.
   */
  #depth = 0
  #deepest = 0
  #nodes = 0
  #aliasedNodes = 0
  #bytes = 0
  /** Offsets of the line ends. They are computed when a line number is first needed. */
  #lineEnds: readonly number[] | undefined

  constructor(text: string, events: readonly Event[]) {
    this.#text = text
    this.#events = events
  }

  build(): ParsedYaml {
    const first = this.#events[0]
    if (first === undefined || first.type !== EVENT_ID.DOCUMENT)
      return { value: null, duplicates: [] }
    this.#at = 1
    const next = this.#events[1]
    if (next === undefined || next.type === EVENT_ID.POP) return { value: null, duplicates: [] }
    return { value: this.#node(), duplicates: this.#duplicates.all }
  }

  #node(): Json {
    const event = this.#events[this.#at++]
    if (event === undefined) throw new YamlError('yaml: the document ends too early')
    this.#nodes++
    switch (event.type) {
      case EVENT_ID.SCALAR:
        return this.#anchored(event, () => this.#scalar(event))
      case EVENT_ID.SEQUENCE:
        return this.#anchored(event, () => this.#sequence())
      case EVENT_ID.MAPPING:
        return this.#anchored(event, () => this.#mapping())
      case EVENT_ID.ALIAS:
        return this.#alias(event).value
      case EVENT_ID.DOCUMENT:
      case EVENT_ID.POP:
        throw new YamlError('yaml: did not find expected node content')
    }
  }

  #anchored(event: ScalarEvent | SequenceEvent | MappingEvent, build: () => Json): Json {
    if (event.anchorStart === -1) return build()
    const nodes = this.#nodes
    const bytes = this.#bytes
    const deepest = this.#deepest
    this.#deepest = this.#depth
    const value = build()
    const name = this.#anchorName(event)
    this.#anchors.set(name, {
      value,
      nodes: this.#nodes - nodes + 1,
      bytes: this.#bytes - bytes,
      depth: this.#deepest - this.#depth,
    })
    this.#deepest = Math.max(this.#deepest, deepest)
    return value
  }

  /**
   * Throws an error if the depth is too large. The parser limits only the nesting in the text. An
   * alias inside an anchored node can increase the depth beyond that.
   */
  #reach(depth: number): void {
    if (depth > DEPTH_MAX) throw new YamlError('yaml: exceeded max depth of 10000')
    this.#deepest = Math.max(this.#deepest, depth)
  }

  /**
   * Returns the node to which an alias refers. The node is not copied, but its size is counted
   * again.
   */
  #alias(event: AliasEvent): SizedNode {
    const name = this.#anchorName(event)
    const target = this.#anchors.get(name)
    if (target === undefined) throw new YamlError(`yaml: unknown anchor '${name}' referenced`)
    this.#nodes += target.nodes
    this.#aliasedNodes += target.nodes
    this.#bytes += target.bytes
    const isMuch = this.#aliasedNodes > ALIASED_NODES_FREE && this.#nodes > NODES_FREE
    const isTooMuch = isMuch && this.#aliasedNodes / this.#nodes > aliasRatioMax(this.#nodes)
    if (isTooMuch || this.#bytes > EXPANDED_BYTES_MAX) {
      throw new YamlError('yaml: document contains excessive aliasing')
    }
    this.#reach(this.#depth + target.depth)
    return target
  }

  /**
   * Returns the name of an anchor or alias. js-yaml accepts nearly all characters in it.
   * kube-apiserver accepts only letters, digits, `_` and `-`, so other names are rejected here.
   */
  #anchorName({
    anchorStart,
    anchorEnd,
  }: {
    readonly anchorStart: number
    readonly anchorEnd: number
  }): string {
    const name = this.#text.slice(anchorStart, anchorEnd)
    if (/^[\w-]+$/.test(name)) return name
    const line = this.#lineOf(anchorStart)
    throw new YamlError(
      `yaml: ${line > 1 ? `line ${line}: ` : ''}did not find expected alphabetic or numeric character`,
    )
  }

  #sequence(): Json {
    const items: Json[] = []
    this.#reach(++this.#depth)
    while (!this.#pops()) items.push(this.#node())
    this.#depth--
    return items
  }

  #mapping(): Json {
    const fields = newFields()
    this.#reach(++this.#depth)
    while (!this.#pops()) {
      const event = this.#events[this.#at]
      const key = this.#key()
      if (key.isMerge) this.#merge(fields, event)
      else this.#set(fields, key, event)
    }
    this.#depth--
    return fields
  }

  #pops(): boolean {
    if (this.#events[this.#at]?.type !== EVENT_ID.POP) return false
    this.#at++
    return true
  }

  #set(fields: MutableFields, key: Key, keyEvent: Event | undefined): void {
    if (Object.hasOwn(fields, key.text)) {
      const valueEvent = this.#events[this.#at]
      this.#duplicates.add(() => {
        // As in kube-apiserver, the message contains the line of the value, or that of the key if
        // there is no value.
        const line = this.#lineAtStart(valueEvent) ?? this.#lineAtStart(keyEvent) ?? 0
        return `line ${line}: key ${key.shown} already set in map`
      })
    }
    fields[key.text] = this.#node()
  }

  /** Reads a key. Returns both the JSON key, and the key as Go prints it in error messages. */
  #key(): Key {
    const event = this.#events[this.#at]
    const value = this.#node()
    if (
      event?.type === EVENT_ID.SCALAR &&
      value === '<<' &&
      event.style === SCALAR_STYLE.PLAIN &&
      event.tagStart === -1
    ) {
      return { text: '<<', shown: '', isMerge: true }
    }
    if (typeof value === 'string') return { text: value, shown: quote(value), isMerge: false }
    if (typeof value !== 'object') return { text: `${value}`, shown: `${value}`, isMerge: false }
    if (value === null) throw new YamlError('unsupported map key of type: invalid, key: <nil>')
    const type = isFields(value) ? 'map[interface {}]interface {}' : '[]interface {}'
    throw new YamlError(`yaml: invalid map key: ${type}`)
  }

  /**
   * Merges the maps of a `<<` key. As in kube-apiserver, merged keys override earlier keys and are
   * overridden by later keys.
   */
  #merge(into: MutableFields, key: Event | undefined): void {
    const before = this.#at
    const source: Json = this.#node()
    const event = this.#events[before]
    const sources: readonly Json[] =
      isList(source) && event?.type !== EVENT_ID.ALIAS ? source.toReversed() : [source]
    for (const one of sources) {
      if (!isFields(one)) {
        throw new YamlError('yaml: map merge requires map or sequence of maps as the value')
      }
      for (const [name, value] of Object.entries(one)) {
        if (Object.hasOwn(into, name)) {
          this.#duplicates.add(
            () => `line ${this.#lineAtStart(key) ?? 0}: key ${quote(name)} already set in map`,
          )
        }
        into[name] = value ?? null
      }
    }
  }

  #scalar(event: ScalarEvent): Json {
    const text = getScalarValue(this.#text, event)
    this.#bytes += text.length + 2
    if (event.tagStart !== -1) return tagged(this.#text.slice(event.tagStart, event.tagEnd), text)
    if (event.style !== SCALAR_STYLE.PLAIN) return text
    return plain(text)
  }

  #lineAtStart(event: Event | undefined): number | undefined {
    const offset = startOf(event)
    if (offset === undefined) return undefined
    // The offset of a block scalar is that of its text, which begins in the line after `|` or `>`.
    const isBlock = event?.type === EVENT_ID.SCALAR && event.style >= SCALAR_STYLE.LITERAL_BLOCK
    return this.#lineOf(offset) - (isBlock ? 1 : 0)
  }

  /**
   * Returns the line of an offset, counted from one. Uses a binary search in the line ends, which
   * are computed once.
   */
  #lineOf(offset: number): number {
    this.#lineEnds ??= Array.from(this.#text.matchAll(/\n/g), ({ index }) => index)
    let [low, high] = [0, this.#lineEnds.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#lineEnds[middle] ?? 0) < offset) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}

type Key = { readonly text: string; readonly shown: string; readonly isMerge: boolean }

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

type MutableFields = { [field: string]: Json }

/** Returns an object without a prototype, in which `__proto__` is a normal key. */
const newFields = (): MutableFields => Object.create(null)

/** Returns the offset of a node, including its anchor and tag. Undefined if the node is absent. */
function startOf(event: Event | undefined): number | undefined {
  if (event === undefined || event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP)
    return undefined
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart
  const start = event.type === EVENT_ID.SCALAR ? event.valueStart : event.start
  const offsets = [start, event.anchorStart, event.tagStart].filter((offset) => offset !== -1)
  // Bounded: there are at most three offsets
  return offsets.length === 0 ? undefined : Math.min(...offsets)
}

/**
 * Returns the maximum share of a document's nodes that aliases may contribute. As in
 * kube-apiserver, this share is smaller for larger documents, and is interpolated linearly between
 * two sizes.
 */
function aliasRatioMax(nodes: number): number {
  const [low, high] = [400_000, 4_000_000]
  if (nodes <= low) return 0.99
  if (nodes >= high) return 0.1
  return 0.99 - (0.89 * (nodes - low)) / (high - low)
}

function plain(text: string): Json {
  const scalar = resolveScalar(text)
  switch (scalar.kind) {
    case 'string':
    case 'timestamp':
    case 'merge':
      return text
    case 'null':
      return null
    case 'boolean':
    case 'integer':
      return scalar.value
    case 'float':
      return finite(scalar.value)
  }
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value
  const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  throw new YamlError(`json: unsupported value: ${shown}`)
}

function tagged(tag: string, text: string): Json {
  const name = tag.replace(/^!<tag:yaml\.org,2002:(.*)>$/, '!!$1')
  switch (name) {
    case '!!binary':
      return binary(text)
    case '!!null':
    case '!!bool':
    case '!!int':
    case '!!float':
      return typed(name, text)
    default:
      return text
  }
}

function binary(text: string): string {
  const compact = text.replaceAll(/[\r\n]/g, '')
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(compact)) {
    throw new YamlError('yaml: !!binary value contains invalid base64 data')
  }
  return Buffer.from(compact, 'base64').toString('utf8')
}

const tagNames = {
  string: '!!str',
  null: '!!null',
  merge: '!!merge',
  timestamp: '!!timestamp',
  boolean: '!!bool',
  integer: '!!int',
  float: '!!float',
} as const

function typed(tag: string, text: string): Json {
  const scalar = resolveScalar(text)
  const found = tagNames[scalar.kind]
  if (found !== tag && !(tag === '!!float' && scalar.kind === 'integer')) {
    throw new YamlError(`yaml: cannot decode ${found} \`${text}\` as a ${tag}`)
  }
  return plain(text)
}

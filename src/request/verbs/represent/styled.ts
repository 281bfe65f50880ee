/**
 * Converts compact JSON to indented JSON, YAML or CBOR. These are called styles here. For deeply
 * nested values, the first two can be hundreds of times as long. Therefore, the length is computed
 * first, and a long body is generated in slices while the client reads it. It is never in memory as
 * a whole.
 */
import { noMemory } from '../../../api/errors.ts'
import { parseInSteps, parseJson } from '../../../api/json-value.ts'
import type { Json } from '../../../api/object.ts'
import type { LazyBody } from '../../../api/request.ts'
import { encodeInSteps } from '../../../objects/codec/cbor/encode.ts'
import { JsonIndenter } from '../../../objects/codec/indent.ts'
import type { Form } from '../../../objects/codec/negotiate.ts'
import { jsonToYaml, yamlPieces } from '../../../objects/codec/yaml-print.ts'
import { NEWLINE } from '../../../lib/bytes/ascii.ts'
import { isDivided } from '../../../lib/scheduling/parts.ts'
import { inSlices, Slices, type Steps } from '../../../lib/scheduling/slices.ts'
import type { Schema } from '../../../objects/schema/schema.ts'
import { CHUNK_BYTES } from './chunks.ts'
import type { RequestSignal } from '../storage-errors.ts'
import type { Body } from './representation.ts'

/**
 * Maximum length of an object in an output style (indented JSON, YAML or CBOR), as a multiple of
 * its compact JSON. If this length is exceeded, compact JSON is sent, which is also valid YAML.
 * Typical objects are two to four times as long as their compact JSON.
 */
const STYLED_TIMES_MAX = 10
/**
 * If an object in the output style is no longer than this number of bytes, it is always sent in
 * that style. The length of its compact JSON does not matter.
 */
const STYLED_BYTES_MIN = 64 << 10
/**
 * Maximum length of an object that is converted in one step. Longer objects are converted in
 * slices.
 */
export const SHORT_BYTES = 16 << 10
/** Memory used by a parsed value, as a multiple of its JSON. */
const PARSED_HELD_TIMES = 10
/** Length of the part of an object that is measured or indented between two checks of the clock. */
const STEP_BYTES = 16 << 10

/**
 * Options for converting compact JSON to an output style (indented JSON, YAML or CBOR). `hold`
 * reserves a number of bytes of the memory for requests. It returns false if not enough memory is
 * available.
 */
export type Styling = {
  readonly form: Form
  readonly hold?: ((bytes: number) => boolean) | undefined
  /** The request that waits for the response. */
  readonly context?: RequestSignal
}

/** Whether the output is compact JSON, which is also the format of the cache. */
export const isPlain = ({ type, isIndented }: Form): boolean => type === 'json' && !isIndented

/**
 * Converts an object to an output style (indented JSON, YAML or CBOR). `json` is compact and ends
 * with a newline.
 */
export function styled(json: Buffer, { form, hold }: Styling): Body {
  if (isPlain(form)) return json
  const style = form.type === 'yaml' ? yamlDocument : indented(0)
  if (json.length > SHORT_BYTES)
    return styledDocument({ style, items: [json], jsonOf: (one) => one, hold })
  const pieces = collect(style.pieces(json), bytesMaxOf(json))
  return pieces === undefined ? json : Buffer.concat(pieces)
}

/**
 * Converts a list to an output style (indented JSON, YAML or CBOR). `open` is the compact JSON of
 * the list up to the colon after the key of the items.
 */
export function styledList<T>(
  open: string,
  items: readonly T[],
  { form, hold, jsonOf }: Styling & { readonly jsonOf: (item: T) => Buffer },
): Promise<Buffer | LazyBody> {
  const isEmpty = items.length === 0
  const frame = form.type === 'yaml' ? yamlFrame(open, isEmpty) : indentedFrame(open, isEmpty)
  return styledDocument({ ...frame, items, jsonOf, hold })
}

/**
 * An output style: indented JSON, YAML or CBOR. `pieces` converts the compact JSON of a document,
 * or of an item of a list. Whenever it yields undefined, other work can run.
 */
export type Style = {
  /** Memory needed while a value is formatted, as a multiple of its JSON. */
  readonly heldTimes: number
  /** Whether compact JSON is sent if the result is too long. */
  readonly hasLimit: boolean
  readonly pieces: (json: Buffer) => Generator<Buffer | undefined, void, void>
  /**
   * Returns the total length of the pieces. Present only if computing the length is faster than
   * generating the pieces. The computation can stop when the length exceeds `bytesMax`.
   */
  readonly measure?: (json: Buffer, bytesMax: number) => Steps<number>
}

/** A document in an output style: items, and bytes before, between and after them. */
export type StyledDocument<T> = {
  readonly style: Style
  readonly items: readonly T[]
  readonly jsonOf: (item: T) => Buffer
  readonly hold: Styling['hold']
  readonly begin?: Buffer
  /** Returns the bytes that precede an item. */
  readonly before?: (isFirst: boolean, isCompact: boolean) => Buffer
  /** Bytes that follow an item if the item is sent as compact JSON. */
  readonly afterCompact?: Buffer
  readonly end?: Buffer
}

const nothing = Buffer.alloc(0)
/**
 * Maximum size of the pieces that are retained after they were generated to compute the length.
 * Within this size, a body is generated only once.
 */
const KEPT_BYTES_MAX = 1 << 20

export async function styledDocument<T>(document: StyledDocument<T>): Promise<Buffer | LazyBody> {
  // If the caller's work is divided (lib/scheduling/parts.ts), continue outside of this work,
  // because the document has its own slices. A pause in divided work is an exception, which would
  // reject this promise.
  if (isDivided()) await Promise.resolve()
  const measuring = new Measuring(document)
  await inSlices(measuring.steps())
  const { length, compact, heldBytes, kept } = measuring
  if (kept !== undefined && document.style.measure === undefined) return Buffer.concat(kept, length)
  const pieces = print(document, compact)
  if (length <= CHUNK_BYTES) return Buffer.concat(collect(pieces, length) ?? [])
  return { length, heldBytes, chunks: chunksOf(pieces) }
}

class Measuring<T> {
  readonly #document: StyledDocument<T>
  length = 0
  /** Indices of the items that are sent as compact JSON. */
  readonly compact = new Set<number>()
  /** Memory needed for the largest item while it is formatted. */
  heldBytes = 0
  /** The generated pieces. Undefined if they are too long to retain. */
  kept: Buffer[] | undefined = []

  constructor(document: StyledDocument<T>) {
    this.#document = document
  }

  *steps(): Steps<void> {
    const { items, jsonOf, begin = nothing, end = nothing } = this.#document
    this.#add(begin)
    for (const [at, item] of items.entries()) {
      yield* this.#item(jsonOf(item), at)
      yield
    }
    this.#add(end)
  }

  *#item(json: Buffer, at: number): Steps<void> {
    const { style, before, afterCompact = nothing } = this.#document
    const bytesMax = style.hasLimit ? bytesMaxOf(json) : Infinity
    const printed: Buffer[] = []
    const hasRoom = this.#hold(json.length * style.heldTimes)
    if (!hasRoom && !style.hasLimit) throw noMemory()
    const bytes = hasRoom ? yield* measure(json, { style, bytesMax, printed }) : Infinity
    const isCompact = bytes > bytesMax
    if (before !== undefined) this.#add(before(at === 0, isCompact))
    if (isCompact) {
      this.compact.add(at)
      this.#add(json.subarray(0, compactBytes(json)))
      this.#add(afterCompact)
    } else {
      this.length += bytes
      if (this.length > KEPT_BYTES_MAX) this.kept = undefined
      // Bounded: the total size of the pieces is at most KEPT_BYTES_MAX, so there are few of them.
      else this.kept?.push(...printed)
    }
  }

  #add(piece: Buffer): void {
    this.length += piece.length
    if (this.length > KEPT_BYTES_MAX) this.kept = undefined
    else this.kept?.push(piece)
  }

  #hold(bytes: number): boolean {
    if (bytes <= this.heldBytes) return true
    if (this.#document.hold?.(bytes - this.heldBytes) === false) return false
    this.heldBytes = bytes
    return true
  }
}

type MeasuredItem = { readonly style: Style; readonly bytesMax: number; readonly printed: Buffer[] }

/**
 * Returns the length of an item. Adds its pieces to `printed`, up to the size that can be retained.
 */
function* measure(json: Buffer, { style, bytesMax, printed }: MeasuredItem): Steps<number> {
  if (style.measure !== undefined) return yield* style.measure(json, bytesMax)
  let length = 0
  for (const piece of style.pieces(json)) {
    length += piece?.length ?? 0
    if (piece !== undefined && length <= KEPT_BYTES_MAX) printed.push(piece)
    if (length > bytesMax) break
    yield
  }
  return length
}

function* print<T>(
  { style, items, jsonOf, ...frame }: StyledDocument<T>,
  compact: ReadonlySet<number>,
): Generator<Buffer | undefined, void, void> {
  const { begin = nothing, before, afterCompact = nothing, end = nothing } = frame
  yield begin
  for (const [at, item] of items.entries()) {
    const json = jsonOf(item)
    const isCompact = compact.has(at)
    if (before !== undefined) yield before(at === 0, isCompact)
    if (isCompact) {
      yield json.subarray(0, compactBytes(json))
      yield afterCompact
    } else yield* style.pieces(json)
  }
  yield end
}

const bytesMaxOf = (json: Buffer): number =>
  Math.max(STYLED_BYTES_MIN, json.length * STYLED_TIMES_MAX)

/** Returns the length of compact JSON without its final newline. */
const compactBytes = (json: Buffer): number =>
  json.at(-1) === NEWLINE ? json.length - 1 : json.length

/** Returns the pieces, or undefined if they are longer than the maximum. */
function collect(pieces: Iterable<Buffer | undefined>, bytesMax: number): Buffer[] | undefined {
  const collected: Buffer[] = []
  let length = 0
  for (const piece of pieces) {
    if (piece === undefined) continue
    length += piece.length
    if (length > bytesMax) return undefined
    collected.push(piece)
  }
  return collected
}

/**
 * Copies the pieces into chunks for a socket. The event loop can serve other requests between two
 * pieces.
 */
async function* chunksOf(
  pieces: Iterable<Buffer | undefined>,
): AsyncGenerator<readonly Buffer[], void, void> {
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  const slices = new Slices()
  let used = 0
  for (const piece of pieces) {
    for (let at = 0; piece !== undefined && at < piece.length; ) {
      const copied = piece.copy(chunk, used, at)
      at += copied
      used += copied
      if (used < CHUNK_BYTES) break
      yield [chunk]
      used = 0
    }
    if (slices.isOver) await slices.turn()
  }
  if (used > 0) yield [chunk.subarray(0, used)]
}

const indented = (depth: number): Style => ({
  heldTimes: 1,
  hasLimit: true,
  *pieces(json) {
    const indenter = new JsonIndenter(json, depth)
    for (let used = STEP_BYTES; used === STEP_BYTES; ) {
      const piece = Buffer.allocUnsafe(STEP_BYTES)
      used = indenter.fill(piece)
      yield piece.subarray(0, used)
    }
  },
  *measure(json, bytesMax) {
    const indenter = new JsonIndenter(json, depth)
    let length = 0
    for (let bytes = -1; bytes !== 0 && length <= bytesMax; length += bytes) {
      bytes = indenter.measure(STEP_BYTES)
      yield
    }
    return length
  },
})

function indentedFrame(open: string, isEmpty: boolean): Frame {
  const head = Buffer.concat(collect(indented(0).pieces(Buffer.from(`${open}0}`)), Infinity) ?? [])
  const first = Buffer.from('\n    ')
  const next = Buffer.from(',\n    ')
  return {
    style: indented(ITEM_DEPTH),
    begin: Buffer.concat([head.subarray(0, -'0\n}'.length), Buffer.from('[')]),
    before: (isFirst) => (isFirst ? first : next),
    end: Buffer.from(isEmpty ? ']\n}' : '\n  ]\n}'),
  }
}

const ITEM_DEPTH = 2

type Frame = Pick<StyledDocument<unknown>, 'style' | 'begin' | 'before' | 'afterCompact' | 'end'>

/** Creates a YAML style. `shown` converts the parsed value to the value that is formatted. */
const yaml = (shown: (value: Json) => Json): Style => ({
  heldTimes: PARSED_HELD_TIMES,
  hasLimit: true,
  *pieces(json) {
    const value = yield* parsed(json)
    for (const piece of yamlPieces(shown(value)))
      yield piece === undefined ? undefined : Buffer.from(piece)
  },
})

function* parsed(json: Buffer): Steps<Json> {
  return json.length > SHORT_BYTES ? yield* parseInSteps(json) : parseJson(json)
}

/** Passes compact JSON through unchanged. */
export const plain: Style = {
  heldTimes: 1,
  hasLimit: false,
  *pieces(json) {
    yield json
  },
}

/** Creates a CBOR style. CBOR is about as long as JSON, and there is no shorter form. */
export const cbor = (schema?: Schema): Style => ({
  heldTimes: PARSED_HELD_TIMES,
  hasLimit: false,
  *pieces(json) {
    yield yield* encodeInSteps(yield* parsed(json), schema)
  },
})

const yamlDocument = yaml((value) => value)
const yamlItem = yaml((value) => [value])

/**
 * Returns the bytes around the items of a YAML list. YAML has sorted keys, so the items are
 * inserted at the position of the key `items`.
 */
function yamlFrame(open: string, isEmpty: boolean): Frame {
  const mark = isEmpty ? '[]' : 'null'
  const whole = jsonToYaml(parseJson(Buffer.from(`${open}${mark}}`)))
  const key = open.slice(open.lastIndexOf(',"') + 2, -'":'.length)
  const line = `${key}: ${mark}\n`
  const at = whole.startsWith(line) ? 0 : whole.indexOf(`\n${line}`) + 1
  const dash = Buffer.from('- ')
  return {
    style: yamlItem,
    begin: Buffer.from(`${whole.slice(0, at)}${isEmpty ? line : `${key}:\n`}`),
    before: (_, isCompact) => (isCompact ? dash : nothing),
    afterCompact: Buffer.from('\n'),
    end: Buffer.from(whole.slice(at + line.length)),
  }
}

/**
 * Indented JSON and YAML, made from compact JSON. Both can be hundreds of times as long as that, for values that are nested deeply: so
 * their length is computed first, and long ones are printed while the client reads them, in slices. Neither is ever complete in memory.
 */
import { parseInSteps, parseJson } from '../../api/json-value.ts'
import type { Json } from '../../api/object.ts'
import type { LazyBody } from '../../api/request.ts'
import { JsonIndenter } from '../../codec/indent.ts'
import type { Form } from '../../codec/negotiate.ts'
import { jsonToYaml, yamlPieces } from '../../codec/yaml-print.ts'
import { NEWLINE } from '../../lib/ascii.ts'
import { inSlices, Slices, type Steps } from '../../lib/slices.ts'
import { CHUNK_BYTES } from './chunks.ts'
import type { Body } from './representation.ts'

/**
 * An object whose styled form would be longer than this many times its compact JSON is sent as compact JSON, which is valid YAML as well.
 * Objects of users are two to four times as long.
 */
const STYLED_TIMES_MAX = 10
/** Shorter styled forms are always sent. */
const STYLED_BYTES_MIN = 64 << 10
/** Shorter objects are styled at once. */
const SHORT_BYTES = 16 << 10
/** What a parsed value takes in memory, as a multiple of its JSON. */
const PARSED_HELD_TIMES = 10
/** The part of an object that is measured, or indented, between two looks at the clock. */
const STEP_BYTES = 16 << 10

/** How to style. `hold`: takes bytes of what the server may hold for its clients; false: there is no room. */
export type Styling = { readonly form: Form; readonly hold?: ((bytes: number) => boolean) | undefined }

/** Compact JSON, which is the cached format. */
export const isPlain = ({ type, isIndented }: Form): boolean => type === 'json' && !isIndented

/** `json` is compact and ends with a newline. */
export function styled(json: Buffer, { form, hold }: Styling): Body {
  if (isPlain(form)) return json
  const style = form.type === 'yaml' ? yamlDocument : indented(0)
  if (json.length > SHORT_BYTES) return styledDocument({ style, items: [json], jsonOf: (one) => one, hold })
  const pieces = collect(style.pieces(json), bytesMaxOf(json))
  return pieces === undefined ? json : Buffer.concat(pieces)
}

/** `open`: compact JSON up to the colon after the key of the list. */
export function styledList<T>(
  open: string,
  items: readonly T[],
  { form, hold, jsonOf }: Styling & { readonly jsonOf: (item: T) => Buffer },
): Promise<Buffer | LazyBody> {
  const isEmpty = items.length === 0
  const frame = form.type === 'yaml' ? yamlFrame(open, isEmpty) : indentedFrame(open, isEmpty)
  return styledDocument({ ...frame, items, jsonOf, hold })
}

/** A style: the form of a value that is a document, or an item of a list. Steps without a piece are pauses. */
type Style = {
  /** What is in memory while a value is printed, as a multiple of its JSON. */
  readonly heldTimes: number
  readonly pieces: (json: Buffer) => Generator<Buffer | undefined, void, void>
  /** The length of the pieces; may stop when it exceeds the maximum. */
  readonly measure: (json: Buffer, bytesMax: number) => Steps<number>
}

/** A document of styled items, with a frame around and between them. */
type StyledDocument<T> = {
  readonly style: Style
  readonly items: readonly T[]
  readonly jsonOf: (item: T) => Buffer
  readonly hold: Styling['hold']
  readonly begin?: Buffer
  /** Before an item. */
  readonly before?: (isFirst: boolean, isCompact: boolean) => Buffer
  /** After an item that is sent as compact JSON. */
  readonly afterCompact?: Buffer
  readonly end?: Buffer
}

const nothing = Buffer.alloc(0)

async function styledDocument<T>(document: StyledDocument<T>): Promise<Buffer | LazyBody> {
  const { length, compact, heldBytes } = await inSlices(measure(document))
  const pieces = print(document, compact)
  if (length <= CHUNK_BYTES) return Buffer.concat(collect(pieces, length) ?? [])
  return { length, heldBytes, chunks: chunksOf(pieces) }
}

type Measured = {
  readonly length: number
  /** The indices of items that are sent as compact JSON. */
  readonly compact: ReadonlySet<number>
  readonly heldBytes: number
}

function* measure<T>({ style, items, jsonOf, hold, ...frame }: StyledDocument<T>): Steps<Measured> {
  const { begin = nothing, before, afterCompact = nothing, end = nothing } = frame
  const compact = new Set<number>()
  let length = begin.length + end.length
  let heldBytes = 0
  for (const [at, item] of items.entries()) {
    const json = jsonOf(item)
    const bytesMax = bytesMaxOf(json)
    const needed = json.length * style.heldTimes
    const hasRoom = needed <= heldBytes || hold?.(needed - heldBytes) !== false
    if (hasRoom) heldBytes = Math.max(heldBytes, needed)
    const bytes = hasRoom ? yield* style.measure(json, bytesMax) : Infinity
    if (bytes > bytesMax) compact.add(at)
    length += bytes > bytesMax ? compactBytes(json) + afterCompact.length : bytes
    length += before?.(at === 0, bytes > bytesMax).length ?? 0
    yield
  }
  return { length, compact, heldBytes }
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

const bytesMaxOf = (json: Buffer): number => Math.max(STYLED_BYTES_MIN, json.length * STYLED_TIMES_MAX)

/** The length of compact JSON without the newline at its end. */
const compactBytes = (json: Buffer): number => (json.at(-1) === NEWLINE ? json.length - 1 : json.length)

/** Undefined if the pieces are longer than that. */
function collect(pieces: Iterable<Buffer | undefined>, bytesMax: number): Buffer[] | undefined {
  const collected: Buffer[] = []
  let length = 0
  for (const piece of pieces) {
    if (piece === undefined) continue
    length += piece.length
    if (length > bytesMax) return undefined
    // The memory of a piece may be reused for the next one.
    collected.push(Buffer.from(piece))
  }
  return collected
}

/** Copies the pieces into chunks for a socket. Others are served between two of them. */
async function* chunksOf(pieces: Iterable<Buffer | undefined>): AsyncGenerator<readonly Buffer[], void, void> {
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
  *pieces(json) {
    const indenter = new JsonIndenter(json, depth)
    const piece = Buffer.allocUnsafe(STEP_BYTES)
    for (let used = piece.length; used === piece.length; ) {
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

/** `shown`: what is printed of a parsed value. */
const yaml = (shown: (value: Json) => Json): Style => ({
  heldTimes: PARSED_HELD_TIMES,
  *pieces(json) {
    const value = json.length > SHORT_BYTES ? yield* parseInSteps(json) : parseJson(json)
    for (const piece of yamlPieces(shown(value))) yield piece === undefined ? undefined : Buffer.from(piece)
  },
  *measure(json, bytesMax) {
    const value = json.length > SHORT_BYTES ? yield* parseInSteps(json) : parseJson(json)
    let length = 0
    for (const piece of yamlPieces(shown(value))) {
      if (piece !== undefined) length += Buffer.byteLength(piece)
      if (length > bytesMax) break
      yield
    }
    return length
  },
})

const yamlDocument = yaml((value) => value)
const yamlItem = yaml((value) => [value])

/** YAML has sorted keys: the list has to be inserted where its key is. */
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
